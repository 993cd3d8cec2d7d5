/* Prints text cells of CSV, in quotes where needed, and defuses formulas on request. */
#include "base/csv_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"
#include "base/visible.h"

static bool csv_defuses;

void csv_text_defuse(bool on)
{
    csv_defuses = on;
}

/* Whether the text is a sign and a decimal number, which is no formula. */
static bool csv_is_number(const char *text)
{
    static const char digits[] = "0123456789";
    if (*text != '+' && *text != '-')
        return false;
    const size_t whole = strspn(++text, digits);
    text += whole;
    const size_t rest = *text == '.' ? strspn(text + 1, digits) : 0;
    return whole > 0 && text[rest ? rest + 1 : 0] == '\0';
}

static bool csv_is_formula(const char *text)
{
    static const char *const starts[] = {
        "=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20",
    };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(text, starts[i], strlen(starts[i])) == 0)
            return !csv_is_number(text);
    return false;
}

/* Whether people see what is printed to `out`. It is asked for each cell, so the last answer is kept. */
static bool csv_is_seen(FILE *out)
{
    static FILE *asked;
    static bool seen;
    if (out != asked)
        seen = terminal_is_seen(out);
    asked = out;
    return seen;
}

/* Prints the text in quotes, or as it is. */
static void csv_put(const char *text, bool quoted, FILE *out)
{
    if (quoted)
        fputc('"', out);
    fputs(csv_defuses && csv_is_formula(text) ? "'" : "", out);
    for (; *text; text++) {
        if (quoted && *text == '"')
            fputc('"', out);
        fputc(*text, out);
    }
    if (quoted)
        fputc('"', out);
}

static void csv_put_shown(const char *text, bool quoted, FILE *out)
{
    char *shown = csv_is_seen(out) ? visible_text(text) : NULL;
    csv_put(shown ? shown : text, quoted || strpbrk(text, ",\"\r\n"), out);
    free(shown);
}

void csv_print_quoted(const char *text, FILE *out)
{
    csv_put_shown(text, true, out);
}

void csv_print_text(const char *text, FILE *out)
{
    csv_put_shown(text, false, out);
}
