/* Sorting arrays, and finding a place in what is sorted. */
#ifndef DWELL_BASE_SORTED_H
#define DWELL_BASE_SORTED_H

#include <stddef.h>
#include <stdint.h>

/*
 * The index of the first element that `before` is false for; `count` if there is none. For example, this is the number
 * of events that are earlier than a time:
 *
 *     LOWER_BOUND(event, list, count, event->time < time)
 *
 * `element` is the name of a pointer to the element in question, which `before` reads. Once `before` is false, it must
 * be false for all later elements. No element is read if `count` is zero; `array` may be NULL then.
 */
#define LOWER_BOUND(element, array, count, before)                                                                     \
    __extension__({                                                                                                    \
        __typeof__(&(array)[0]) const all_ = (array);                                                                  \
        size_t low_ = 0, high_ = (count);                                                                              \
        while (low_ < high_) {                                                                                         \
            const size_t middle_ = (low_ + high_) / 2; /* no array is so long that the sum overflows */                \
            __typeof__(&(array)[0]) const element = &all_[middle_];                                                    \
            if (before)                                                                                                \
                low_ = middle_ + 1;                                                                                    \
            else                                                                                                       \
                high_ = middle_;                                                                                       \
        }                                                                                                              \
        low_;                                                                                                          \
    })

/* The order of two numbers, for qsort: below zero, zero or above zero. */
#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* The order of two structs by one to four members that are numbers. Later members decide where the ones before them are
 * equal. `x` and `y` are pointers. For example: ORDER_BY(x, y, process, thread, time). */
#define ORDER_BY(x, y, ...)                                                                                            \
    ORDER_BY_COUNT(__VA_ARGS__, ORDER_BY_4, ORDER_BY_3, ORDER_BY_2, ORDER_BY_1, 0)(x, y, __VA_ARGS__)
#define ORDER_BY_COUNT(a, b, c, d, name, ...) name
#define ORDER_BY_1(x, y, a) ORDER((x)->a, (y)->a)
#define ORDER_BY_2(x, y, a, ...) ((x)->a != (y)->a ? ORDER((x)->a, (y)->a) : ORDER_BY_1(x, y, __VA_ARGS__))
#define ORDER_BY_3(x, y, a, ...) ((x)->a != (y)->a ? ORDER((x)->a, (y)->a) : ORDER_BY_2(x, y, __VA_ARGS__))
#define ORDER_BY_4(x, y, a, ...) ((x)->a != (y)->a ? ORDER((x)->a, (y)->a) : ORDER_BY_3(x, y, __VA_ARGS__))

/* Compares numbers of 64 bits, for qsort and bsearch. */
static inline int compare_numbers(const void *a, const void *b)
{
    return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

/* The same with 32 bits. */
static inline int compare_numbers_32(const void *a, const void *b)
{
    return ORDER(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* The same with doubles, none of which is NaN. */
static inline int compare_doubles(const void *a, const void *b)
{
    return ORDER(*(const double *)a, *(const double *)b);
}

#endif
