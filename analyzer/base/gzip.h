/* Writes what gzip reads, piece by piece. */
#ifndef DWELL_BASE_GZIP_H
#define DWELL_BASE_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct gzip;

struct gzip *gzip_begin(FILE *out);
void gzip_write(struct gzip *gzip, const void *data, size_t length);

/* Ends the stream and frees; `out` stays open. */
void gzip_end(struct gzip *gzip);

/* A stream to write to instead of `out`, to which it goes compressed; closing it closes that, too. */
FILE *gzip_stream(FILE *out);

#endif
