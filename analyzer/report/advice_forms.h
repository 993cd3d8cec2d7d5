/* The forms of advice: what a compiler or dwell record takes to leave functions out. */
#ifndef DWELL_REPORT_ADVICE_FORMS_H
#define DWELL_REPORT_ADVICE_FORMS_H

#include <stdio.h>

#include "analysis/advice.h"

enum advice_form { ADVICE_TABLE, ADVICE_GCC, ADVICE_CLANG, ADVICE_ATTRIBUTES, ADVICE_FILTER, ADVICE_LEVELS };

/* Prints the advice in a form other than the table. Predictions and remarks are comments, or on standard error. */
void advice_print_form(const struct analysis *analysis, const struct advice *a, enum advice_form form, FILE *out);

#endif
