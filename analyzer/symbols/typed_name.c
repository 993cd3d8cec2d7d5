/* Compares functions with texts such as "parse@config.c:12". */
#include "symbols/typed_name.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Compares the file with each of its own ends: "a/b.c" has "a/b.c" and "b.c". */
static bool typed_file_matches(const char *file, short_name_test *test, const char *wanted)
{
    for (const char *at = file; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (test(at, wanted))
            return true;
    return false;
}

static bool typed_is_number(const char *text, int base, uint64_t wanted)
{
    char *end;
    const uint64_t number = strtoull(text, &end, base);
    return end != text && !*end && number == wanted;
}

static bool typed_line_matches(const struct named_function *f, short_name_test *test, const char *place)
{
    const char *colon = strrchr(place, ':');
    if (!colon || !f->line || !typed_is_number(colon + 1, 10, f->line))
        return false;
    char *file = need_copy(place, (size_t)(colon - place));
    const bool matches = typed_file_matches(f->file, test, file);
    free(file);
    return matches;
}

/* An address, alone or with a build-id. */
static bool typed_address_matches(const struct named_function *f, const char *place)
{
    const char *colon = strchr(place, ':');
    if (!f->address || strncmp(place, "0x", 2) != 0)
        return false;
    if (!colon)
        return typed_is_number(place, 16, f->address);
    if (f->build_id_length < TYPED_BUILD_ID || strlen(colon + 1) != 2 * TYPED_BUILD_ID)
        return false;
    for (int i = 0; i < TYPED_BUILD_ID; i++) {
        char *byte = need_copy(colon + 1 + 2 * i, 2);
        const bool same = typed_is_number(byte, 16, f->build_id[i]);
        free(byte);
        if (!same)
            return false;
    }
    char *address = need_copy(place, (size_t)(colon - place));
    const bool matches = typed_is_number(address, 16, f->address);
    free(address);
    return matches;
}

bool typed_place_matches(const struct named_function *f, short_name_test *test, const char *place)
{
    if (f->module && test(f->module, place))
        return true;
    if (typed_address_matches(f, place))
        return true;
    return f->file && (typed_file_matches(f->file, test, place) || typed_line_matches(f, test, place));
}

const char *typed_place_of(const char *text)
{
    const char *at = strrchr(text, '@');
    return at && at > text && at[1] ? at : NULL;
}

static bool typed_bare_name_matches(const struct named_function *f, short_name_test *test, const char *text)
{
    return short_name_matches(f->name, test, text) || (f->linkage_name && test(f->linkage_name, text));
}

bool typed_name_matches(const struct named_function *f, short_name_test *test, const char *text)
{
    const char *place = typed_place_of(text);
    if (typed_bare_name_matches(f, test, text))
        return true;
    if (!place || !typed_place_matches(f, test, place + 1))
        return false;
    char *name = need_copy(text, (size_t)(place - text));
    const bool matches = typed_bare_name_matches(f, test, name);
    free(name);
    return matches;
}
