#include "export/gzip.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/message.h"

enum {
    WITH_GZIP_HEADER = 16, /* for deflateInit2, added to the window's bits */
    MEMORY_LEVEL = 8,
    MOST_AT_ONCE = 1 << 30,
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
        die(STATUS_ERROR, "out of memory");
    return g;
}

static void deflate_all(struct gzip *g, int flush)
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
        const size_t part = length < MOST_AT_ONCE ? length : MOST_AT_ONCE;
        g->stream.next_in = (unsigned char *)at;
        g->stream.avail_in = (unsigned)part;
        deflate_all(g, Z_NO_FLUSH);
        at += part;
        length -= part;
    }
}

void gzip_end(struct gzip *g)
{
    deflate_all(g, Z_FINISH);
    deflateEnd(&g->stream);
    free(g);
}
