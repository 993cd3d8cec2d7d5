/* Units of time for people: chooses one, and writes times in it. */
#ifndef DWELL_BASE_TIME_UNIT_H
#define DWELL_BASE_TIME_UNIT_H

#include <stdint.h>

struct time_unit {
    const char *name;
    uint64_t ns;
    unsigned digits; /* after the point, down to a nanosecond */
};

/* The unit "s", "ms", "us" or "ns"; NULL if the name is none of them. */
const struct time_unit *time_unit_named(const char *name);

/* The unit that suits the time best: it has one to three digits before the point, or more in seconds. */
const struct time_unit *time_unit_for(uint64_t ns);

/* The unit for a set of times. The longest one has up to four digits before the point, so that short ones need fewer
 * after it. */
const struct time_unit *time_unit_for_all(uint64_t longest_ns);

/* Writes the time without its unit: three digits after the point, or more so that a short time has three significant
 * digits. Zero is "0", and no other time looks like zero. */
enum { TIME_TEXT = 40 };
void time_text(uint64_t ns, const struct time_unit *unit, char text[TIME_TEXT]);

/* Writes all digits of the time, down to the nanosecond, so that two moments can be told apart. */
void time_text_exact(uint64_t ns, const struct time_unit *unit, char text[TIME_TEXT]);

/* Writes the time and the unit that suits it best, such as "10.408 s". */
void time_text_with_unit(uint64_t ns, char text[TIME_TEXT]);

#endif
