/*
 * Reads memory of the program, by addresses that may be wrong. A page is read by a system call first, which a wrong
 * address does not hurt. From then on, it is read directly: the handlers of SIGSEGV and SIGBUS end the reading if the
 * page has gone. Without these handlers, each reading is a system call. A kernel may lack that call: then all is read
 * directly.
 */
#ifndef DWELL_RUNTIME_MEMORY_READ_H
#define DWELL_RUNTIME_MEMORY_READ_H

#include <signal.h>

#include "common.h"
#include "fault_signals.h"

#pragma GCC visibility push(hidden)

/* Whether it could read `size` bytes, at most 4096. Changes no errno. Any thread of the process `pid`, any time. */
bool memory_read(uint32_t pid, uint64_t address, void *into, size_t size);

enum { MEMORY_PAGES = 4096 /* a power of two */ };

/* The numbers of pages that could be read, each in its place; page 0 is none. */
extern uint64_t memory_pages[MEMORY_PAGES];

static inline uint64_t *memory_page(uint64_t address)
{
    return &memory_pages[address / PAGE % MEMORY_PAGES];
}

/* Whether the handlers end a reading that faults. */
static inline bool memory_is_guarded(void)
{
    const uint64_t guards = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1);
    return (fault_guarded() & guards) == guards;
}

/* Whether the page at an address may be read directly by what follows. */
static inline bool memory_is_known(uint64_t address)
{
    const uint64_t number = address / PAGE;
    return number && __atomic_load_n(memory_page(address), __ATOMIC_RELAXED) == number && memory_is_guarded();
}

/* That could be read, at most 4096 bytes. */
void memory_note(uint64_t address, uint64_t size);

/* Copies bytes of pages that are known. False if they have gone. */
bool memory_copy(void *into, uint64_t from, size_t size);

/* The eight bytes at an address. Not `good` if they have gone. */
struct memory_word {
    uint64_t word, good;
};
struct memory_word memory_load(uint64_t address);

/* Copies blocks of 16 bytes up to the first one with a zero. Returns the number of bytes before that zero; not `found`:
 * the number of bytes in all blocks, or none if they have gone. `blocks` is not zero. */
struct memory_text {
    uint64_t length, found;
};
struct memory_text memory_copy_text(void *into, uint64_t address, uint64_t blocks);

/* In a handler: whether memory_read has caused the fault. Then it fails when the handler returns. `context` is what
 * the handler got. */
bool memory_read_has_failed(void *context);

#pragma GCC visibility pop

#endif
