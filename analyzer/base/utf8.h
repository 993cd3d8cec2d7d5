/* Repairs text that is not UTF-8. Names from a binary can contain any bytes, but other tools expect UTF-8. */
#ifndef DWELL_BASE_UTF8_H
#define DWELL_BASE_UTF8_H

/* A copy in which U+FFFD replaces each byte that is not part of a character. The caller frees it. */
char *utf8_repair(const char *text);

#endif
