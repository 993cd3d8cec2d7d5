/* Texts of any bytes as JSON, and fast writing of numbers. */
#include "base/json_text.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"

char *json_text(const char *text)
{
    char *valid = utf8_repair(text);
    struct json_object *string = json_object_new_string(valid);
    const char *quoted =
        json_object_to_json_string_ext(string, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);
    char *copy = need_copy(quoted, strlen(quoted));
    json_object_put(string);
    free(valid);
    return copy;
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
