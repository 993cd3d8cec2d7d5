/* From where calls are made, where that is recorded. */
#ifndef DWELL_SITES_H
#define DWELL_SITES_H

#include "call.h"
#include "record.h"

struct thread;

#pragma GCC visibility push(hidden)

/*
 * From where a function was called: the address that the call returns to; or, where it is inlined into its caller,
 * the probe's own, with DWELL_SITE_INLINED. Both return to where the caller's frame does then. Two calls from one
 * call_site that lie in each other do so, too: they have frames of their own, and stack pointers, which differ by
 * alloca as well; but then the probe is called from the code of the function itself, not from that of the frame's
 * function.
 */
static inline uint64_t call_site_of(const struct call *caller, uint64_t function, uint64_t stack_pointer,
                                    uint64_t frame_return, uint64_t probe_return)
{
    if (__builtin_expect((uint32_t)(caller->frame_id >> 32) != (uint32_t)frame_return, 1))
        return frame_return;
    if (stack_pointer != caller->stack_pointer) {
        while (caller->call_site & DWELL_SITE_INLINED)
            caller--;
        const uint64_t outer = caller->function;
        const bool outside = probe_return < function || (outer > function && outer <= probe_return);
        if (!outside || function == outer)
            return frame_return;
    }
    return probe_return | DWELL_SITE_INLINED;
}

/* sites.c: the probes where call sites are recorded, and there are no filters, in modes trace and ring. */
void sites_enter(struct thread *t, uint64_t function, uint64_t stack_pointer, uint64_t frame_return,
                 uint64_t probe_return);
void sites_exit(struct thread *t, uint64_t function, uint64_t stack_pointer, bool tail_call);
bool sites_exit_flagged(struct thread *t, uint64_t function, uint64_t stack_pointer); /* as tree_exit_flagged */
/* The record of a call site: so many words. `caller` is the innermost open call, if the file knows of it, or
 * NULL.
 */
enum { MAX_SITE_WORDS = 4 };
int sites_words(uint16_t *words, uint64_t call_site, const struct call *caller);
/* Those of the calls that are open where a chunk begins: its bytes, and writing them. */
uint32_t sites_open_bytes(uint32_t depth);
void sites_write_open(const struct thread *t, char *at, uint32_t depth);

#pragma GCC visibility pop

#endif
