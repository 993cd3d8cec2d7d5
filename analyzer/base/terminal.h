/* Standard output where it is a terminal: through a pager, with colours, and as wide as that. */
#ifndef DWELL_BASE_TERMINAL_H
#define DWELL_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* Sends what is printed to stdout from here on through DWELL_PAGER, PAGER or less; nothing happens where stdout is no
 * terminal, or the pager is empty or "cat". At exit, the pager is waited for. */
void terminal_page(void);

bool terminal_is_paged(void);

/* Whether text to `out` is seen on a terminal that may have colours (NO_COLOR is not set). */
bool terminal_has_colors(FILE *out);

/* Its columns; zero: `out` is seen on no terminal. */
unsigned terminal_width(FILE *out);

#endif
