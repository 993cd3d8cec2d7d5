/* Compresses in the format of gzip, piece by piece. */
#ifndef DWELL_BASE_GZIP_H
#define DWELL_BASE_GZIP_H

#include <stddef.h>
#include <stdio.h>

struct gzip;

struct gzip *gzip_begin(FILE *out);
void gzip_write(struct gzip *gzip, const void *data, size_t length);

/* Ends the compressed data and frees the compressor. `out` stays open and keeps its error flag. */
void gzip_end(struct gzip *gzip);

/* A stream that writes to `out`, compressed. Closing it also closes `out`. */
FILE *gzip_stream(FILE *out);

#endif
