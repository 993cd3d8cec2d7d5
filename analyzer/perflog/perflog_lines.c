/* Reads the lines of a log in any encoding and returns them as UTF-8 or 8-bit text. */
#include "perflog/perflog_lines.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"

enum {
    LONGEST = 65536,  /* bytes of a piece */
    LONGEST_TAG = 32, /* bytes of a tag that is found across two pieces */
    LONGEST_CHARACTER = 4,
};

static bool perflog_lines_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static size_t perflog_lines_skip_blanks(const char *text, size_t length, size_t at)
{
    while (at < length && perflog_lines_is_blank(text[at]))
        at++;
    return at;
}

size_t perflog_find_tag(const char *text, size_t length, size_t from, size_t *end)
{
    for (size_t at = from; at + 1 < length; at++) {
        const char *hash = memchr(text + at, '#', length - at);
        if (!hash)
            break;
        at = (size_t)(hash - text);
        if (at + 1 >= length || text[at + 1] != '#')
            continue;
        size_t next = perflog_lines_skip_blanks(text, length, at + 2);
        if (length - next < 4 || strncasecmp(text + next, "PERF", 4) != 0)
            continue;
        next = perflog_lines_skip_blanks(text, length, next + 4);
        if (length - next < 2 || memcmp(text + next, "##", 2) != 0)
            continue;
        *end = next + 2;
        return at;
    }
    *end = length;
    return length;
}

/* Finds the encoding from the first two bytes: by a byte order mark, or by the zero byte that each ASCII character has
 * in UTF-16. */
static void perflog_lines_choose_encoding(struct perflog_lines *lines)
{
    const unsigned char *first = lines->first;
    if (lines->first_count < 2)
        return;
    if ((first[0] == 0xff && first[1] == 0xfe) || (first[0] != 0 && first[1] == 0))
        lines->encoding = UTF16_LITTLE;
    if ((first[0] == 0xfe && first[1] == 0xff) || (first[0] == 0 && first[1] != 0))
        lines->encoding = UTF16_BIG;
}

void perflog_lines_begin(struct perflog_lines *lines, FILE *in)
{
    *lines = (struct perflog_lines){ .in = in, .buffer = need_memory(LONGEST + LONGEST_CHARACTER, 1) };
    for (int c; lines->first_count < 2 && (c = getc_unlocked(in)) != EOF;)
        lines->first[lines->first_count++] = (unsigned char)c;
    perflog_lines_choose_encoding(lines);
}

void perflog_lines_end(struct perflog_lines *lines)
{
    free(lines->buffer);
}

static int perflog_lines_next_byte(struct perflog_lines *lines)
{
    if (lines->first_taken < lines->first_count)
        return lines->first[lines->first_taken++];
    return getc_unlocked(lines->in);
}

static int perflog_lines_next_unit(struct perflog_lines *lines)
{
    const int first = perflog_lines_next_byte(lines), second = first == EOF ? EOF : perflog_lines_next_byte(lines);
    if (second == EOF)
        return EOF;
    return lines->encoding == UTF16_LITTLE ? first | second << 8 : first << 8 | second;
}

static void perflog_lines_put_utf8(struct perflog_lines *lines, uint32_t c)
{
    char *to = lines->buffer + lines->length;
    size_t more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
    static const unsigned char leads[] = { 0, 0xc0, 0xe0, 0xf0 };
    lines->length += more + 1;
    for (size_t i = more; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(leads[more] | c);
}

enum { REPLACEMENT = 0xfffd };

/* Appends the next character to the buffer and returns it, or EOF. An unpaired surrogate becomes U+FFFD; the unit after
 * it is kept. */
static int perflog_lines_read_utf16(struct perflog_lines *lines)
{
    int unit = lines->pushed ? lines->pushed - 1 : perflog_lines_next_unit(lines);
    lines->pushed = 0;
    if (unit == EOF)
        return EOF;
    uint32_t c = (uint32_t)unit;
    if (c >> 10 == 0x36) {
        const int low = perflog_lines_next_unit(lines);
        if (low != EOF && low >> 10 == 0x37) {
            c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
        } else {
            lines->pushed = low == EOF ? 0 : low + 1;
            c = REPLACEMENT;
        }
    } else if (c >> 10 == 0x37) {
        c = REPLACEMENT;
    }
    perflog_lines_put_utf8(lines, c ? c : ' ');
    return (int)c;
}

static int perflog_lines_read_character(struct perflog_lines *lines)
{
    if (lines->encoding != BYTES)
        return perflog_lines_read_utf16(lines);
    const int c = perflog_lines_next_byte(lines);
    if (c != EOF)
        lines->buffer[lines->length++] = (char)(c ? c : ' ');
    return c;
}

/* How many bytes of a full buffer to return now. They end before the last tag that is not at the beginning. Without
 * one, they end where an incomplete tag can begin. */
static size_t perflog_lines_part_length(const struct perflog_lines *lines)
{
    size_t last = 0, end;
    for (size_t at = perflog_find_tag(lines->buffer, lines->length, 1, &end); at < lines->length;
         at = perflog_find_tag(lines->buffer, lines->length, end, &end))
        last = at;
    return last ? last : lines->length - LONGEST_TAG;
}

bool perflog_next_line(struct perflog_lines *lines, const char **text, size_t *length)
{
    lines->length -= lines->given;
    memmove(lines->buffer, lines->buffer + lines->given, lines->length);
    if (!lines->within)
        lines->line++;
    int c = 0;
    while (lines->length < LONGEST && (c = perflog_lines_read_character(lines)) != EOF && c != '\n')
        ;
    *text = lines->buffer;
    if (c == EOF && lines->length == 0)
        return false;
    lines->within = c != '\n' && c != EOF;
    lines->given = lines->within ? perflog_lines_part_length(lines) : lines->length;
    *length = lines->given;
    while (!lines->within && *length && strchr("\r\n", lines->buffer[*length - 1]))
        --*length;
    return true;
}
