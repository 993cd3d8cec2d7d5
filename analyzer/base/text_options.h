/* How text shows times and names. The user chooses it once, for all tables that the program prints. */
#ifndef DWELL_BASE_TEXT_OPTIONS_H
#define DWELL_BASE_TEXT_OPTIONS_H

#include <stdbool.h>

#include "base/time_unit.h"

enum text_units {
    UNITS_OF_COLUMNS, /* one for each column, chosen by its largest time */
    UNITS_OF_TIMES,   /* each time has its own */
    UNITS_FIXED,      /* `unit` */
};

struct text_options {
    enum text_units units;
    const struct time_unit *unit; /* of UNITS_FIXED */
    bool full_names;              /* names are neither shortened nor cut */
};

const struct text_options *text_options(void);

/* Chooses the units by a word of text_units_words. Returns false if it is none of them. */
bool text_options_choose_units(const char *word);
extern const char text_units_words[];

void text_options_show_full_names(void);

/* Writes a single time, such as one of a headline: in the fixed unit, or else in the unit that suits it best. */
void text_time(uint64_t ns, char text[TIME_TEXT]);

/* Writes a time in the unit that suits it best, for a right-aligned column: "10.408 s " and "512.300 us" have their
 * digits below each other. */
void text_time_cell(uint64_t ns, bool exact, char text[TIME_TEXT]);

#endif
