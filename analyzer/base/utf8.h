/* Names from a binary may hold any bytes; other tools want UTF-8. */
#ifndef DWELL_BASE_UTF8_H
#define DWELL_BASE_UTF8_H

#include <stddef.h>

/* How many bytes the character at `at` has; zero: none begins there. The text ends with a zero byte. */
size_t utf8_length(const char *at);

/* A copy in which each byte that belongs to no character is U+FFFD; to be freed by the caller. */
char *utf8_repair(const char *text);

#endif
