/*
 * Counters of the functions with the level counted: one for each function and thread, in pages of the session file.
 * A function's number says in which page of each thread its counter is, and where. A thread's pages are made when it
 * calls such a function the first time. A page holds only functions of one module.
 */
#ifndef DWELL_LEVELS_COUNTS_H
#define DWELL_LEVELS_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct thread;

enum {
    COUNTS_PAGES = 480, /* as many as fit into the wiped page of a thread's block */
    COUNTS_IN_PAGE = (DWELL_UNIT - sizeof(struct dwell_chunk_header)) / sizeof(struct dwell_count),
    COUNTS_NONE = COUNTS_PAGES * COUNTS_IN_PAGE, /* no function has this number */
    COUNTS_WINDOWS = 160,                        /* pages of functions that may be counted in place */
};

/* A thread's pages by number, in the part of its block that a forked child finds zero. NULL: none was made, or the
 * thread takes the slow path. */
struct counts_directory {
    struct dwell_counts *pages[COUNTS_PAGES];
};

/* In a thread's block. */
struct thread_counts {
    bool refused;               /* there was no space for a page: it is not tried again */
    struct dwell_counts **made; /* its pages, whether they are in use now or not (counts_made); NULL before the first */
    int64_t distance;           /* where it counts in place (in_place.h); zero if it does not */
    bool orphaned;              /* it is in a forked child, and other memory is in place of its open pages */
};

/* The thread's page of that number, if it has a list. The lists of COUNTS_LISTS threads lie in one memory, entry beside
 * entry: programs have few pages, so those of all these threads take one page of memory. */
enum { COUNTS_LISTS = 8 };
static inline struct dwell_counts **counts_made(const struct thread_counts *counts, uint32_t page)
{
    return &counts->made[(uint64_t)page * COUNTS_LISTS];
}

/* Page numbers of functions whose calls can be counted in place are open: all threads have these pages. */
bool counts_is_open(uint32_t number);

/* Opens the page of a function's number, and returns whether it is open, if all threads can count in place there. In
 * the helper, under the levels' lock. The first one says whether to try now, and the last one that it will never be
 * open. */
bool counts_may_open(void);
bool counts_open(uint32_t number);
bool counts_is_closed(uint32_t number);

/* No call is to be counted in place any more; whether that is so. The last one says that no such call is left in the
 * code: new threads need no open pages then. */
void counts_leave(void);
bool counts_are_closing(void);
void counts_close(void);

/* The calling thread's directory. One without pages if it has no block. */
extern __thread struct counts_directory *counts_self __attribute__((tls_model("initial-exec")));

#if defined(__x86_64__)
/* How far its address is from the thread pointer, in all threads. */
static inline int64_t counts_self_offset(void)
{
    uint64_t thread_pointer;
    __asm__("movq %%fs:0, %0" : "=r"(thread_pointer));
    return (int64_t)((uint64_t)&counts_self - thread_pointer);
}
#endif

/* Returns the number of a function of a loaded module, which is the same whenever the module is loaded there.
 * `module`: its number in the filters. `in_place`: it is never unloaded. COUNTS_NONE if there is no room for it. Under
 * the lock of the module map. */
uint32_t counts_number(uint64_t function, uint64_t bias, uint32_t module, bool in_place);

/* Counts a call of the function with that number. False if the thread has no page for it. Safe at any time. */
static inline bool counts_add(uint32_t number)
{
    const struct counts_directory *directory = *(struct counts_directory *volatile *)&counts_self;
    struct dwell_counts *page = __atomic_load_n(&directory->pages[number / COUNTS_IN_PAGE], __ATOMIC_RELAXED);
    if (UNLIKELY(!page))
        return false;
    sum_add(&page->counts[number % COUNTS_IN_PAGE].calls, 1);
    return true;
}

/* The same for a thread that is on the slow path: makes the page if needed. False if that is not possible. */
bool counts_add_slowly(struct thread *t, uint32_t number);

/* The thread's counted calls take the slow path. Any thread may call it. */
void counts_divert(struct thread *t);

/* The calling thread's calls are counted in its pages, or take the slow path and are not counted in place. */
void counts_select(struct thread *t, bool counts);

/* The calling thread begins to be recorded in this process, or ends. With signals held back. */
void counts_begin_thread(struct thread *t, bool forked);
void counts_end_thread(struct thread *t);

/* Whether another thread can use the block of one that has ended. */
bool counts_is_gone(const struct thread *t);

/* The calling thread is in the list of live ones: it makes the open pages. False if it cannot count in place: its calls
 * that do so are lost. */
bool counts_begin_in_place(struct thread *t);

/* Adds calls that threads have lost in place to the session's lost events. */
void counts_settle_lost(void);

/* `in_place`: calls may be counted in place. Has counts_forked called at the forks of libc itself, too, which are not
 * interposed. */
void counts_begin_process(bool in_place);

/* In a child that the thread has forked: its pages are not its parent's any more. */
void counts_forked(struct thread *t);

/* The calling thread has got SIGBUS for an access to that address. Was it a call in a forked child, and is it counted
 * in place? Then the thread is set up now, or its calls are lost, and it can repeat the instruction. Where the system
 * does not let its base of gs change, the call is lost, and the thread can go on behind the instruction. */
enum counts_child {
    COUNTS_NO_CHILD,
    COUNTS_CHILD_BEGUN,
    COUNTS_CALL_LOST,
};
enum counts_child counts_begin_child(const void *address);

/* In a child that the thread has forked: calls `map` for each page that the thread had in its parent. */
void counts_each_old_page(const struct thread *t, void (*map)(char *at, size_t size));

#pragma GCC visibility pop

#endif
