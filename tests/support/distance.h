/* Measures the distance between the call paths of two sessions. */
#ifndef DWELL_TESTS_DISTANCE_H
#define DWELL_TESTS_DISTANCE_H

/*
 * The distance compares the share of elapsed time that each path has in its session. It is the sum of the differences,
 * divided by the sum of all shares. Zero means equal trees; one means no common path. Exclusive shares add up to one,
 * so their distance is the total variation distance.
 */
struct distance {
    double exclusive, inclusive;
};

struct distance distance_of(const char *one, const char *other);

#endif
