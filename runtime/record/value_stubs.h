/* What the stubs of the probes that read values hand on. A stub saves the registers in a struct load_state on its
 * stack, as they are at the call instruction. */
#ifndef DWELL_VALUE_STUBS_H
#define DWELL_VALUE_STUBS_H

#include "common.h"
#include "load_run.h"

#pragma GCC visibility push(hidden)

/* From what a stub has saved to what the usual probes take for the stack pointer. */
#if defined(__x86_64__)
enum { VALUE_STUB_FRAME = 296 };
#else
enum { VALUE_STUB_FRAME = 536 };
#endif

/* `saved`: enum value_saves. */
void value_enter(uint64_t function, uint64_t frame_return, uint64_t probe_return, struct load_state *state,
                 uint32_t saved);
void value_exit(uint64_t function, uint64_t frame_return, uint64_t probe_return, struct load_state *state,
                uint32_t saved);

#pragma GCC visibility pop

#endif
