/* Reads and finds the names of enumerations' values. */
#include "trace/value_names.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"

/* ---- reading ---- */

/* Returns what follows the name; NULL if it is damaged. */
static const uint8_t *names_add(struct recorded_value *value, size_t *room, const uint8_t *at, const uint8_t *end)
{
    struct dwell_value_name head;
    if ((size_t)(end - at) < sizeof head)
        return NULL;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    const size_t left = (size_t)(end - at);
    if (head.length > left || (head.length + 7) / 8 * 8 > left)
        return NULL;
    GROW(value->names, value->name_count, *room);
    value->names[value->name_count] =
        (struct value_name){ head.value, value->name_count, need_copy((const char *)at, (size_t)head.length) };
    value->name_count++;
    return at + (head.length + 7) / 8 * 8;
}

/* Of names of one value, the first one of the source comes first. */
static int names_compare(const void *a, const void *b)
{
    const struct value_name *x = a, *y = b;
    return ORDER_BY(x, y, value, order);
}

static bool names_is_flag(uint64_t value)
{
    return value && !(value & (value - 1));
}

/* Three names have a bit each, all others combine these, and there are gaps: 1, 2, 4, but not 1, 2, 3, 4. */
static bool names_are_flags(const struct recorded_value *v)
{
    uint64_t bits = 0, most = 0;
    size_t flags = 0, distinct = 0;
    for (size_t i = 0; i < v->name_count; i++) {
        const uint64_t value = v->names[i].value;
        if (i && value == v->names[i - 1].value)
            continue;
        distinct += value != 0;
        flags += names_is_flag(value);
        bits |= names_is_flag(value) ? value : 0;
        most = value > most ? value : most;
    }
    for (size_t i = 0; i < v->name_count; i++)
        if (v->names[i].value & ~bits)
            return false;
    return flags >= 3 && distinct < most;
}

/* Those of one value. Returns what follows them; NULL if they are damaged. */
static const uint8_t *names_read_value(struct recorded_values *values, const uint8_t *at, const uint8_t *end)
{
    struct dwell_values_names head;
    size_t room = 0;
    if ((size_t)(end - at) < sizeof head)
        return NULL;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    if (head.function >= values->function_count || head.value >= values->functions[head.function].value_count)
        return NULL;
    struct recorded_value *value = &values->functions[head.function].values[head.value];
    if (value->kind != DWELL_VALUE_ENUM || value->name_count)
        return NULL;
    for (uint32_t i = 0; i < head.count && at; i++)
        at = names_add(value, &room, at, end);
    if (value->names)
        qsort(value->names, value->name_count, sizeof *value->names, names_compare);
    value->unsigned_enum = !head.is_signed;
    value->flags = names_are_flags(value);
    return at;
}

bool value_names_read(struct recorded_values *values, const uint8_t *at, const uint8_t *end)
{
    while (at && at < end)
        at = names_read_value(values, at, end);
    return at != NULL;
}

void value_names_drop(struct recorded_value *value)
{
    for (size_t i = 0; i < value->name_count; i++)
        free(value->names[i].name);
    free(value->names);
}

/* ---- finding ---- */

static const char *names_find(const struct recorded_value *v, uint64_t word)
{
    const size_t at = LOWER_BOUND(name, v->names, v->name_count, name->value < word);
    return at < v->name_count && v->names[at].value == word ? v->names[at].name : NULL;
}

/* The names of all bits; NULL if one has none. */
static char *names_join_flags(const struct recorded_value *v, uint64_t word)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    bool all = word != 0;
    for (uint64_t rest = word; rest && all; rest &= rest - 1) {
        const char *name = names_find(v, rest & -rest);
        all = name != NULL;
        fprintf(out, "%s%s", rest == word ? "" : "|", all ? name : "");
    }
    need_stream_end(out);
    if (all)
        return text;
    free(text);
    return NULL;
}

char *value_names_text(const struct recorded_value *value, uint64_t word)
{
    const char *name = names_find(value, word);
    if (name)
        return need_copy(name, strlen(name));
    return value->flags ? names_join_flags(value, word) : NULL;
}
