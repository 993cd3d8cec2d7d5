/* The choices of --units and --full-names. */
#include "base/text_options.h"

#include <stdio.h>
#include <string.h>

static struct text_options chosen;

const char text_units_words[] = "column, auto, s, ms, us, ns";

const struct text_options *text_options(void)
{
    return &chosen;
}

bool text_options_choose_units(const char *word)
{
    chosen.unit = time_unit_named(word);
    chosen.units = chosen.unit ? UNITS_FIXED : strcmp(word, "auto") == 0 ? UNITS_OF_TIMES : UNITS_OF_COLUMNS;
    return chosen.units != UNITS_OF_COLUMNS || strcmp(word, "column") == 0;
}

void text_options_show_full_names(void)
{
    chosen.full_names = true;
}

void text_time(uint64_t ns, char text[TIME_TEXT])
{
    if (chosen.units != UNITS_FIXED) {
        time_text_with_unit(ns, text);
        return;
    }
    time_text(ns, chosen.unit, text);
    const size_t length = strlen(text);
    snprintf(text + length, TIME_TEXT - length, " %s", chosen.unit->name);
}

void text_time_cell(uint64_t ns, bool exact, char text[TIME_TEXT])
{
    const struct time_unit *unit = time_unit_for(ns);
    if (exact)
        time_text_exact(ns, unit, text);
    else
        time_text(ns, unit, text);
    const size_t length = strlen(text);
    snprintf(text + length, TIME_TEXT - length, " %-2s", unit->name);
}
