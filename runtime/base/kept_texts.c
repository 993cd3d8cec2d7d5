/* A list of texts, in memory that is never given back. */
#include "kept_texts.h"

#include <string.h>

#include "sys.h"

struct kept_text {
    struct kept_text *next;
    size_t length;
    char at[];
};

struct text text_keep(struct text text)
{
    static struct kept_text *all;
    static char *place;
    static size_t left;
    for (const struct kept_text *kept = all; kept; kept = kept->next)
        if (kept->length == text.length && memcmp(kept->at, text.at, text.length) == 0)
            return (struct text){ kept->at, kept->length };
    const size_t size = (sizeof *all + text.length + 7) & ~(size_t)7;
    if (left < size) {
        left = size > 4 * PAGE ? size : 4 * PAGE;
        place = sys_memory(left);
    }
    if (!place) {
        left = 0;
        return (struct text){ "", 0 };
    }
    struct kept_text *kept = (struct kept_text *)place;
    *kept = (struct kept_text){ all, text.length };
    memcpy(kept->at, text.at, text.length);
    all = kept;
    place += size;
    left -= size;
    return (struct text){ kept->at, kept->length };
}
