/*
 * What the program says to its user besides reports: one line each, on stderr, "dwell: " before it.
 */
#ifndef DWELL_BASE_MESSAGE_H
#define DWELL_BASE_MESSAGE_H

/* Exit statuses: of every command but `record`, which ends as the program it ran. */
enum {
    STATUS_OK = 0,
    STATUS_FINDING = 1,
    STATUS_ERROR = 2,         /* bad usage, or input that cannot be read */
    STATUS_OWN_FAILURE = 125, /* record: before the program started */
    STATUS_NOT_EXECUTABLE = 126,
    STATUS_NOT_FOUND = 127,
};

/* Prints the line. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the line and ends the program. */
void die(int status, const char *format, ...) __attribute__((format(printf, 2, 3), noreturn));

/* From now on, lines begin with the place that this tells; NULL, or where it tells none: with none. */
void message_set_place(const char *(*place)(void));

#endif
