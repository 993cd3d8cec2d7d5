/* Breaks sentences into lines of text. */
#include "report/text_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
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

void text_put_lines(FILE *out, const char *text, size_t width)
{
    char *visible = visible_text(text);
    size_t used = 0;
    for (const char *word = visible; *word;) {
        const size_t length = strcspn(word, " "), cells = text_word_width(word, length);
        const bool breaks = used && width && used + 1 + cells > width;
        if (used)
            fputs(breaks ? "\n" : " ", out);
        fprintf(out, "%.*s", (int)length, word);
        used = (breaks || !used ? 0 : used + 1) + cells;
        word += length + (word[length] == ' ');
    }
    fputs("\n", out);
    free(visible);
}
