/* A row of bars for people, one character a number. */
#ifndef DWELL_REPORT_PLOT_H
#define DWELL_REPORT_PLOT_H

#include <stdbool.h>
#include <stddef.h>

/* Blocks of eight heights, from the least to the greatest of the numbers; in plain ASCII where the terminal cannot show
 * blocks. To be freed. */
char *plot_bars(const double *numbers, size_t count, bool blocks);

/* Whether the locale has them. */
bool plot_has_blocks(void);

#endif
