/* Before each file of dwell in the target for filters: files are read from the input. */
#ifndef DWELL_TESTS_FILTERS_INPUT_H
#define DWELL_TESTS_FILTERS_INPUT_H

#include <stdio.h>

FILE *filters_input(const char *path, const char *mode);
int filters_input_end(FILE *in);

#define fopen filters_input
#define fclose filters_input_end

#endif
