/* Compresses in the format of gzip with zlib, piece by piece or as a stream. */
#include "base/gzip.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/memory.h"

enum {
    WITH_GZIP_HEADER = 16, /* added to the bits of the window, for deflateInit2 */
    MEMORY_LEVEL = 8,
    MAX_AT_ONCE = 1 << 30,
};

struct gzip {
    z_stream stream;
    FILE *out;
    unsigned char buffer[1 << 16];
};

struct gzip *gzip_begin(FILE *out)
{
    struct gzip *g = need_memory(1, sizeof *g);
    g->out = out;
    if (deflateInit2(&g->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + WITH_GZIP_HEADER, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        out_of_memory();
    return g;
}

static void gzip_deflate(struct gzip *g, int flush)
{
    do {
        g->stream.next_out = g->buffer;
        g->stream.avail_out = sizeof g->buffer;
        deflate(&g->stream, flush);
        fwrite(g->buffer, 1, sizeof g->buffer - g->stream.avail_out, g->out);
    } while (g->stream.avail_out == 0);
}

void gzip_write(struct gzip *g, const void *data, size_t length)
{
    const unsigned char *at = data;
    while (length > 0) {
        const size_t part = length < MAX_AT_ONCE ? length : MAX_AT_ONCE;
        g->stream.next_in = (unsigned char *)at;
        g->stream.avail_in = (unsigned)part;
        gzip_deflate(g, Z_NO_FLUSH);
        at += part;
        length -= part;
    }
}

void gzip_end(struct gzip *g)
{
    gzip_deflate(g, Z_FINISH);
    deflateEnd(&g->stream);
    free(g);
}

/* ---- as a stream ---- */

struct gzip_stream {
    struct gzip *gzip;
    FILE *out;
};

static ssize_t gzip_write_stream(void *cookie, const char *data, size_t length)
{
    struct gzip_stream *s = cookie;
    gzip_write(s->gzip, data, length);
    return ferror(s->out) ? 0 : (ssize_t)length;
}

static int gzip_close_stream(void *cookie)
{
    struct gzip_stream *s = cookie;
    FILE *out = s->out;
    gzip_end(s->gzip);
    free(s);
    const int failed = fflush(out) != 0 || ferror(out);
    return (out != stdout && fclose(out) != 0) || failed ? EOF : 0;
}

FILE *gzip_stream(FILE *out)
{
    struct gzip_stream *s = need_memory(1, sizeof *s);
    *s = (struct gzip_stream){ .gzip = gzip_begin(out), .out = out };
    FILE *stream =
        fopencookie(s, "w", (cookie_io_functions_t){ .write = gzip_write_stream, .close = gzip_close_stream });
    if (!stream)
        out_of_memory();
    setvbuf(stream, NULL, _IOFBF, sizeof s->gzip->buffer);
    return stream;
}
