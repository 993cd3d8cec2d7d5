/* Numbers with their nouns, so that one is never "1 calls". */
#ifndef DWELL_BASE_COUNTED_TEXT_H
#define DWELL_BASE_COUNTED_TEXT_H

#include <stdint.h>

struct counted_text {
    char text[80];
};

/* "1 call", "2 calls", "3 processes". Of several words, the last one has the plural. */
struct counted_text counted_text(uint64_t count, const char *noun);

/* The same as an argument of printf. */
#define COUNTED(count, noun) counted_text((uint64_t)(count), (noun)).text

/* The noun without the number, which stands before it in another form: "3.5 k", "event". */
struct counted_text counted_noun(uint64_t count, const char *noun);
#define COUNTED_NOUN(count, noun) counted_noun((uint64_t)(count), (noun)).text

/* Both with a verb: "1 event was", "2 events were"; and "events were". */
struct counted_text counted_text_was(uint64_t count, const char *noun);
struct counted_text counted_noun_was(uint64_t count, const char *noun);
#define COUNTED_WAS(count, noun) counted_text_was((uint64_t)(count), (noun)).text
#define COUNTED_NOUN_WAS(count, noun) counted_noun_was((uint64_t)(count), (noun)).text

/* A word that goes with the number, such as "was" or "were". */
static inline const char *counted_word(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

#endif
