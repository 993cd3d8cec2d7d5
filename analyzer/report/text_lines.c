/* Breaks sentences into lines of text. */
#include "report/text_lines.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "base/visible.h"
#include "report/text_cut.h"

/* Each character of ASCII has a cell, and any other at most two; a word is measured as a whole. */
static size_t text_word_width(const char *word, size_t length)
{
    char *copy = need_copy(word, length);
    const size_t width = text_width(copy);
    free(copy);
    return width;
}

/* Each line begins with `indent` cells, which the first one has already. Blanks stay, but for those at a break. */
static void text_put_words(FILE *out, const char *text, size_t indent, size_t width)
{
    char *visible = visible_text(text);
    size_t used = indent; /* cells of the line */
    bool begins = true;
    for (const char *word = visible; *word;) {
        const size_t blanks = strspn(word, " "), length = strcspn(word + blanks, " ");
        const size_t cells = text_word_width(word + blanks, length);
        const bool breaks = !begins && width && length && used + blanks + cells > width;
        if (breaks)
            fprintf(out, "\n%*s%.*s", (int)indent, "", (int)length, word + blanks);
        else
            fprintf(out, "%.*s", (int)(blanks + length), word);
        used = breaks ? indent + cells : used + blanks + cells;
        begins &= length == 0;
        word += blanks + length;
    }
    fputs("\n", out);
    free(visible);
}

void text_put_lines(FILE *out, const char *text, size_t width)
{
    text_put_words(out, text, 0, width);
}

void text_put_named_lines(FILE *out, const char *name, size_t indent, const char *text, size_t width)
{
    const size_t used = text_width(name);
    fputs(name, out);
    fprintf(out, "%*s", used < indent ? (int)(indent - used) : 1, "");
    text_put_words(out, text, indent, width);
}

void text_print_lines(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = need_vtext(format, arguments);
    va_end(arguments);
    text_put_words(out, text, 0, terminal_width(out));
    free(text);
}
