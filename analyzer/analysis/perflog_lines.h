/*
 * A log's lines, whatever wrote them: UTF-8 or 8-bit, with or without a byte order mark, or UTF-16 of either order;
 * ended by LF or CR LF. A line may be of any length: very long ones come in pieces, parted where a tag begins.
 */
#ifndef DWELL_ANALYSIS_PERFLOG_LINES_H
#define DWELL_ANALYSIS_PERFLOG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct perflog_lines {
    FILE *in;
    enum { BYTES, UTF16_LITTLE, UTF16_BIG } encoding;
    unsigned char first[2];          /* the stream's first bytes, */
    size_t first_count, first_taken; /* of which these have been looked at and taken */
    char *buffer;
    size_t length, given; /* in the buffer; of that, what the last call gave */
    uint64_t line;        /* number of the one given last, from 1 */
    bool within;          /* that line goes on */
    int pushed;           /* 1 + a unit of UTF-16 that comes next, or zero */
};

void perflog_lines_begin(struct perflog_lines *lines, FILE *in);
void perflog_lines_end(struct perflog_lines *lines);

/* The next one without its end, valid until the next call, with blanks for its zero bytes; false: there is none. Errors
 * are those of the stream. */
bool perflog_next_line(struct perflog_lines *lines, const char **text, size_t *length);

/* Where the next "## PERF ##" begins at or after `from`, and where it ends; `length` if there is none. */
size_t perflog_find_tag(const char *text, size_t length, size_t from, size_t *end);

#endif
