/* Text of others, for messages and for the terminal. */
#ifndef DWELL_BASE_QUOTE_H
#define DWELL_BASE_QUOTE_H

#include <stddef.h>

enum { QUOTE_ROOM = 64 };

/* Puts the text on one line: question marks for control characters, and dots for what has no room. Returns `to`. */
char *quote(char to[QUOTE_ROOM], const char *text, size_t length);

#endif
