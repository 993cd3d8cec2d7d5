/* Names from a binary may hold any bytes; other tools expect UTF-8. */
#ifndef DWELL_BASE_UTF8_H
#define DWELL_BASE_UTF8_H

/* A copy in which each byte that is part of no character is replaced by U+FFFD. The caller frees it. */
char *utf8_repair(const char *text);

#endif
