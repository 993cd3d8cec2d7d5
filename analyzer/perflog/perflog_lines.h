/*
 * Reads the lines of a log in any encoding: UTF-8 or 8-bit, with or without a byte order mark, or UTF-16 of either byte
 * order. Lines end with LF or CR LF. Very long lines are returned in pieces that begin at tags.
 */
#ifndef DWELL_PERFLOG_PERFLOG_LINES_H
#define DWELL_PERFLOG_PERFLOG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct perflog_lines {
    FILE *in;
    enum { BYTES, UTF16_LITTLE, UTF16_BIG } encoding;
    unsigned char first[2];          /* the stream's first bytes, which identify the encoding */
    size_t first_count, first_taken; /* how many of them were read, and returned */
    char *buffer;
    size_t length, given; /* bytes in the buffer, and how many of them the last call returned */
    uint64_t line;        /* number of the line that was returned last, from 1 */
    bool within;          /* the next piece belongs to that line */
    int pushed;           /* 1 + the unit of UTF-16 that is read next; zero if there is none */
};

void perflog_lines_begin(struct perflog_lines *lines, FILE *in);
void perflog_lines_end(struct perflog_lines *lines);

/* The next line without its end, with blanks instead of zero bytes. Valid until the next call. Returns false at the end
 * of the stream; errors stay in the stream. */
bool perflog_next_line(struct perflog_lines *lines, const char **text, size_t *length);

/* The offset of the next "## PERF ##" at or after `from`, and its *end; `length` if there is none. */
size_t perflog_find_tag(const char *text, size_t length, size_t from, size_t *end);

#endif
