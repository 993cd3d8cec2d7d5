/* Texts of a session in Markdown. */
#ifndef DWELL_REPORT_MARKDOWN_H
#define DWELL_REPORT_MARKDOWN_H

#include <stdio.h>

/* As code, in which only | and ` mean something to a table. */
void markdown_put_code(const char *text, FILE *out);

/* As a part of a line of prose: nothing in it means anything to Markdown or to HTML. */
void markdown_put_text(const char *text, FILE *out);

#endif
