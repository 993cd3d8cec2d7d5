/* How much of the stack calls through a slot can hand over: arguments lie in their caller's frame. */
#ifndef DWELL_ARGUMENTS_CALL_FRAMES_H
#define DWELL_ARGUMENTS_CALL_FRAMES_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols/call_slots.h"
#include "symbols/image.h"

enum { CALL_FRAMES_UNKNOWN = UINT32_MAX };

/* Where the code of a module calls through its slots. */
struct call_frames {
    struct call_frames_site {
        size_t slot;        /* its index */
        uint64_t return_to; /* zero: a use of the slot that is no call */
    } * sites;              /* by slot */
    size_t count, room;
    Dwarf_CFI *cfi; /* NULL without a table for unwinding, and on other machines than x86-64 */
};

/* What lies between the stack pointer of a call and the end of the caller's frame. */
struct call_frame {
    uint32_t bytes;      /* at most, in callers whose frames have a fixed size; CALL_FRAMES_UNKNOWN: nothing is known */
    bool frame_pointers; /* in the other callers, rbp holds the end of the frame */
};

struct call_frames call_frames_find(Dwfl_Module *module, const struct image *image, const struct call_slots *slots);
struct call_frame call_frame_of(const struct call_frames *frames, const struct call_slots *slots, size_t slot);

/* Adds the frame of the call that returns there. False if its end is not known: then the frame is that of no call. */
bool call_frame_add(Dwarf_CFI *cfi, uint64_t return_to, struct call_frame *to);
void call_frames_drop(struct call_frames *frames);

#endif
