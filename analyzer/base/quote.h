/* Text from a file, made safe for messages and for the terminal. */
#ifndef DWELL_BASE_QUOTE_H
#define DWELL_BASE_QUOTE_H

#include <stddef.h>

enum { QUOTE_ROOM = 64 };

/* Copies the text as one line: with question marks for control characters, and dots for what does not fit. Returns
 * `to`.
 */
char *quote(char to[QUOTE_ROOM], const char *text, size_t length);

#endif
