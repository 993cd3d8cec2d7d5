/* Makes texts of a session visible and harmless in Markdown. */
#include "report/markdown.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/visible.h"

void markdown_put_code(const char *text, FILE *out)
{
    char *visible = visible_text(text);
    fputs("`", out);
    for (const char *at = visible; *at; at++)
        fprintf(out, "%s%c", *at == '|' ? "\\" : "", *at == '`' ? '\'' : *at);
    fputs("`", out);
    free(visible);
}

/* An underscore within a word is none of emphasis, so most names stay as they are. */
static bool markdown_is_special(const char *text, const char *at)
{
    if (*at == '_')
        return at == text || !isalnum((unsigned char)at[-1]) || !isalnum((unsigned char)at[1]);
    return strchr("\\`*<>[]#~|&!", *at) != NULL;
}

void markdown_put_text(const char *text, FILE *out)
{
    char *visible = visible_text(text);
    for (const char *at = visible; *at; at++)
        if (*at == '@') /* would mention somebody */
            fputs("&#64;", out);
        else
            fprintf(out, "%s%c", markdown_is_special(visible, at) ? "\\" : "", *at);
    free(visible);
}
