/* The recorded values of arguments that the calls of a comparison have. */
#ifndef DWELL_CAUSES_WHY_ARGUMENTS_H
#define DWELL_CAUSES_WHY_ARGUMENTS_H

#include "causes/why_traits.h"

/* What one argument is in a call: a word of a number, or a text. */
struct why_argument_value {
    uint32_t call, text; /* text: number in why_argument.texts */
    uint64_t word;
};

struct why_argument {
    struct recorded_value value;
    struct why_argument_value *list; /* numbers */
    size_t count, room;
    struct why_argument_value *words; /* texts; of numbers also those that are none, and what could not be read */
    size_t word_count, word_room;
    struct intern texts;
};

/* All zero is none. */
struct why_arguments {
    struct why_argument list[WHY_MOST_ARGUMENTS];
    size_t count;
};

/* Adds the values of a session's calls, if it has any. */
void why_arguments_read(struct why_arguments *a, const struct why_part *part, const struct why_sampled *calls);

/* Makes an axis of the numbers of each argument. `add` gets the texts, "kind=GET", unless they tell single calls apart.
 */
void why_arguments_end(struct why_arguments *a, struct why_traits *traits,
                       void (*add)(void *context, size_t call, const char *text), void *context);

#endif
