/* Ranges of time on threads: a list that is sorted by thread and time, without overlaps. */
#ifndef DWELL_TRACE_THREAD_RANGES_H
#define DWELL_TRACE_THREAD_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread_range {
    uint32_t thread;     /* serial number */
    uint64_t begin, end; /* ticks: begin <= time < end */
};

struct thread_ranges {
    struct thread_range *list;
    size_t count, room;
};

/* Appends a range; empty ones are ignored. After the last one, call thread_ranges_join. */
void thread_ranges_add(struct thread_ranges *ranges, uint32_t thread, uint64_t begin, uint64_t end);

/* Sorts the ranges, joins those that overlap, and cuts all to the time from `begin` to `end`. */
void thread_ranges_join(struct thread_ranges *ranges, uint64_t begin, uint64_t end);

/* Keeps only the time that is in both. Both must be joined, as the result is. */
void thread_ranges_keep(struct thread_ranges *ranges, const struct thread_ranges *kept);

/* The ranges of a thread, in order of time. */
const struct thread_range *thread_ranges_of(const struct thread_ranges *ranges, uint32_t thread, size_t *count);

/* Whether a range of the thread contains the time. */
bool thread_ranges_hold(const struct thread_ranges *ranges, uint32_t thread, uint64_t time);

void thread_ranges_free(struct thread_ranges *ranges);

#endif
