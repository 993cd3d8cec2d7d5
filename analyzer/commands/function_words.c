/* Tells which word of a command line names a function, and which ones are sessions. */
#include "commands/function_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/die.h"
#include "commands/find_session.h"
#include "trace/session_file.h"

void function_words_add(struct function_words *w, const char *word)
{
    if (w->most && w->count > w->most)
        die(STATUS_ERROR, "%s: one function and one session at a time: '%s' is a third word", w->command, word);
    GROW(w->words, w->count, w->room);
    w->words[w->count++] = word;
}

/* Whether the word names a session. One that is not there is known by its form. */
static bool function_words_is_session(const char *word)
{
    static const char ending[] = ".data";
    const size_t length = strlen(word);
    const int fd = session_open_raw(word, O_RDONLY);
    if (fd >= 0)
        close(fd);
    return fd >= 0 ||
           (errno != EINVAL &&
            (word[0] == '/' || (length >= sizeof ending && strcmp(word + length - (sizeof ending - 1), ending) == 0)));
}

const char *function_words_take(struct function_words *w)
{
    if (w->count == 0)
        die(STATUS_ERROR, "%s: which FUNCTION? dwell report lists them", w->command);
    const size_t last = w->count - 1;
    const size_t at = function_words_is_session(w->words[0]) && !function_words_is_session(w->words[last]) ? last : 0;
    const char *function = w->words[at];
    memmove(w->words + at, w->words + at + 1, (last - at) * sizeof *w->words);
    w->count--;
    return function;
}

const char *function_words_file(const struct function_words *w)
{
    return w->count ? w->words[0] : DWELL_USUAL_FILE;
}

void function_words_drop(struct function_words *w)
{
    free(w->words);
}
