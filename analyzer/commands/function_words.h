/* The words FUNCTION and FILE of a command, which may stand in either order. */
#ifndef DWELL_COMMANDS_FUNCTION_WORDS_H
#define DWELL_COMMANDS_FUNCTION_WORDS_H

#include <stdbool.h>

#include "commands/option_table.h"

struct function_words {
    const char *command;
    size_t most; /* files; zero: any number */
    const char **words;
    size_t count, room;
};

/* The row of a command's table of options that takes such words. */
#define TAKE_FUNCTION(settings, member)                                                                                \
    TAKE_BY(function_words_take_argument),                                                                             \
        OPTION_MEMBER(settings, member, OPTION_IS(settings, member, struct function_words))
option_reader function_words_take_argument;

/* Takes the next word of the command line. It has to stay valid. Ends the program if there are too many. */
void function_words_add(struct function_words *w, const char *word);

/* Removes the function from the words, and returns it: the sessions are left. It is the first word, or the last one if
 * the first one is more like a session: a session is, then a word of its form, then any other file. Ends the program if
 * there is no word, or only a session. */
const char *function_words_take(struct function_words *w);

/* Whether it is a function's name rather than a session: no such file is there, and it has no session's form. */
bool function_words_is_no_session(const char *word);

/* The only file that is left, or the usual session. */
const char *function_words_file(const struct function_words *w);

void function_words_drop(struct function_words *w);

#endif
