/* Texts as words for a shell. */
#ifndef DWELL_BASE_SHELL_WORD_H
#define DWELL_BASE_SHELL_WORD_H

/* The text in single quotes. The caller frees it. */
char *shell_word(const char *text);

#endif
