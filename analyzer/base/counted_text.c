/* Makes the plurals of nouns. */
#include "base/counted_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool counted_ends(const char *noun, size_t length, const char *end)
{
    const size_t size = strlen(end);
    return length >= size && memcmp(noun + length - size, end, size) == 0;
}

/* What follows the noun, of which *length characters stay. */
static const char *counted_ending(const char *noun, size_t *length)
{
    static const char *const hissing[] = { "s", "x", "ch", "sh" };
    *length = strlen(noun);
    for (size_t i = 0; i < sizeof hissing / sizeof *hissing; i++)
        if (counted_ends(noun, *length, hissing[i]))
            return "es";
    if (*length < 2 || noun[*length - 1] != 'y' || strchr("aeiou", noun[*length - 2]))
        return "s";
    *length -= 1;
    return "ies";
}

static struct counted_text counted_make(uint64_t count, bool has_number, const char *noun, const char *verb)
{
    struct counted_text t;
    size_t length = strlen(noun);
    char number[24] = "";
    const char *ending = count == 1 ? "" : counted_ending(noun, &length);
    if (has_number)
        snprintf(number, sizeof number, "%" PRIu64 " ", count);
    snprintf(t.text, sizeof t.text, "%s%.*s%s%s", number, (int)length, noun, ending, verb);
    return t;
}

struct counted_text counted_text(uint64_t count, const char *noun)
{
    return counted_make(count, true, noun, "");
}

struct counted_text counted_noun(uint64_t count, const char *noun)
{
    return counted_make(count, false, noun, "");
}

struct counted_text counted_text_was(uint64_t count, const char *noun)
{
    return counted_make(count, true, noun, counted_word(count, " was", " were"));
}

struct counted_text counted_noun_was(uint64_t count, const char *noun)
{
    return counted_make(count, false, noun, counted_word(count, " was", " were"));
}
