/* Text from a file, cut to a length that suits a message. */
#ifndef DWELL_BASE_QUOTE_H
#define DWELL_BASE_QUOTE_H

#include <stddef.h>

enum { QUOTE_ROOM = 64 };

/* Copies the text. Dots replace the part that does not fit, and question marks zero bytes. Other control characters
 * stay: say() and print_text() make them visible. Returns `to`. */
char *quote(char to[QUOTE_ROOM], const char *text, size_t length);

#endif
