/* Compares whole outputs, byte for byte, with the files in tests/golden. If DWELL_UPDATE_GOLDEN is set, it rewrites
 * those files. */
#ifndef DWELL_TESTS_GOLDEN_H
#define DWELL_TESTS_GOLDEN_H

/* `dwell ARGUMENTS` must succeed, print nothing on stderr, and print the content of the file of that name. */
void check_golden(const char *arguments, const char *name);

/* The text must be the content of that file. */
void check_text(const char *text, const char *name);

#endif
