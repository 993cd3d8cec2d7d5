/*
 * The first read of a session that has failed. Such a read is no error where it happens: what is missing is left out,
 * like what a damaged session lacks. Each session has an error of its own, so that who reads one does not take that of
 * another. The end of an output asks for those that nobody has taken. Thread-safe.
 */
#ifndef DWELL_TRACE_READ_ERROR_H
#define DWELL_TRACE_READ_ERROR_H

struct read_error;

/* One that is freed without being taken stays for read_error_take_any. The others take NULL, which has none. */
struct read_error *read_error_new(void);
void read_error_free(struct read_error *e);

/* Keeps an errno value if there is none yet. */
void read_error_note(struct read_error *e, int value);

/* Returns the value, or zero, and forgets it. The second takes the first one of all sessions, and forgets all. */
int read_error_take(struct read_error *e);
int read_error_take_any(void);

#endif
