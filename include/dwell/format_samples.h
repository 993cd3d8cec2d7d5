/* The samples of a session. Part of format.h. */
#ifndef DWELL_FORMAT_SAMPLES_H
#define DWELL_FORMAT_SAMPLES_H

#include "dwell/format.h"

/*
 * A samples chunk holds samples of one thread, in the order of time on each CPU. The recorder writes it. It knows the
 * thread by its tid and pid at first; `process` and `thread` of the chunk are set when recording ends. All samples of a
 * chunk were taken with the same period, which is in `upper[1]`: each stands for that much CPU time. A sample consists
 * of this structure, the registers, and words from the top of the stack, from the stack pointer upwards. There is a bit
 * for each word, in numbers of 64 bits: whether its value follows. Words whose values are no addresses are left out.
 * `size` is written last: zero ends the chunk.
 */
struct dwell_stack_sample {
    uint32_t size;      /* of the whole sample; a multiple of 8 */
    uint16_t registers; /* their number, at least 1: the instruction pointer. In the order of docs/format.md */
    uint16_t words;     /* of the stack, at most DWELL_SAMPLE_WORDS */
    uint64_t time;      /* ticks */
};

enum { DWELL_SAMPLE_WORDS = 1024, DWELL_SAMPLE_REGISTERS = 32 }; /* the maxima */

_Static_assert(sizeof(struct dwell_stack_sample) == 16, "the sample's layout is fixed");

#endif
