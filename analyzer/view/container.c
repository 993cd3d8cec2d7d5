/* Packs a JSON header and tables of numbers into a compressed container. */
#include "view/container.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/gzip.h"
#include "base/memory.h"

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

/* Adds the description of all tables to the header. Returns the types of all columns in order; the caller frees them.
 */
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

/* All supported processors are little-endian, as the format is. */
static size_t container_put_value(char *at, uint64_t value, enum container_type type)
{
    const double number = (double)value;
    memcpy(at, type == TYPE_F64 ? (const void *)&number : (const void *)&value, types[type].size);
    return types[type].size;
}

static void container_write_padding(struct gzip *gzip, size_t length)
{
    static const char zeros[ALIGNMENT];
    gzip_write(gzip, zeros, container_align(length) - length);
}

static void container_write_column(struct gzip *gzip, const struct container_column *c, size_t rows,
                                   enum container_type type)
{
    char piece[PIECE];
    size_t length = 0;
    for (size_t i = 0; i < rows; i++) {
        if (length == sizeof piece) {
            gzip_write(gzip, piece, length);
            length = 0;
        }
        length += container_put_value(piece + length, container_value(c, i), type);
    }
    gzip_write(gzip, piece, length);
    container_write_padding(gzip, rows * types[type].size);
}

static void container_write_columns(struct gzip *gzip, const enum container_type *type,
                                    const struct container_table *tables, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < tables[i].column_count; j++)
            container_write_column(gzip, &tables[i].columns[j], tables[i].rows, *type++);
}

static void container_write_header(struct gzip *gzip, const char *text, uint32_t length)
{
    gzip_write(gzip, magic, strlen(magic));
    gzip_write(gzip, &length, sizeof length);
    gzip_write(gzip, text, length);
    container_write_padding(gzip, HEADER_BEGINS + length);
}

bool container_pack(struct json_object *header, const struct container_table *tables, size_t count,
                    struct packed *packed)
{
    enum container_type *chosen = container_lay_out(header, tables, count);
    size_t length;
    const char *text =
        json_object_to_json_string_length(header, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &length);
    if (!text)
        out_of_memory();
    *packed = (struct packed){ NULL, 0 };
    if (length <= UINT32_MAX) {
        FILE *out = need_stream(&packed->bytes, &packed->length);
        struct gzip *gzip = gzip_begin(out);
        container_write_header(gzip, text, (uint32_t)length);
        container_write_columns(gzip, chosen, tables, count);
        gzip_end(gzip);
        need_stream_end(out);
    }
    free(chosen);
    json_object_put(header);
    return packed->bytes != NULL;
}

void packed_drop(struct packed *packed)
{
    free(packed->bytes);
    *packed = (struct packed){ NULL, 0 };
}
