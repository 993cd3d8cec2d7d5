#include "view/container.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"
#include "base/memory.h"
#include "base/message.h"

enum { ALIGNMENT = 8, HEADER_BEGINS = 12, PIECE = 1 << 16 };

static const char magic[] = "DWELLV01";

enum container_type { TYPE_U8, TYPE_U16, TYPE_U32, TYPE_I32, TYPE_F64 };
static const struct {
    const char *name;
    size_t size;
} types[] = {
    [TYPE_U8] = { "u8", 1 },   [TYPE_U16] = { "u16", 2 }, [TYPE_U32] = { "u32", 4 },
    [TYPE_I32] = { "i32", 4 }, [TYPE_F64] = { "f64", 8 },
};

static uint64_t container_value(const struct container_column *c, size_t row)
{
    const char *at = (const char *)c->first + (c->order ? c->order[row] : row) * c->stride;
    uint64_t wide;
    uint32_t narrow;
    if (c->number == CONTAINER_U64) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    memcpy(&narrow, at, sizeof narrow);
    return narrow;
}

static enum container_type container_column_type(const struct container_column *c, size_t rows)
{
    if (c->number == CONTAINER_I32)
        return TYPE_I32;
    uint64_t bits = 0;
    for (size_t i = 0; i < rows; i++)
        bits |= container_value(c, i);
    return bits <= UINT8_MAX ? TYPE_U8 : bits <= UINT16_MAX ? TYPE_U16 : bits <= UINT32_MAX ? TYPE_U32 : TYPE_F64;
}

static size_t container_align(size_t length)
{
    return (length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* The types of all columns, in their order; to be freed. */
static enum container_type *container_lay_out(struct json_object *header, const struct container_table *tables,
                                              size_t count)
{
    struct json_object *described = json_object_new_object();
    enum container_type *chosen = NULL;
    size_t columns = 0, room = 0, offset = 0;
    for (size_t i = 0; i < count; i++) {
        const struct container_table *t = &tables[i];
        struct json_object *table = json_object_new_object(), *list = json_object_new_object();
        json_object_object_add(table, "rows", json_object_new_uint64(t->rows));
        for (size_t j = 0; j < t->column_count; j++) {
            struct json_object *column = json_object_new_object();
            GROW(chosen, columns, room);
            const enum container_type type = chosen[columns++] = container_column_type(&t->columns[j], t->rows);
            json_object_object_add(column, "type", json_object_new_string(types[type].name));
            json_object_object_add(column, "offset", json_object_new_uint64(offset));
            json_object_object_add(list, t->columns[j].name, column);
            offset = container_align(offset + t->rows * types[type].size);
        }
        json_object_object_add(table, "columns", list);
        json_object_object_add(described, t->name, table);
    }
    json_object_object_add(header, "tables", described);
    return chosen;
}

/* Little-endian, as everything that this is built for is. */
static size_t container_put_value(char *at, uint64_t value, enum container_type type)
{
    const double number = (double)value;
    memcpy(at, type == TYPE_F64 ? (const void *)&number : (const void *)&value, types[type].size);
    return types[type].size;
}

struct container_writer {
    struct gzip *gzip; /* NULL: plain, to */
    FILE *out;
};

static void container_write_bytes(const struct container_writer *w, const void *bytes, size_t length)
{
    if (w->gzip)
        gzip_write(w->gzip, bytes, length);
    else
        fwrite(bytes, 1, length, w->out);
}

static void container_write_padding(const struct container_writer *w, size_t length)
{
    static const char zeros[ALIGNMENT];
    container_write_bytes(w, zeros, container_align(length) - length);
}

static void container_write_column(const struct container_writer *w, const struct container_column *c, size_t rows,
                                   enum container_type type)
{
    char piece[PIECE];
    size_t length = 0;
    for (size_t i = 0; i < rows; i++) {
        if (length == sizeof piece) {
            container_write_bytes(w, piece, length);
            length = 0;
        }
        length += container_put_value(piece + length, container_value(c, i), type);
    }
    container_write_bytes(w, piece, length);
    container_write_padding(w, rows * types[type].size);
}

static void container_write_all(const struct container_writer *w, struct json_object *header,
                                const struct container_table *tables, size_t count)
{
    enum container_type *chosen = container_lay_out(header, tables, count), *type = chosen;
    size_t length;
    const char *text =
        json_object_to_json_string_length(header, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
    if (!text || length > UINT32_MAX)
        die(STATUS_ERROR, text ? "the names of this session are too many for a page" : "out of memory");
    const uint32_t length32 = (uint32_t)length;
    container_write_bytes(w, magic, strlen(magic));
    container_write_bytes(w, &length32, sizeof length32);
    container_write_bytes(w, text, length);
    container_write_padding(w, HEADER_BEGINS + length);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < tables[i].column_count; j++)
            container_write_column(w, &tables[i].columns[j], tables[i].rows, *type++);
    free(chosen);
    json_object_put(header);
}

void container_write(struct json_object *header, const struct container_table *tables, size_t count, FILE *out)
{
    container_write_all(&(struct container_writer){ NULL, out }, header, tables, count);
}

struct packed container_pack(struct json_object *header, const struct container_table *tables, size_t count)
{
    struct packed packed = { NULL, 0 };
    struct container_writer w = { NULL, open_memstream(&packed.bytes, &packed.length) };
    if (!w.out)
        die(STATUS_ERROR, "out of memory");
    w.gzip = gzip_begin(w.out);
    container_write_all(&w, header, tables, count);
    gzip_end(w.gzip);
    if (fclose(w.out) != 0)
        die(STATUS_ERROR, "out of memory");
    return packed;
}

void packed_drop(struct packed *packed)
{
    free(packed->bytes);
    *packed = (struct packed){ NULL, 0 };
}
