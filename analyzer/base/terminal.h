/* Standard output if it is a terminal: its pager, its colours and its size. */
#ifndef DWELL_BASE_TERMINAL_H
#define DWELL_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* What stdout gets may be long: terminal_page takes effect. */
void terminal_allow_pager(void);

/* terminal_page has no effect. */
void terminal_refuse_pager(void);

/* From now on, sends stdout through DWELL_PAGER, PAGER or less. Does nothing without leave, if stdout is not a
 * terminal, or if the pager is empty or "cat". The program waits for the pager when it exits. */
void terminal_page(void);

/* How text is coloured: where it appears on a terminal, or as the user says. */
enum terminal_colors { COLORS_AUTO, COLORS_ALWAYS, COLORS_NEVER };
void terminal_choose_colors(enum terminal_colors when);

bool terminal_is_paged(void);

/* Whether what is written to `out` appears on a terminal. */
bool terminal_is_seen(FILE *out);

/* Whether text that is written to `out` is coloured: by default if it appears on a terminal with colours, and NO_COLOR
 * is not set. */
bool terminal_has_colors(FILE *out);

/* The number of columns; zero if `out` does not appear on a terminal. */
unsigned terminal_width(FILE *out);

/* The number of lines; zero if `out` does not appear on a terminal, or the terminal does not know. */
unsigned terminal_height(FILE *out);

#endif
