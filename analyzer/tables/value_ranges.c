/* Shows the values of arguments, brings them into an order, and puts numbers into ranges. */
#include "tables/value_ranges.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/utf8.h"
#include "tables/recorded_argument.h"
#include "trace/value_names.h"

/* ---- order ---- */

static bool value_is_negative(const struct recorded_value *v, uint64_t word)
{
    return v->kind == DWELL_VALUE_SIGNED && (int64_t)word < 0;
}

static int value_compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b))
        return (isnan(a) != 0) - (isnan(b) != 0);
    return (a > b) - (a < b);
}

static int value_compare_texts(const uint64_t *a, const uint64_t *b)
{
    const size_t one = recorded_text_length(a), other = recorded_text_length(b);
    const int order = memcmp(a + 1, b + 1, one < other ? one : other);
    return order ? order : (*a > *b) - (*a < *b);
}

static int value_compare_signed(uint64_t a, uint64_t b)
{
    return ((int64_t)a > (int64_t)b) - ((int64_t)a < (int64_t)b);
}

int recorded_value_compare(const struct recorded_value *v, const uint64_t *a, const uint64_t *b)
{
    if (!a || !b)
        return !a - !b;
    switch (v->kind) {
    case DWELL_VALUE_TEXT:
        return value_compare_texts(a, b);
    case DWELL_VALUE_FLOAT:
        return value_compare_doubles(recorded_value_number(v, *a), recorded_value_number(v, *b));
    case DWELL_VALUE_SIGNED:
        return value_compare_signed(*a, *b);
    case DWELL_VALUE_ENUM:
        return v->unsigned_enum ? (*a > *b) - (*a < *b) : value_compare_signed(*a, *b);
    default:
        return (*a > *b) - (*a < *b);
    }
}

/* ---- ranges ---- */

enum { EXPONENTS = 2048 };

int32_t recorded_value_range(const struct recorded_value *v, const uint64_t *words)
{
    if (!words)
        return RANGE_UNREAD;
    int exponent;
    bool negative;
    if (v->kind == DWELL_VALUE_FLOAT) {
        const double number = recorded_value_number(v, *words);
        if (isnan(number))
            return RANGE_NAN;
        if (number == 0)
            return RANGE_ZERO;
        frexp(number, &exponent);
        exponent = isinf(number) ? EXPONENTS - 1 : exponent - 1;
        negative = number < 0;
    } else {
        negative = value_is_negative(v, *words);
        const uint64_t size = negative ? -*words : *words;
        if (!size)
            return RANGE_ZERO;
        exponent = 63 - __builtin_clzll(size);
    }
    const int32_t distance = 1 + EXPONENTS + exponent;
    return negative ? RANGE_ZERO - distance : RANGE_ZERO + distance;
}

/* 2^exponent, or -2^exponent: whole numbers are exact. */
static char *value_power(const struct recorded_value *v, int exponent, bool negative)
{
    const char *sign = negative ? "-" : "";
    if (v->kind == DWELL_VALUE_FLOAT)
        return need_text("%s%.17g", sign, ldexp(1, exponent));
    if (exponent == 64)
        return need_text("%s18446744073709551616", sign);
    return need_text("%s%" PRIu64, sign, UINT64_C(1) << exponent);
}

void recorded_range_ends(const struct recorded_value *v, int32_t range, char **from, char **to)
{
    if (range == RANGE_ZERO || range == RANGE_NAN) {
        *from = need_text("%s", range == RANGE_NAN ? "nan" : "0");
        *to = need_text("%s", *from);
        return;
    }
    const bool negative = range < RANGE_ZERO;
    const int exponent = (negative ? RANGE_ZERO - range : range - RANGE_ZERO) - 1 - EXPONENTS;
    *from = value_power(v, negative ? exponent + 1 : exponent, negative);
    *to = value_power(v, negative ? exponent : exponent + 1, negative);
}

/* ---- text ---- */

bool recorded_value_is_word(const struct recorded_value *v)
{
    return v->kind == DWELL_VALUE_TEXT || v->kind == DWELL_VALUE_CHARACTER || v->kind == DWELL_VALUE_ADDRESS;
}

bool recorded_value_is_named(const struct recorded_value *v, const uint64_t *words)
{
    char *name = words ? value_names_text(v, *words) : NULL;
    free(name);
    return name != NULL;
}

/* The sign of what is no number means nothing, so it is not shown. */
static char *value_real_text(const struct recorded_value *v, uint64_t word)
{
    const double number = recorded_value_number(v, word);
    return isnan(number) ? need_text("nan") : need_text("%.*g", v->bytes == sizeof(float) ? 9 : 17, number);
}

static char *value_enum_text(const struct recorded_value *v, uint64_t word)
{
    char *name = value_names_text(v, word);
    return name ? name : v->unsigned_enum ? need_text("%" PRIu64, word) : need_text("%" PRId64, (int64_t)word);
}

char *recorded_value_text(const struct recorded_value *v, const uint64_t *words)
{
    if (!words)
        return need_text("(unreadable)");
    switch (v->kind) {
    case DWELL_VALUE_TEXT:
        return need_text("%.*s%s", (int)recorded_text_length(words), (const char *)(words + 1),
                         *words & DWELL_VALUES_CUT ? "..." : "");
    case DWELL_VALUE_CHARACTER:
        return *words > ' ' && *words < 127 ? need_text("%c", (int)*words) : need_text("\\x%02" PRIx64, *words & 255);
    case DWELL_VALUE_ADDRESS:
        return need_text("0x%" PRIx64, *words);
    case DWELL_VALUE_BOOL:
        return need_text("%s", *words ? "true" : "false");
    case DWELL_VALUE_FLOAT:
        return value_real_text(v, *words);
    case DWELL_VALUE_UNSIGNED:
        return need_text("%" PRIu64, *words);
    case DWELL_VALUE_ENUM:
        return value_enum_text(v, *words);
    default:
        return need_text("%" PRId64, (int64_t)*words);
    }
}

char *recorded_value_data(const struct recorded_value *v, const uint64_t *words)
{
    char *text = recorded_value_text(v, words);
    if (v->kind != DWELL_VALUE_TEXT || !words)
        return text;
    char *escaped = utf8_escape(text);
    free(text);
    return escaped;
}

char *recorded_range_text(const struct recorded_value *v, int32_t range)
{
    char *from, *to;
    if (range >= RANGE_UNREAD)
        return need_text(range == RANGE_UNREAD ? "(unreadable)" : "(others)");
    recorded_range_ends(v, range, &from, &to);
    char *text = strcmp(from, to) == 0 ? need_text("%s", from)
                 : range > RANGE_ZERO  ? need_text("%s to <%s", from, to)
                                       : need_text(">%s to %s", from, to);
    free(from);
    free(to);
    return text;
}
