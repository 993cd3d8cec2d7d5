/* What formats write, in memory; and a session whose names are as bad as names can be. */
#ifndef DWELL_TESTS_EXPORTED_H
#define DWELL_TESTS_EXPORTED_H

#include "export/exports.h"
#include "support/session_writer.h"

/* Saves the session, frees the writer, and loads it. */
struct analysis loaded_of(struct writer *w);

/* What the format of that name writes; ended by a zero byte, which `length` does not count. To be freed. */
char *exported(const struct analysis *session, const char *format, enum export_time time, size_t *length);

enum {
    BAD_QUOTES,
    BAD_SEMICOLON,
    BAD_NEWLINE,
    BAD_UNICODE,
    BAD_BYTES,
    BAD_LONG, /* 10,000 characters */
    BAD_NUMBER,
    BAD_CONTROLS,
    BAD_MARKUP,
    BAD_NAMES
};
extern const char *bad_names[BAD_NAMES];

/* "main" calls each of these functions in their order: the i-th 1 + i times, each call for 10 ns, of which it is
 * blocked for 4 in the last one. The process is "a;b", its thread "th\nread". */
struct writer *bad_session(void);

#endif
