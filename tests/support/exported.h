/* Exports sessions to memory. Also builds a session whose names contain every character that a format must escape. */
#ifndef DWELL_TESTS_EXPORTED_H
#define DWELL_TESTS_EXPORTED_H

#include "export/exports.h"
#include "support/session_writer.h"

/* Saves the session, frees the writer, and loads it. */
struct analysis loaded_of(struct writer *w);

/* Exports the session in the format of that name. The output ends with a zero byte, which `length` does not count. The
 * caller frees it. */
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

/* "main" calls each of these functions in their order, function i 1 + i times. Each call takes 10 ns. The last function
 * is blocked for 4 of them. The process is "a;b", its thread "th\nread". */
struct writer *bad_session(void);

#endif
