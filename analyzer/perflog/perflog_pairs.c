/* Parses the key=value pairs in markers' strings, such as "Bytes=4096,Bps=%Bytes%/%AVG%,Test=Write". */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "perflog/perflog_views.h"

enum {
    MAX_NESTING = 8,      /* maximum nesting of macros */
    MAX_EXPANSION = 4096, /* maximum length of an expanded value */
};

/* True for characters that keys may have. */
static bool perflog_is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr(" _#.-", c));
}

/* True for "operator=", which is a part of a function's name and not a pair. */
static bool perflog_is_operator(const char *key, size_t length)
{
    static const char word[] = "operator";
    while (length && !((key[length - 1] | 0x20) >= 'a' && (key[length - 1] | 0x20) <= 'z'))
        length--;
    return length >= sizeof word - 1 && memcmp(key + length - (sizeof word - 1), word, sizeof word - 1) == 0;
}

/* Parses one part of the string between commas. */
static bool perflog_parse_pair(const char *from, size_t length, struct perflog_pair *pair)
{
    const char *equals = memchr(from, '=', length);
    if (!equals || (equals + 1 < from + length && equals[1] == '='))
        return false;
    const char *key = from, *end = equals;
    for (const char *c = key; c < end; c++)
        if (!perflog_is_key_char(*c))
            return false;
    while (key < end && *key == ' ')
        key++;
    while (key < end && end[-1] == ' ')
        end--;
    if (key == end || perflog_is_operator(key, (size_t)(end - key)))
        return false;
    *pair = (struct perflog_pair){ key, equals + 1, (size_t)(end - key), (size_t)(from + length - equals - 1) };
    return true;
}

bool perflog_next_pair(const char **at, struct perflog_pair *pair)
{
    while (*at && **at) {
        const char *from = *at;
        const size_t length = strcspn(from, ",");
        *at = from + length + (from[length] == ',');
        if (perflog_parse_pair(from, length, pair))
            return true;
    }
    return false;
}

static bool perflog_find_pair(const struct perflog_row *row, const char *key, size_t length, struct perflog_pair *pair)
{
    for (const char *at = row->marker; perflog_next_pair(&at, pair);)
        if (pair->key_length == length && memcmp(pair->key, key, length) == 0)
            return true;
    return false;
}

/* ---- macros ---- */

struct perflog_expansion {
    const struct perflog_row *row;
    char text[MAX_EXPANSION + 1];
    size_t length;
    bool expanded, unknown, failed;
};

static void perflog_expansion_put(struct perflog_expansion *e, const char *text, size_t length)
{
    if (length > MAX_EXPANSION - e->length) {
        e->failed = true;
        return;
    }
    memcpy(e->text + e->length, text, length);
    e->length += length;
}

static void perflog_expansion_put_seconds(struct perflog_expansion *e, uint64_t ns)
{
    char text[64];
    if (e->row->count == 0 || e->row->in_ticks)
        e->unknown = true;
    const int length = snprintf(text, sizeof text, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
    perflog_expansion_put(e, text, (size_t)length);
}

static bool perflog_word_matches(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && strncasecmp(text, word, length) == 0;
}

static void perflog_expand_text(struct perflog_expansion *e, const char *text, size_t length, int depth);

/* Expands the text between two percent signs. Returns false if it is not a macro. */
static bool perflog_expand_macro(struct perflog_expansion *e, const char *name, size_t length, int depth)
{
    struct perflog_pair pair;
    if (perflog_word_matches(name, length, "AVG"))
        perflog_expansion_put_seconds(e, e->row->mean);
    else if (perflog_word_matches(name, length, "MIN"))
        perflog_expansion_put_seconds(e, e->row->least);
    else if (perflog_word_matches(name, length, "MAX"))
        perflog_expansion_put_seconds(e, e->row->greatest);
    else if (perflog_find_pair(e->row, name, length, &pair))
        perflog_expand_text(e, pair.value, pair.value_length, depth + 1);
    else
        return false;
    e->expanded = true;
    return true;
}

static void perflog_expand_text(struct perflog_expansion *e, const char *text, size_t length, int depth)
{
    if (depth > MAX_NESTING)
        e->failed = true;
    for (size_t at = 0; at < length && !e->failed;) {
        const char *close = text[at] == '%' ? memchr(text + at + 1, '%', length - at - 1) : NULL;
        if (close && perflog_expand_macro(e, text + at + 1, (size_t)(close - text) - at - 1, depth)) {
            at = (size_t)(close - text) + 1;
            continue;
        }
        perflog_expansion_put(e, text + at++, 1);
    }
}

/* Calculates products and quotients of numbers. Returns false if the text is anything else. */
static bool perflog_calculate(const char *text, double *result)
{
    char operation = 0;
    for (bool first = true;; first = false) {
        text += strspn(text, " ");
        const size_t digits = strspn(text, "0123456789.");
        char *end;
        const double number = strtod(text, &end);
        if (digits == 0 || end != text + digits)
            return false;
        *result = first ? number : operation == '/' ? *result / number : *result * number;
        text = end + strspn(end, " ");
        if (!*text)
            return !first;
        operation = *text++;
        if (operation != '/' && operation != '*')
            return false;
    }
}

char *perflog_pair_value(const struct perflog_row *row, const char *key)
{
    struct perflog_pair pair;
    if (!perflog_find_pair(row, key, strlen(key), &pair))
        return NULL;
    struct perflog_expansion e = { .row = row };
    perflog_expand_text(&e, pair.value, pair.value_length, 0);
    if (e.failed)
        return need_copy(pair.value, pair.value_length);
    if (e.unknown)
        return NULL;
    double result;
    if (!e.expanded || !perflog_calculate(e.text, &result))
        return need_copy(e.text, e.length);
    if (result - result != 0) /* infinite or not a number, as after a division by 0 */
        return NULL;
    char digits[64];
    const int length = snprintf(digits, sizeof digits, "%.12g", result);
    return need_copy(digits, (size_t)length);
}

/* Replaces the macros of a part of the string, calculates its value if it is a pair, and appends it to `out`. */
static void perflog_put_part(FILE *out, const struct perflog_row *row, const char *from, size_t length)
{
    struct perflog_pair pair;
    char *value = NULL;
    if (perflog_parse_pair(from, length, &pair)) {
        char *key = need_copy(pair.key, pair.key_length);
        value = perflog_pair_value(row, key);
        free(key);
        length = (size_t)(pair.value - from);
        fwrite(from, 1, length, out);
        fputs(value ? value : "", out);
        free(value);
        return;
    }
    struct perflog_expansion e = { .row = row };
    perflog_expand_text(&e, from, length, 0);
    if (e.failed || e.unknown)
        fwrite(from, 1, length, out);
    else
        fwrite(e.text, 1, e.length, out);
}

char *perflog_text_with_values(const struct perflog_row *row)
{
    char *text = NULL;
    size_t room = 0;
    FILE *out = need_stream(&text, &room);
    const char *at = row->marker;
    for (size_t length; *at; at += length + 1) {
        length = strcspn(at, ",");
        perflog_put_part(out, row, at, length);
        if (!at[length])
            break;
        fputc(',', out);
    }
    for (size_t i = 0; i < row->attribute_count; i++) {
        const struct perflog_attribute *a = &row->attributes[i];
        struct perflog_pair pair;
        if (!perflog_find_pair(row, a->name, strlen(a->name), &pair)) /* else the pair counts, as in csv */
            fprintf(out, "%s%s=%s", ftell(out) > 0 ? "," : "", a->name, a->value);
    }
    need_stream_end(out);
    return text;
}
