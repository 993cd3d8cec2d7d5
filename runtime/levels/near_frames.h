/* Where near code lies: code near a module that the runtime writes and calls lead to. It is part of no module. So
 * unwinders ask here how to find the frames above it. */
#ifndef DWELL_LEVELS_NEAR_FRAMES_H
#define DWELL_LEVELS_NEAR_FRAMES_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Memory that gets near code, until it is unmapped. If there is no room in the list, unwinders do not know it. */
void near_frames_add(uint64_t begin, uint64_t size);
void near_frames_remove(uint64_t begin);

/* The description of frames (an FDE of .eh_frame) for that address, with the beginning of its code. NULL if no near
 * code is there. Takes no lock, as a signal handler may unwind at any moment. */
const void *near_frames_find(uint64_t address, uint64_t *begin);

#pragma GCC visibility pop

#endif
