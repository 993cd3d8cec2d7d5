/*
 * How long the calls of a function took: each duration once, with its calls. Calls of one duration take no memory of
 * their own, and there cannot be many durations: n different ones add up to at least n * n / 2 ticks. A thread that
 * runs for a minute has less than 600,000 at 3 GHz, however many calls it makes.
 */
#ifndef DWELL_CAUSES_WHY_DURATIONS_H
#define DWELL_CAUSES_WHY_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

struct number_index;

struct why_durations {
    struct why_calls_of {
        uint64_t ticks, calls;
    } * list; /* the shortest first, once sorted */
    size_t count, room;
    uint64_t calls;              /* of all durations */
    struct number_index *places; /* in the list, by ticks; NULL once sorted, and before the first call */
};

/* Adds calls. Not after sorting. */
void why_durations_add(struct why_durations *d, uint64_t ticks, uint64_t calls);
void why_durations_sort(struct why_durations *d);
void why_durations_drop(struct why_durations *d);

/* The duration of one of the sorted calls: the shortest has rank 0. There is one of that rank. */
uint64_t why_durations_at(const struct why_durations *d, uint64_t rank);

#endif
