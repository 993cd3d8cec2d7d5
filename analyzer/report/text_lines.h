/* Sentences that are wider than the terminal. */
#ifndef DWELL_REPORT_TEXT_LINES_H
#define DWELL_REPORT_TEXT_LINES_H

#include <stddef.h>
#include <stdio.h>

/* Makes the text visible and prints it, with a line break at its end. Lines are broken between words where they are
 * wider than `width` cells, or not at all if that is zero. */
void text_put_lines(FILE *out, const char *text, size_t width);

/* The same behind `name`, which takes `indent` cells. Further lines begin below the text. */
void text_put_named_lines(FILE *out, const char *name, size_t indent, const char *text, size_t width);

/* Prints in the format of printf, as text_put_lines at the width of the terminal. */
void text_print_lines(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
