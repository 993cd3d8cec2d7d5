/* Messages to the user besides reports: one line each on stderr, which begins with "dwell: ". */
#ifndef DWELL_BASE_MESSAGE_H
#define DWELL_BASE_MESSAGE_H

/* Prints a message in the format of printf, made visible (base/visible.h). First flushes stdout and hides the progress
 * line. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Sets a function that returns the place that messages are about, such as a line of the config file, or NULL. From now
 * on, messages begin with that place. `place` can be NULL. */
void message_set_place(const char *(*place)(void));

#endif
