/* Text from a file, made safe for messages and for the terminal. */
#ifndef DWELL_BASE_QUOTE_H
#define DWELL_BASE_QUOTE_H

#include <stddef.h>

enum { QUOTE_ROOM = 64 };

/* Copies the text as one line. Question marks replace control characters, and dots replace the part that does not fit.
 * Returns `to`. */
char *quote(char to[QUOTE_ROOM], const char *text, size_t length);

#endif
