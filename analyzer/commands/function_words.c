/* Tells which word of a command line names a function, and which ones are sessions. */
#include "commands/function_words.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/die.h"
#include "trace/raw_session.h"
#include "trace/session_file.h"

void function_words_add(struct function_words *w, const char *word)
{
    if (w->most && w->count > w->most)
        die(STATUS_ERROR, "%s: one function and one session at a time: '%s' is a third word", w->command, word);
    GROW(w->words, w->count, w->room);
    w->words[w->count++] = word;
}

void function_words_take_argument(void *settings, const struct option_row *row, char *argument)
{
    function_words_add((struct function_words *)(void *)((char *)settings + row->at), argument);
}

/* A session that is not there is known by its form. */
static bool function_words_has_form(const char *word)
{
    static const char *const endings[] = { ".data", ".dwell" };
    const size_t length = strlen(word);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t ending = strlen(endings[i]);
        if (length > ending && strcmp(word + length - ending, endings[i]) == 0)
            return true;
    }
    return word[0] == '/';
}

/* Whether it is a pattern of files of which there are some. */
static bool function_words_matches_files(const char *word)
{
    glob_t found = { 0 };
    if (!strpbrk(word, "*?["))
        return false;
    const bool matches = glob(word, 0, NULL, &found) == 0;
    globfree(&found);
    return matches;
}

/* How much speaks for a session, and against a function's name. */
static int function_words_likeness(const char *word)
{
    struct stat status;
    const int fd = session_open_raw(word, O_RDONLY);
    if (fd >= 0) {
        close(fd);
        return 3;
    }
    if (function_words_has_form(word) || function_words_matches_files(word))
        return 2;
    return stat(word, &status) == 0;
}

/* Whether the only word is a session and no function: there would be no other session, or it has a session's form. */
static bool function_words_is_session_alone(const char *word)
{
    return function_words_likeness(word) == 3 && (function_words_has_form(word) || access(DWELL_USUAL_FILE, F_OK) != 0);
}

const char *function_words_take(struct function_words *w)
{
    if (w->count == 0)
        die(STATUS_ERROR, "%s: which FUNCTION? dwell report lists them", w->command);
    const size_t last = w->count - 1;
    if (last == 0 && function_words_is_session_alone(w->words[0]))
        die(STATUS_ERROR, "%s: which FUNCTION of '%s'? dwell report %s lists them", w->command, w->words[0],
            w->words[0]);
    const size_t at = function_words_likeness(w->words[0]) > function_words_likeness(w->words[last]) ? last : 0;
    const char *function = w->words[at];
    memmove(w->words + at, w->words + at + 1, (last - at) * sizeof *w->words);
    w->count--;
    return function;
}

bool function_words_is_no_session(const char *word)
{
    return function_words_likeness(word) == 0;
}

const char *function_words_file(const struct function_words *w)
{
    return w->count ? w->words[0] : DWELL_USUAL_FILE;
}

void function_words_drop(struct function_words *w)
{
    free(w->words);
}
