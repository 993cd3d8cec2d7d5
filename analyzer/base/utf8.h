/* Characters of UTF-8. Names from a binary can contain any bytes, but other tools expect UTF-8. */
#ifndef DWELL_BASE_UTF8_H
#define DWELL_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The number of bytes of the character at `at`; zero if no character begins there. The text ends with a zero byte. */
size_t utf8_character_length(const char *at);

/* The character of `length` bytes. */
uint32_t utf8_decode(const char *at, size_t length);

/* A copy in which U+FFFD replaces each byte that is not part of a character. The caller frees it. */
char *utf8_repair(const char *text);

/* A copy from which the bytes can be restored: \xff for a byte that is not part of a character. A backslash becomes
 * \x5c if such an escape seems to follow. It is what visible.h makes of these. The caller frees it. */
char *utf8_escape(const char *text);

#endif
