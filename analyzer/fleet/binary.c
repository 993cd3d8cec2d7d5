/* Writes and reads rows in the format RowBinary. */
#include "fleet/binary.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

static void binary_make_room(struct binary_rows *rows, size_t length)
{
    if (rows->room - rows->length >= length)
        return;
    rows->room = 2 * rows->room + length + 4096;
    rows->bytes = need_more(rows->bytes, rows->room, 1);
}

void binary_put_bytes(struct binary_rows *rows, const void *bytes, size_t length)
{
    binary_make_room(rows, length);
    if (length)
        memcpy(rows->bytes + rows->length, bytes, length);
    rows->length += length;
}

void binary_put(struct binary_rows *rows, uint64_t number, unsigned size)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < size; i++)
        bytes[i] = (uint8_t)(number >> 8 * i);
    binary_put_bytes(rows, bytes, size);
}

void binary_put_length(struct binary_rows *rows, uint64_t length)
{
    for (; length >= 128; length >>= 7)
        binary_put(rows, (length & 127) | 128, 1);
    binary_put(rows, length, 1);
}

void binary_put_text(struct binary_rows *rows, const char *text)
{
    const size_t length = text ? strlen(text) : 0;
    binary_put_length(rows, length);
    binary_put_bytes(rows, text, length);
}

void binary_put_double(struct binary_rows *rows, double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    binary_put(rows, bits, 8);
}

void binary_drop(struct binary_rows *rows)
{
    free(rows->bytes);
    *rows = (struct binary_rows){ 0 };
}

bool binary_has_row(struct binary_reader *r)
{
    const int next = r->broken ? EOF : getc(r->in);
    if (next == EOF)
        return false;
    ungetc(next, r->in);
    return true;
}

static void binary_read(struct binary_reader *r, void *bytes, size_t length)
{
    if (!r->broken && length && fread(bytes, 1, length, r->in) != length)
        r->broken = true;
    if (r->broken)
        memset(bytes, 0, length);
}

uint64_t binary_get(struct binary_reader *r, unsigned size)
{
    uint8_t bytes[8];
    uint64_t number = 0;
    binary_read(r, bytes, size);
    for (unsigned i = 0; i < size; i++)
        number |= (uint64_t)bytes[i] << 8 * i;
    return number;
}

void binary_skip(struct binary_reader *r, size_t length)
{
    uint8_t bytes[256];
    for (size_t piece; length && !r->broken; length -= piece) {
        piece = length < sizeof bytes ? length : sizeof bytes;
        binary_read(r, bytes, piece);
    }
}

double binary_get_double(struct binary_reader *r)
{
    const uint64_t bits = binary_get(r, 8);
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

size_t binary_get_length(struct binary_reader *r)
{
    const uint64_t limit = 1 << 30;
    uint64_t length = 0, byte = 128;
    for (unsigned shift = 0; byte >= 128 && shift < 35; shift += 7) {
        byte = binary_get(r, 1);
        length |= (byte & 127) << shift;
    }
    r->broken |= byte >= 128 || length > limit;
    return r->broken ? 0 : (size_t)length;
}

/* Read piece by piece, so that a wrong length costs no memory. */
char *binary_get_text(struct binary_reader *r, size_t *length)
{
    enum { PIECE = 1 << 16 };
    const size_t whole = binary_get_length(r);
    char *text = need_memory(1, 1);
    for (size_t done = 0; done < whole && !r->broken;) {
        const size_t piece = whole - done < PIECE ? whole - done : PIECE;
        text = need_more(text, done + piece + 1, 1);
        binary_read(r, text + done, piece);
        done += piece;
        text[done] = 0;
    }
    if (length)
        *length = r->broken ? 0 : whole;
    if (r->broken)
        *text = 0;
    return text;
}
