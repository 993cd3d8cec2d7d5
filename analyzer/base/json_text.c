/* Texts of any bytes as JSON, and fast writing of numbers. */
#include "base/json_text.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "base/visible.h"

enum { FLAGS = JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, DELETE = 127 };

/* JSON allows control characters above the first 32 in strings. They are escaped, as a terminal obeys them. All of them
 * are in strings, and below U+10000. */
static char *json_escape_controls(const char *text)
{
    char *escaped = need_memory(strlen(text) * 6 + 1, 1), *to = escaped;
    while (*text) {
        const size_t length = utf8_character_length(text), kept = length ? length : 1;
        const uint32_t c = length ? utf8_decode(text, length) : 0;
        if (c >= DELETE && visible_is_control(c)) {
            to += sprintf(to, "\\u%04x", c);
        } else {
            memcpy(to, text, kept);
            to += kept;
        }
        text += kept;
    }
    return escaped;
}

/* Releases the reference. The caller frees the text. */
static char *json_written(struct json_object *object)
{
    char *text = json_escape_controls(json_object_to_json_string_ext(object, FLAGS));
    json_object_put(object);
    return text;
}

char *json_text(const char *text)
{
    return json_written(json_new_text(text));
}

struct json_object *json_new_text(const char *text)
{
    char *valid = utf8_repair(text);
    struct json_object *string = json_object_new_string(valid);
    free(valid);
    return string;
}

void json_put_text(FILE *out, const char *text)
{
    char *quoted = json_text(text);
    fputs(quoted, out);
    free(quoted);
}

void json_put_object(FILE *out, struct json_object *object)
{
    char *text = json_written(object);
    fputs(text, out);
    free(text);
}

char *json_put_number(char *to, uint64_t number)
{
    char digits[JSON_NUMBER], *first = digits + sizeof digits;
    do
        *--first = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    const size_t length = (size_t)(digits + sizeof digits - first);
    memcpy(to, first, length);
    return to + length;
}

static char *json_put_decimals(char *to, unsigned part, int decimals)
{
    *to = '.';
    for (int i = decimals; i > 0; i--, part /= 10)
        to[i] = (char)('0' + part % 10);
    return to + 1 + decimals;
}

char *json_put_thousandths(char *to, uint64_t number)
{
    return json_put_decimals(json_put_number(to, number / 1000), (unsigned)(number % 1000), 3);
}

char *json_put_millionths(char *to, uint64_t number)
{
    return json_put_decimals(json_put_number(to, number / 1000000), (unsigned)(number % 1000000), 6);
}
