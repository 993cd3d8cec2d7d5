/* Writes bytes as base64, which has no special meaning in HTML. */
#ifndef DWELL_VIEW_BASE64_H
#define DWELL_VIEW_BASE64_H

#include <stdio.h>

void base64_write(const void *bytes, size_t length, FILE *out);

#endif
