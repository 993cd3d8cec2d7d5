/* Escapes what a terminal would obey or hide, in texts and in streams. */
#include "base/visible.h"

#include <stdlib.h>
#include <string.h>
#include <wctype.h>

#include "base/memory.h"
#include "base/utf8.h"

enum { MAX_ESCAPE = 10, DELETE = 127 }; /* \U0010ffff */

bool visible_is_control(uint32_t c)
{
    static const uint32_t ranges[][2] = {
        { 0, 0x1f },        { 0x7f, 0x9f },     { 0x61c, 0x61c },   { 0x200e, 0x200f },
        { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb },
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i][0] && c <= ranges[i][1])
            return true;
    return false;
}

static bool visible_are_digits(const char *text, unsigned count)
{
    return strspn(text, "0123456789abcdef") >= count;
}

/* Whether the backslash would be read as the beginning of an escape. */
static bool visible_begins_escape(const char *text)
{
    return (text[1] == 'x' && visible_are_digits(text + 2, 2)) || (text[1] == 'u' && visible_are_digits(text + 2, 4)) ||
           (text[1] == 'U' && visible_are_digits(text + 2, 8));
}

/* Appends the character of `length` bytes, or the byte if it is no character. Returns the end. */
static char *visible_append(char *to, const char *at, size_t length, bool only_ascii)
{
    const uint32_t c = length ? utf8_decode(at, length) : 0;
    const bool multi = c > DELETE;
    if (!length || (!multi && (visible_is_control(c) || (c == '\\' && visible_begins_escape(at)))))
        return to + sprintf(to, "\\x%02x", (unsigned char)*at);
    if (multi && only_ascii) {
        for (size_t i = 0; i < length; i++)
            to += sprintf(to, "\\x%02x", (unsigned char)at[i]);
        return to;
    }
    if (multi && (visible_is_control(c) || (MB_CUR_MAX > 1 && !iswprint((wint_t)c))))
        return to + sprintf(to, c > 0xffff ? "\\U%08x" : "\\u%04x", c);
    memcpy(to, at, length);
    return to + length;
}

static char *visible_make(const char *text, bool only_ascii)
{
    size_t room = strlen(text) * 4 + MAX_ESCAPE; /* no byte needs more: a character of two bytes becomes \uXXXX */
    char *shown = need_memory(room + 1, 1), *to = shown;
    while (*text) {
        const size_t length = utf8_character_length(text);
        to = visible_append(to, text, length, only_ascii);
        text += length ? length : 1;
    }
    return shown;
}

char *visible_text(const char *text)
{
    return visible_make(text, false);
}

char *visible_cell(const char *text)
{
    return visible_make(text, MB_CUR_MAX == 1);
}

static bool visible_is_plain(const char *text)
{
    for (; *text; text++)
        if ((signed char)*text < ' ' || *text == DELETE || *text == '\\') /* bytes above are negative */
            return false;
    return true;
}

void put_visible(const char *text, FILE *out)
{
    if (visible_is_plain(text)) {
        fputs(text, out);
        return;
    }
    char *shown = visible_text(text);
    fputs(shown, out);
    free(shown);
}

void vprint_text(FILE *out, const char *format, va_list arguments)
{
    char *text = need_vtext(format, arguments);
    const size_t length = strlen(format), before = strspn(format, "\n");
    size_t after = 0;
    while (after < length - before && format[length - after - 1] == '\n')
        after++;
    text[strlen(text) - after] = '\0';
    fwrite(format, 1, before, out);
    put_visible(text + before, out);
    fwrite(format + length - after, 1, after, out);
    free(text);
}

void print_text(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprint_text(out, format, arguments);
    va_end(arguments);
}

/* ---- streams ---- */

struct visible_filter {
    FILE *out;
    char *line; /* that has not ended */
    size_t length, room;
};

static void visible_pass_line(struct visible_filter *f)
{
    for (size_t i = 0; i < f->length; i++) /* no text of a session holds a zero byte */
        f->line[i] = f->line[i] ? f->line[i] : '?';
    f->length = 0;
    put_visible(f->line, f->out);
}

static ssize_t visible_write(void *context, const char *bytes, size_t count)
{
    struct visible_filter *f = context;
    for (size_t i = 0; i < count; i++) {
        const bool ends = bytes[i] == '\n';
        if (ends && f->length && f->line[f->length - 1] == '\r')
            f->length--;
        GROW(f->line, f->length, f->room);
        f->line[f->length] = ends ? '\0' : bytes[i];
        if (!ends) {
            f->length++;
            continue;
        }
        visible_pass_line(f);
        fputc('\n', f->out);
    }
    return ferror(f->out) ? -1 : (ssize_t)count;
}

static int visible_close(void *context)
{
    struct visible_filter *f = context;
    GROW(f->line, f->length, f->room);
    f->line[f->length] = '\0';
    visible_pass_line(f);
    free(f->line);
    free(f);
    return 0;
}

FILE *visible_stream(FILE *out)
{
    struct visible_filter *f = need_memory(1, sizeof *f);
    f->out = out;
    FILE *stream = fopencookie(f, "w", (cookie_io_functions_t){ .write = visible_write, .close = visible_close });
    if (!stream)
        out_of_memory();
    return stream;
}
