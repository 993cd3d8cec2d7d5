/*
 * Text that is safe on a terminal. Names and other texts of a session are kept as they are; the functions that print
 * for people make them visible, once.
 *
 * A character that controls a terminal, reverses or breaks the line, or is no character becomes \x1b (a byte) or \u202e
 * (a character). A backslash becomes \x5c if an escape seems to follow, so that the original can be restored.
 */
#ifndef DWELL_BASE_VISIBLE_H
#define DWELL_BASE_VISIBLE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Whether it is a control character, a line or paragraph separator, or a character that changes the direction. */
bool visible_is_control(uint32_t character);

/* The text as one visible line. Characters of UTF-8 stay. The caller frees it. */
char *visible_text(const char *text);

/* The same for a cell of a table, whose width must be known: only ASCII stays if the locale has no other characters. */
char *visible_cell(const char *text);

/* Prints visible_text. */
void put_visible(const char *text, FILE *out);

/* Prints in the format of printf. The result is made visible, except for line breaks at the format's begin and end. */
void print_text(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void vprint_text(FILE *out, const char *format, va_list arguments) __attribute__((format(printf, 2, 0)));

/* A stream that makes lines visible and passes them to `out`, for data that is written to a terminal. Line breaks
 * stay. Close it before `out`, which stays open. */
FILE *visible_stream(FILE *out);

#endif
