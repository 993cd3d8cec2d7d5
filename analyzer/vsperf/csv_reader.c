/* Reads CSV files record by record, with any separator and encoding that spreadsheets write, and parses their numbers.
 */
#include "vsperf/csv_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- encodings ---- */

static size_t csv_put_utf8(char *at, uint32_t c)
{
    if (c < 0x80) {
        at[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        at[0] = (char)(0xc0 | c >> 6);
        at[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if (c < 0x10000) {
        at[0] = (char)(0xe0 | c >> 12);
        at[1] = (char)(0x80 | (c >> 6 & 0x3f));
        at[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    at[0] = (char)(0xf0 | c >> 18);
    at[1] = (char)(0x80 | (c >> 12 & 0x3f));
    at[2] = (char)(0x80 | (c >> 6 & 0x3f));
    at[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/* Unpaired surrogates become U+FFFD. */
static void csv_decode_utf16(struct csv *csv, const uint8_t *bytes, size_t length, bool big)
{
    csv->text = need_memory(length / 2 * 3 + 1, 1);
    for (size_t i = 0; i + 1 < length; i += 2) {
        uint32_t c = big ? (uint32_t)bytes[i] << 8 | bytes[i + 1] : (uint32_t)bytes[i + 1] << 8 | bytes[i];
        if (c >= 0xd800 && c < 0xdc00 && i + 3 < length) {
            const uint32_t low =
                big ? (uint32_t)bytes[i + 2] << 8 | bytes[i + 3] : (uint32_t)bytes[i + 3] << 8 | bytes[i + 2];
            if (low >= 0xdc00 && low < 0xe000) {
                c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
                i += 2;
            }
        }
        if (c >= 0xd800 && c < 0xe000)
            c = 0xfffd;
        csv->length += csv_put_utf8(csv->text + csv->length, c);
    }
    if (length % 2)
        csv->error = "cut off in the middle of a character";
}

static void csv_decode_text(struct csv *csv, const uint8_t *bytes, size_t length)
{
    if (length >= 2 && bytes[0] == 0xff && bytes[1] == 0xfe) {
        csv_decode_utf16(csv, bytes + 2, length - 2, false);
        return;
    }
    if (length >= 2 && bytes[0] == 0xfe && bytes[1] == 0xff) {
        csv_decode_utf16(csv, bytes + 2, length - 2, true);
        return;
    }
    const size_t mark = length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    csv->text = need_copy((const char *)bytes + mark, length - mark);
    csv->length = length - mark;
}

/* ---- records ---- */

static bool csv_is_end_of_line(char c)
{
    return c == '\n' || c == '\r';
}

/* The separator: the most frequent of three in the first line, outside quotes. */
static char csv_find_delimiter(const struct csv *csv)
{
    static const char candidates[] = ",;\t";
    size_t counts[sizeof candidates] = { 0 }, best = 0;
    bool quoted = false;
    for (size_t i = 0; i < csv->length && (quoted || !csv_is_end_of_line(csv->text[i])); i++) {
        const char *found = csv->text[i] ? strchr(candidates, csv->text[i]) : NULL;
        if (csv->text[i] == '"')
            quoted = !quoted;
        else if (found && !quoted)
            counts[found - candidates]++;
    }
    for (size_t i = 1; i < 3; i++)
        if (counts[i] > counts[best])
            best = i;
    return candidates[best];
}

static void csv_end_line(struct csv *csv)
{
    if (csv->text[csv->at] == '\r' && csv->at + 1 < csv->length && csv->text[csv->at + 1] == '\n')
        csv->at++;
    csv->at++;
    csv->line++;
}

/* A first line such as "sep=;" tells spreadsheets the separator. */
static void csv_skip_separator_line(struct csv *csv)
{
    if (csv->length < 5 || strncmp(csv->text, "sep=", 4) != 0 || (csv->length > 5 && !csv_is_end_of_line(csv->text[5])))
        return;
    csv->delimiter = csv->text[4];
    csv->at = 5;
    if (csv->at < csv->length)
        csv_end_line(csv);
}

bool csv_open(struct csv *csv, const void *bytes, size_t length)
{
    *csv = (struct csv){ .line = 1, .record = 1 };
    csv_decode_text(csv, bytes, length);
    if (!csv->error && memchr(csv->text, '\0', csv->length))
        csv->error = "not text: it holds zero bytes";
    csv->delimiter = csv_find_delimiter(csv);
    csv_skip_separator_line(csv);
    return !csv->error;
}

void csv_close(struct csv *csv)
{
    free(csv->text);
    free(csv->fields);
}

/* Copies quoted text to `to` up to the closing quote. Two quotes in it stand for one. */
static char *csv_read_quoted(struct csv *csv, char *to)
{
    const unsigned long begin = csv->line;
    csv->at++;
    while (csv->at < csv->length) {
        const char c = csv->text[csv->at];
        if (c == '"' && csv->at + 1 < csv->length && csv->text[csv->at + 1] == '"') {
            csv->at++;
        } else if (c == '"') {
            csv->at++;
            return to;
        }
        csv->line += c == '\n' || (c == '\r' && !(csv->at + 1 < csv->length && csv->text[csv->at + 1] == '\n'));
        *to++ = c;
        csv->at++;
    }
    csv->line = begin;
    csv->error = "a quote is opened and never closed";
    return to;
}

/* Reads a field in place: the quotes that are removed leave room for the zero byte after it. Sets `last` at the last
 * field of the line. */
static void csv_read_field(struct csv *csv, bool *last)
{
    char *begin = csv->text + csv->at, *to = begin;
    const bool quoted = csv->at < csv->length && *begin == '"';
    GROW(csv->fields, csv->count, csv->room);
    csv->fields[csv->count++] = begin;
    if (quoted)
        to = csv_read_quoted(csv, to);
    while (csv->at < csv->length && csv->text[csv->at] != csv->delimiter && !csv_is_end_of_line(csv->text[csv->at]))
        *to++ = csv->text[csv->at++];
    *last = csv->at >= csv->length || csv->text[csv->at] != csv->delimiter;
    if (!*last)
        csv->at++;
    else if (csv->at < csv->length)
        csv_end_line(csv);
    *to = '\0';
    /* A quote that was lost at its beginning still ends it. */
    if (!quoted && to > begin && to[-1] == '"' && !memchr(begin, '"', (size_t)(to - begin) - 1))
        to[-1] = '\0';
}

bool csv_next(struct csv *csv)
{
    while (!csv->error && csv->at < csv->length) {
        bool last = false;
        csv->count = 0;
        csv->record = csv->line;
        while (!last && !csv->error)
            csv_read_field(csv, &last);
        if (csv->error)
            return false;
        for (size_t i = 0; i < csv->count; i++)
            if (csv->fields[i][0] != '\0')
                return true;
    }
    return false;
}

/* ---- numbers ---- */

enum { LONGEST_NUMBER = 64 };

struct csv_digits {
    char text[LONGEST_NUMBER]; /* only digits, commas and points */
    size_t length;
};

/* Removes blanks of all kinds between thousands, and a percent sign at the end. */
static const char *csv_read_digits(const char *text, struct csv_digits *d)
{
    static const char *const blanks[] = { " ", "'", "\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x99" };
    d->length = 0;
    while (*text) {
        size_t skip = 0;
        for (size_t i = 0; i < sizeof blanks / sizeof *blanks && !skip; i++)
            if (strncmp(text, blanks[i], strlen(blanks[i])) == 0)
                skip = strlen(blanks[i]);
        if (skip) {
            text += skip;
            continue;
        }
        if (*text == '-')
            return "is negative";
        if (*text == '%' && d->length && text[1] == '\0')
            break;
        if (!(*text >= '0' && *text <= '9') && *text != ',' && *text != '.')
            return "is not a number";
        if (d->length + 1 == LONGEST_NUMBER)
            return "is too large";
        d->text[d->length++] = *text++;
    }
    d->text[d->length] = '\0';
    return d->length ? NULL : "is not a number";
}

/* Finds the decimals after a comma or point; NULL if there are none. A single comma or point before three digits is
 * ambiguous: `whole` selects a whole number. Returns the problem, or NULL. */
static const char *csv_find_decimals(const struct csv_digits *d, bool whole, const char **decimals)
{
    const char *comma = strrchr(d->text, ','), *point = strrchr(d->text, '.');
    const char *last = !comma || (point && point > comma) ? point : comma;
    *decimals = NULL;
    if (!last)
        return NULL;
    const char *const first = strchr(d->text, *last);
    const size_t behind = strlen(last + 1);
    if (comma && point) {
        if (first != last)
            return "is not a number";
        *decimals = last + 1;
    } else if (first == last &&
               !(whole && behind == 3 && last != d->text && last - d->text <= 3 && d->text[0] != '0')) {
        *decimals = last + 1;
    }
    return NULL;
}

static const char *csv_parse_number(const char *text, bool whole, double *value, uint64_t *count)
{
    const uint64_t most = (uint64_t)1 << 56;
    struct csv_digits d;
    const char *decimals, *wrong = csv_read_digits(text, &d);
    if (!wrong)
        wrong = csv_find_decimals(&d, whole, &decimals);
    if (wrong)
        return wrong;
    const char *const end = decimals ? decimals - 1 : d.text + d.length;
    uint64_t integer = 0;
    for (const char *at = d.text; at < end; at++) {
        if (*at == ',' || *at == '.') {
            /* Thousands are groups of three digits. */
            const size_t group = strspn(at + 1, "0123456789");
            if (at == d.text || group != 3)
                return "is not a number";
            continue;
        }
        integer = integer * 10 + (uint64_t)(*at - '0');
        if (integer > most)
            return "is too large";
    }
    double fraction = 0, digit = 0.1;
    for (const char *at = decimals; at && *at; at++, digit /= 10)
        fraction += digit * (*at - '0');
    if (decimals && end == d.text && *decimals == '\0')
        return "is not a number";
    *value = (double)integer + fraction;
    *count = integer + (fraction >= 0.5);
    return NULL;
}

const char *csv_count(const char *text, uint64_t *count)
{
    double value;
    return csv_parse_number(text, true, &value, count);
}

const char *csv_decimal(const char *text, double *value)
{
    uint64_t count;
    return csv_parse_number(text, true, value, &count);
}

const char *csv_percent(const char *text, double *percent)
{
    uint64_t count;
    const char *wrong = csv_parse_number(text, false, percent, &count);
    if (!wrong && *percent > 100.5)
        wrong = "is more than 100 %";
    return wrong;
}
