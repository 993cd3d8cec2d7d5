/* In single quotes, a shell knows only these themselves. */
#include "base/shell_word.h"

#include <stdio.h>

#include "base/memory.h"

char *shell_word(const char *text)
{
    char *word;
    size_t length;
    FILE *out = need_stream(&word, &length);
    fputc('\'', out);
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", out);
        else
            fputc(*text, out);
    fputc('\'', out);
    need_stream_end(out);
    return word;
}
