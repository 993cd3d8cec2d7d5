/* Where a value is read: the short form of a program of loads that begins at a register. Most programs have it, and so
 * has the processor. */
#ifndef DWELL_VALUE_SOURCE_H
#define DWELL_VALUE_SOURCE_H

#include "common.h"
#include "load_run.h"

#pragma GCC visibility push(hidden)

enum { SOURCE_LOADS = 3 };

/* A register's word, or what is in memory there: each load is at the word before, plus a number. */
struct value_source {
    uint8_t value;  /* its number in the function */
    uint8_t number; /* of the register, in the order of DWARF */
    uint8_t loads;  /* from memory */
    uint8_t bytes;  /* of the last load; the others have 8 */
    uint8_t shift;  /* of the word: to the left, and back with zeros or its sign */
    bool is_signed;
    bool is_text;                  /* up to a zero, at the word plus a number */
    bool is_counted;               /* a text that is as long as another source says */
    bool is_cpu;                   /* the processor's number: nothing else counts but the shift */
    int32_t add[SOURCE_LOADS + 1]; /* before each load, and before a text */
};

/* False if the program needs more than that. It is well. `length` is that of a counted text. */
bool value_source_of(const struct load_program *program, struct value_source *source, struct value_source *length);

static ALWAYS_INLINE uint64_t value_source_extend(const struct value_source *source, uint64_t word)
{
    const uint64_t left = word << source->shift;
    return source->is_signed ? (uint64_t)((int64_t)left >> source->shift) : left >> source->shift;
}

#pragma GCC visibility pop

#endif
