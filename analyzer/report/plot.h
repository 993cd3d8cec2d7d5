/* Draws numbers as a row of bars, one character each. */
#ifndef DWELL_REPORT_PLOT_H
#define DWELL_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

/* Draws bars of eight heights, from the smallest to the largest number. Without `blocks` it uses ASCII. The caller
 * frees the text. */
char *plot_bars(const double *numbers, size_t count, bool blocks);

/* True if the locale can show block characters. */
bool plot_has_blocks(void);

#endif
