/* Text cells of CSV (RFC 4180), which spreadsheet programs can be kept from running as formulas. */
#ifndef DWELL_BASE_CSV_TEXT_H
#define DWELL_BASE_CSV_TEXT_H

#include <stdbool.h>
#include <stdio.h>

/* From now on, an apostrophe precedes each text that a spreadsheet program would run: those that begin with = + - @,
 * one of their full-width forms, a tab, or a line break. Numbers such as -12.5 stay as they are. Not thread-safe. */
void csv_text_defuse(bool on);

/* Prints a text as a cell, in quotes if it needs them. On a terminal it is made visible (base/visible.h). */
void csv_print_text(const char *text, FILE *out);

/* The same, always in quotes. */
void csv_print_quoted(const char *text, FILE *out);

#endif
