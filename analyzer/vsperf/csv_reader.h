/*
 * Reads CSV as programs write it (RFC 4180): UTF-8 with or without a byte order mark, or UTF-16 with one. Fields are
 * separated by commas, semicolons or tabs, and are quoted if they contain one or the end of a line. Lines end with LF,
 * CR LF or CR.
 */
#ifndef DWELL_VSPERF_CSV_READER_H
#define DWELL_VSPERF_CSV_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv {
    char *text; /* UTF-8; zero bytes are put in to end fields */
    size_t length, at;
    char delimiter;
    unsigned long line;   /* the line that is read next, from 1 */
    unsigned long record; /* the line on which the current record begins */
    char **fields;
    size_t count, room;
    const char *error; /* why reading ended before the end, at `line` */
};

/* Copies the bytes. Returns false and sets csv->error if they are not text. Must be closed in either case. */
bool csv_open(struct csv *csv, const void *bytes, size_t length);
void csv_close(struct csv *csv);

/* Reads the next record that is not empty into `fields` and `count`. Returns false at the end, and after an error,
 * which sets csv->error. */
bool csv_next(struct csv *csv);

/*
 * Parse numbers in the notations of different countries: "1234", "1,234", "1.234,5", "42,86", "12 345 %". Return NULL,
 * or the problem, such as "is not a number". An empty text is not a number.
 */
const char *csv_count(const char *text, uint64_t *count); /* rounded to a whole number, at most 2^56 */
const char *csv_decimal(const char *text, double *value); /* the same with decimals */
const char *csv_percent(const char *text, double *percent);

#endif
