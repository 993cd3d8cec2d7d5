/*
 * Which activities of trace events a setting of --keep names: a marker of PerfLog by its number, its string or a part
 * of the string between commas; other activities by the name of their class. A pattern may have * and ?.
 */
#ifndef DWELL_KEEP_NAMES_H
#define DWELL_KEEP_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "common.h"
#include "dwell/format_keep.h"

/* What an activity has as names. */
struct activity_names {
    bool marker;     /* a timer of PerfLog; else `text` is the name of the class */
    uint32_t number; /* of the marker */
    struct text text;
};

static inline bool keep_glob_matches(struct text pattern, struct text name)
{
    const char *p = pattern.at, *n = name.at, *star = NULL, *again = NULL;
    const char *const p_end = p + pattern.length, *const n_end = n + name.length;
    while (n < n_end) {
        if (p < p_end && *p == '*') {
            star = p++;
            again = n;
        } else if (p < p_end && (*p == '?' || *p == *n)) {
            p++;
            n++;
        } else if (star) { /* the last star takes one more */
            p = star + 1;
            n = ++again;
        } else {
            return false;
        }
    }
    while (p < p_end && *p == '*')
        p++;
    return p == p_end;
}

static inline bool keep_number_matches(struct text pattern, uint32_t number)
{
    char digits[10], *at = digits + sizeof digits;
    do
        *--at = (char)('0' + number % 10);
    while (number /= 10);
    return keep_glob_matches(pattern, (struct text){ at, (size_t)(digits + sizeof digits - at) });
}

static inline bool keep_part_matches(struct text pattern, struct text name)
{
    const char *at = name.at, *const end = at + name.length;
    for (;;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        if (keep_glob_matches(pattern, (struct text){ at, (size_t)((comma ? comma : end) - at) }))
            return true;
        if (!comma)
            return false;
        at = comma + 1;
    }
}

/* Takes the word from the pattern's begin. */
static inline bool keep_takes_word(struct text *pattern, const char *word)
{
    const size_t length = strlen(word);
    if (pattern->length < length || memcmp(pattern->at, word, length) != 0)
        return false;
    *pattern = (struct text){ (const char *)pattern->at + length, pattern->length - length };
    return true;
}

/* Whether PATTERN, "marker:PATTERN" or "activity:PATTERN" names the activity. */
static inline bool keep_pattern_names(struct text pattern, const struct activity_names *names)
{
    const bool marker = keep_takes_word(&pattern, "marker:"), class = !marker && keep_takes_word(&pattern, "activity:");
    if (!names->marker)
        return !marker && keep_glob_matches(pattern, names->text);
    return !class && (keep_number_matches(pattern, names->number) || keep_glob_matches(pattern, names->text) ||
                      keep_part_matches(pattern, names->text));
}

/* Whether a watch's text, "PATTERN>LIMIT", names it. A text that may have been cut names none. */
static inline bool keep_text_names(const char *text, const struct activity_names *names)
{
    const char *limit = strlen(text) < DWELL_KEEP_TEXT - 1 ? strrchr(text, '>') : NULL;
    return limit && keep_pattern_names((struct text){ text, (size_t)(limit - text) }, names);
}

/* Whether it ends what an earlier setting has begun. */
static inline bool keep_text_is_off(const char *text)
{
    const char *limit = strrchr(text, '>');
    return limit && strcmp(limit, ">off") == 0;
}

#endif
