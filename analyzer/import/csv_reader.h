/*
 * CSV as programs write it (RFC 4180): UTF-8 with or without a byte order mark, or UTF-16 with one; fields parted by
 * commas, semicolons or tabs, quoted where they hold one, or a line's end; lines ended by LF, CR LF or CR.
 */
#ifndef DWELL_IMPORT_CSV_READER_H
#define DWELL_IMPORT_CSV_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct csv {
    char *text; /* UTF-8; fields are ended within it */
    size_t length, at;
    char delimiter;
    unsigned long line;   /* of what is read next, from 1 */
    unsigned long record; /* the line on which the record at hand begins */
    char **fields;
    size_t count, room;
    const char *error; /* why reading ended before the end; it is said of `line` */
};

/* Copies the bytes; false: csv->error says what is wrong with the whole. To be closed in either case. */
bool csv_open(struct csv *csv, const void *bytes, size_t length);
void csv_close(struct csv *csv);

/* The next record that is not empty, into fields and count; false at the end, or where csv->error is set. */
bool csv_next(struct csv *csv);

/*
 * Numbers as people's countries write them: "1234", "1,234", "1.234,5", "42,86", "12 345 %". Returns NULL, or what is
 * wrong with it: "is no number", and so on. An empty text is no number.
 */
const char *csv_count(const char *text, uint64_t *count); /* rounded to a whole number, at most 2^56 */
const char *csv_percent(const char *text, double *percent);

#endif
