/* How far the call paths of two sessions are from each other. */
#ifndef DWELL_TESTS_DISTANCE_H
#define DWELL_TESTS_DISTANCE_H

/*
 * By the shares of elapsed time that each path has in its session: the sum of the differences, over the sum of all.
 * Zero: the same trees; one: no path in common. Of exclusive shares, which add up to one, it is the total variation
 * distance.
 */
struct distance {
    double exclusive, inclusive;
};

struct distance distance_of(const char *one, const char *other);

#endif
