/* Suggestions for a mistyped name, by the edit distance. */
#include "base/suggest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

enum { MAX_LENGTH = 128 /* longer names are not suggested */, LEAST_PART = 3 /* of a name that begins with it */ };

static unsigned suggest_least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The texts have at most MAX_LENGTH characters. Row i of the matrix is for the first i characters of `a`. */
static unsigned suggest_edit_distance(const char *a, size_t a_length, const char *b, size_t b_length)
{
    unsigned d[MAX_LENGTH + 1][MAX_LENGTH + 1];
    for (unsigned i = 0; i <= a_length; i++)
        d[i][0] = i;
    for (unsigned j = 0; j <= b_length; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= a_length; i++)
        for (size_t j = 1; j <= b_length; j++) {
            const unsigned differs = a[i - 1] != b[j - 1];
            d[i][j] = suggest_least(suggest_least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + differs);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = suggest_least(d[i][j], d[i - 2][j - 2] + 1);
        }
    return d[a_length][b_length];
}

const char *suggest(const char *typed, const char *const *names, size_t count)
{
    const size_t length = strlen(typed);
    const char *nearest = NULL;
    unsigned best =
        length < 5 ? 2 : ((unsigned)length + 1) / 3 + 1; /* about a third can be wrong, or one in a short name */
    for (size_t i = 0; i < count && length <= MAX_LENGTH; i++) {
        const size_t other = strlen(names[i]);
        if (strcmp(names[i], typed) == 0)
            return NULL; /* the name exists, so the problem is not its spelling */
        if (other > length + best + 1 || length > other + best + 1)
            continue; /* at least as many characters are missing */
        const unsigned far = other <= MAX_LENGTH ? suggest_edit_distance(typed, length, names[i], other) : MAX_LENGTH;
        if (far < best && far < length && far < other) {
            best = far;
            nearest = names[i];
        }
    }
    for (size_t i = 0; i < count && !nearest && length >= LEAST_PART; i++)
        if (strncmp(names[i], typed, length) == 0)
            nearest = names[i];
    return nearest;
}

const char *suggestion(const char *typed, const char *const *names, size_t count, const char *otherwise)
{
    static _Thread_local char text[MAX_LENGTH + 32];
    const char *meant = suggest(typed, names, count);
    if (!meant)
        return otherwise;
    snprintf(text, sizeof text, "; did you mean '%s'?", meant);
    return text;
}

const char *suggestion_of(const char *typed, const char *names, const char *otherwise)
{
    enum { MAX = 64 };
    const char *list[MAX];
    size_t count = 0;
    char *copy = need_copy(names, strlen(names)), *rest = copy;
    for (char *name; count < MAX && (name = strsep(&rest, ","));)
        list[count++] = name + strspn(name, " ");
    const char *text = suggestion(typed, list, count, otherwise);
    free(copy);
    return text;
}
