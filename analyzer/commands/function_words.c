/* Tells which word of a command line names a function, and which ones are sessions. */
#include "commands/function_words.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "commands/die.h"
#include "trace/session_file.h"

void function_words_add(struct function_words *w, const char *word)
{
    if (w->most && w->count > w->most)
        die(STATUS_ERROR, "%s: one function and one session at a time: '%s' is a third word", w->command, word);
    GROW(w->words, w->count, w->room);
    w->words[w->count++] = word;
}

/* A word that has a slash or ends like a session is one, though it may not be there. */
static bool function_words_is_file(const char *word)
{
    static const char ending[] = ".data";
    struct stat status;
    const size_t length = strlen(word);
    return (stat(word, &status) == 0 && !S_ISDIR(status.st_mode)) || word[0] == '/' ||
           (length >= sizeof ending && strcmp(word + length - (sizeof ending - 1), ending) == 0);
}

const char *function_words_take(struct function_words *w)
{
    if (w->count == 0)
        die(STATUS_ERROR, "%s: which FUNCTION? dwell report lists them", w->command);
    const size_t last = w->count - 1;
    const size_t at = function_words_is_file(w->words[last]) && !function_words_is_file(w->words[0]) ? 0 : last;
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
