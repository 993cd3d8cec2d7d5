/*
 * Why an operation failed. Libraries return errors; only commands print them and end the program, so that a server
 * survives a file that it cannot read.
 *
 * The caller owns a `struct error`, zeroed at first, and passes it to functions that may fail. Such a function returns
 * false or NULL after it has set the error, and leaves nothing for its caller to free:
 *
 *     struct error error = { NULL };
 *     if (!analysis_load(&session, path, &options, &error)) {
 *         say("%s", error.text);
 *         error_drop(&error);
 *     }
 *
 * Threads can fail at the same time, each with its own error.
 */
#ifndef DWELL_BASE_ERROR_H
#define DWELL_BASE_ERROR_H

#include <stdbool.h>

struct error {
    char *text; /* one line: what is wrong and what to do, without "dwell: "; NULL if there is no error */
    char *list; /* visible lines after it, each with its line break; NULL if there are none */
};

/* Sets the text in the format of printf. Keeps an error that is already set, since later errors usually follow from it.
 * Returns false, so that a function can end with `return error_set(...)`. */
bool error_set(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a line to the list, made visible (base/visible.h). */
void error_list(struct error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Frees the texts. The error can be used again. */
void error_drop(struct error *error);

#endif
