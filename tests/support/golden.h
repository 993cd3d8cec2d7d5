/* Whole outputs, byte for byte as in the files of tests/golden; with DWELL_UPDATE_GOLDEN set, those are written anew.
 */
#ifndef DWELL_TESTS_GOLDEN_H
#define DWELL_TESTS_GOLDEN_H

/* `dwell ARGUMENTS` ends well, says nothing on stderr, and prints what is in the file of that name. */
void check_golden(const char *arguments, const char *name);

/* The text is what is in that file. */
void check_text(const char *text, const char *name);

#endif
