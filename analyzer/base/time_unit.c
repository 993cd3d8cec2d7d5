/* Chooses units of time, and rounds times to as many digits as a reader needs. */
#include "base/time_unit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
    USUAL_DIGITS = 3,
    LEAST_SIGNIFICANT = 100, /* the smallest number of three digits */
    LEAST_OF_UNIT = 10,      /* where the longest time is shorter, a set of times has the next finer unit */
};

static const struct time_unit units[] = {
    { "s", 1000000000, 9 }, { "ms", 1000000, 6 }, { "us", 1000, 3 }, { "ns", 1, 0 }
};
enum { US = 2, UNITS = sizeof units / sizeof *units };

const struct time_unit *time_unit_named(const char *name)
{
    for (int i = 0; i < UNITS; i++)
        if (strcmp(units[i].name, name) == 0)
            return &units[i];
    return NULL;
}

const struct time_unit *time_unit_for(uint64_t ns)
{
    int i = 0;
    while (i + 1 < UNITS && ns < units[i].ns)
        i++;
    return &units[i];
}

const struct time_unit *time_unit_for_all(uint64_t longest_ns)
{
    const struct time_unit *best = time_unit_for(longest_ns ? longest_ns : units[US].ns);
    const bool finer = best->digits > USUAL_DIGITS && longest_ns / best->ns < LEAST_OF_UNIT;
    return finer ? best + 1 : best;
}

/* The value of one in the last of these digits after the point, in nanoseconds. */
static uint64_t time_unit_step(const struct time_unit *unit, unsigned digits)
{
    uint64_t step = unit->ns;
    while (digits--)
        step /= 10;
    return step ? step : 1;
}

static uint64_t time_unit_round(uint64_t ns, uint64_t step)
{
    return ns / step + (ns % step >= step - ns % step);
}

static void time_unit_write(uint64_t ns, const struct time_unit *unit, unsigned digits, char text[TIME_TEXT])
{
    const uint64_t step = time_unit_step(unit, digits), steps = time_unit_round(ns, step), whole = unit->ns / step;
    if (digits)
        snprintf(text, TIME_TEXT, "%" PRIu64 ".%0*" PRIu64, steps / whole, (int)digits, steps % whole);
    else
        snprintf(text, TIME_TEXT, "%" PRIu64, steps);
}

void time_text(uint64_t ns, const struct time_unit *unit, char text[TIME_TEXT])
{
    unsigned digits = unit->digits < USUAL_DIGITS ? unit->digits : USUAL_DIGITS;
    while (ns && digits < unit->digits && time_unit_round(ns, time_unit_step(unit, digits)) < LEAST_SIGNIFICANT)
        digits++;
    time_unit_write(ns, unit, ns ? digits : 0, text);
}

void time_text_exact(uint64_t ns, const struct time_unit *unit, char text[TIME_TEXT])
{
    time_unit_write(ns, unit, unit->digits, text);
}

void time_text_with_unit(uint64_t ns, char text[TIME_TEXT])
{
    const struct time_unit *unit = time_unit_for(ns);
    time_text(ns, unit, text);
    const size_t length = strlen(text);
    snprintf(text + length, TIME_TEXT - length, " %s", unit->name);
}
