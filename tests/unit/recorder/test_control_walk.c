/* The list of control chunks, which recorded processes write: in any order, and perhaps in a circle. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "recorder/control_chunk.h"

TestSuite(unit_control_walk, .timeout = 120);

enum { MOST = 1000 };

/* Follows `next`, whose places are offsets, and returns the number of visited chunks. */
static unsigned control_walk_visits(const uint64_t *next, uint64_t first)
{
    unsigned visits = 0;
    for (struct control_walk walk = control_walk_begin(first); walk.at && visits < MOST; visits++)
        control_walk_on(&walk, next[walk.at]);
    return visits;
}

Test(unit_control_walk, every_chunk_is_visited_whatever_the_order)
{
    cr_assert(eq(u32, control_walk_visits((uint64_t[]){ 0 }, 0), 0));
    cr_assert(eq(u32, control_walk_visits((uint64_t[]){ 0, 0, 1, 2, 3 }, 4), 4));
    cr_assert(eq(u32, control_walk_visits((uint64_t[]){ 0, 3, 0, 2, 1 }, 4), 4));
}

Test(unit_control_walk, a_circle_ends)
{
    cr_assert(eq(u32, control_walk_visits((uint64_t[]){ 0, 1 }, 1), 1));
    cr_assert(le(u32, control_walk_visits((uint64_t[]){ 0, 2, 1 }, 1), 3 * 2));
    cr_assert(le(u32, control_walk_visits((uint64_t[]){ 0, 2, 3, 4, 5, 3 }, 1), 3 * 5));
}
