/* Decodes the binary containers of a page, and finds them in its HTML. */
#include "support/viewed.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* ---- a container ---- */

static size_t viewed_size_of_type(const char *type)
{
    static const struct {
        const char *name;
        size_t size;
    } types[] = { { "u8", 1 }, { "u16", 2 }, { "u32", 4 }, { "i32", 4 }, { "f64", 8 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i].name, type) == 0)
            return types[i].size;
    cr_fatal("no type %s", type);
    return 0;
}

struct json_object *viewed_get(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;
    cr_assert(json_object_object_get_ex(object, key, &value), "no %s in %s", key, json_object_to_json_string(object));
    return value;
}

const char *viewed_text(struct json_object *object, const char *key)
{
    return json_object_get_string(viewed_get(object, key));
}

/* Each column lies within the bytes, and no two overlap. */
static void viewed_check_columns(const struct viewed *v)
{
    size_t end = 0;
    json_object_object_foreach(viewed_get(v->header, "tables"), name, table)
    {
        (void)name;
        const size_t rows = (size_t)json_object_get_uint64(viewed_get(table, "rows"));
        json_object_object_foreach(viewed_get(table, "columns"), column_name, column)
        {
            (void)column_name;
            const size_t offset = (size_t)json_object_get_uint64(viewed_get(column, "offset"));
            cr_assert(eq(sz, offset % 8, 0));
            cr_assert(ge(sz, offset, end));
            end = offset + rows * viewed_size_of_type(viewed_text(column, "type"));
            cr_assert(le(sz, v->columns + end, v->length));
        }
    }
    cr_assert(eq(sz, (v->columns + end + 7) / 8 * 8, v->length));
}

static struct viewed viewed_from_bytes(uint8_t *bytes, size_t length)
{
    struct viewed v = { .bytes = bytes, .length = length };
    uint32_t header;
    cr_assert(ge(sz, length, 12));
    cr_assert(eq(int, memcmp(bytes, "DWELLV01", 8), 0));
    memcpy(&header, bytes + 8, sizeof header);
    cr_assert(le(sz, 12 + (size_t)header, length));
    char *text = strndup((const char *)bytes + 12, header);
    cr_assert(eq(sz, strlen(text), header));
    v.header = json_tokener_parse(text);
    cr_assert(v.header != NULL, "%s", text);
    free(text);
    v.columns = (12 + (size_t)header + 7) / 8 * 8;
    viewed_check_columns(&v);
    return v;
}

struct viewed viewed_plain(const void *bytes, size_t length)
{
    uint8_t *copy = malloc(length + 1);
    memcpy(copy, bytes, length);
    return viewed_from_bytes(copy, length);
}

struct viewed viewed_packed(const void *bytes, size_t length)
{
    enum { WITH_GZIP_HEADER = 16 };
    z_stream stream = { .next_in = (unsigned char *)bytes, .avail_in = (unsigned)length };
    size_t room = length * 8 + 4096;
    uint8_t *plain = malloc(room);
    cr_assert(eq(int, inflateInit2(&stream, MAX_WBITS + WITH_GZIP_HEADER), Z_OK));
    for (int result = Z_OK; result != Z_STREAM_END;) {
        if (stream.total_out == room)
            plain = realloc(plain, room *= 2);
        stream.next_out = plain + stream.total_out;
        stream.avail_out = (unsigned)(room - stream.total_out);
        result = inflate(&stream, Z_NO_FLUSH);
        cr_assert(result == Z_OK || result == Z_STREAM_END, "inflate: %d", result);
    }
    cr_assert(eq(sz, stream.avail_in, 0));
    const size_t all = stream.total_out;
    inflateEnd(&stream);
    return viewed_from_bytes(plain, all);
}

void viewed_drop(struct viewed *v)
{
    json_object_put(v->header);
    free(v->bytes);
}

static struct json_object *viewed_table_of(const struct viewed *v, const char *table)
{
    return viewed_get(viewed_get(v->header, "tables"), table);
}

size_t viewed_rows(const struct viewed *v, const char *table)
{
    return (size_t)json_object_get_uint64(viewed_get(viewed_table_of(v, table), "rows"));
}

static struct json_object *viewed_column_of(const struct viewed *v, const char *table, const char *column)
{
    return viewed_get(viewed_get(viewed_table_of(v, table), "columns"), column);
}

const char *viewed_type(const struct viewed *v, const char *table, const char *column)
{
    return viewed_text(viewed_column_of(v, table, column), "type");
}

double viewed_number(const struct viewed *v, const char *table, const char *column, size_t row)
{
    struct json_object *described = viewed_column_of(v, table, column);
    const char *type = viewed_text(described, "type");
    const uint8_t *at = v->bytes + v->columns + json_object_get_uint64(viewed_get(described, "offset"));
    cr_assert(lt(sz, row, viewed_rows(v, table)));
    if (strcmp(type, "f64") == 0) {
        double number;
        memcpy(&number, at + row * sizeof number, sizeof number);
        return number;
    }
    if (strcmp(type, "i32") == 0) {
        int32_t number;
        memcpy(&number, at + row * sizeof number, sizeof number);
        return number;
    }
    const size_t size = viewed_size_of_type(type);
    uint32_t number = 0;
    memcpy(&number, at + row * size, size);
    return number;
}

/* ---- a page ---- */

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = c ? strchr(digits, c) : NULL;
    cr_assert(found != NULL, "'%c' in base64", c);
    return (int)(found - digits);
}

static uint8_t *base64_decode(const char *text, size_t length, size_t *decoded)
{
    uint8_t *bytes = malloc(length / 4 * 3 + 1);
    *decoded = 0;
    cr_assert(eq(sz, length % 4, 0));
    for (size_t i = 0; i < length; i += 4) {
        const int pads = (text[i + 3] == '=') + (text[i + 2] == '=');
        cr_assert(pads == 0 || i + 4 == length);
        const int bits = base64_digit(text[i]) << 18 | base64_digit(text[i + 1]) << 12 |
                         (pads < 2 ? base64_digit(text[i + 2]) << 6 : 0) | (pads < 1 ? base64_digit(text[i + 3]) : 0);
        for (int j = 0; j < 3 - pads; j++)
            bytes[(*decoded)++] = (uint8_t)(bits >> (16 - 8 * j));
    }
    return bytes;
}

static char *viewed_read_file(const char *path, size_t *length)
{
    FILE *in = fopen(path, "rb");
    cr_assert(in != NULL, "%s", path);
    cr_assert(eq(int, fseek(in, 0, SEEK_END), 0));
    *length = (size_t)ftell(in);
    rewind(in);
    char *text = malloc(*length + 1);
    cr_assert(eq(sz, fread(text, 1, *length, in), *length));
    text[*length] = '\0';
    fclose(in);
    return text;
}

struct viewed_page viewed_page(const char *path)
{
    static const char begins[] = "<script type=\"application/x-dwell\" data-part=\"";
    struct viewed_page page = { NULL, 0 };
    size_t length;
    char *text = viewed_read_file(path, &length);
    cr_assert(eq(sz, strlen(text), length));
    for (const char *at = text; (at = strstr(at, begins));) {
        page.parts = realloc(page.parts, (page.count + 1) * sizeof *page.parts);
        struct viewed_part *part = &page.parts[page.count++];
        *part = (struct viewed_part){ .block = 0 };
        at += strlen(begins);
        cr_assert(
            ge(int,
               sscanf(at, "%15[a-z]\" data-session=\"%u\" data-block=\"%u\"", part->kind, &part->session, &part->block),
               2));
        const char *content = strchr(at, '>') + 1;
        size_t size;
        uint8_t *packed = base64_decode(content, strcspn(content, "<"), &size);
        at = content + strcspn(content, "<");
        cr_assert(eq(int, strncmp(at, "</script>\n", 10), 0));
        part->content = viewed_packed(packed, size);
        free(packed);
    }
    free(text);
    return page;
}

void viewed_page_drop(struct viewed_page *page)
{
    for (size_t i = 0; i < page->count; i++)
        viewed_drop(&page->parts[i].content);
    free(page->parts);
}

static const struct viewed *viewed_part_find(const struct viewed_page *page, const char *kind, unsigned session,
                                             unsigned block)
{
    for (size_t i = 0; i < page->count; i++) {
        const struct viewed_part *part = &page->parts[i];
        if (strcmp(part->kind, kind) == 0 && part->session == session && part->block == block)
            return &part->content;
    }
    cr_fatal("no %s %u %u", kind, session, block);
    return NULL;
}

const struct viewed *viewed_session(const struct viewed_page *page, unsigned session)
{
    return viewed_part_find(page, "session", session, 0);
}

const struct viewed *viewed_block(const struct viewed_page *page, unsigned session, unsigned block)
{
    return viewed_part_find(page, "block", session, block);
}
