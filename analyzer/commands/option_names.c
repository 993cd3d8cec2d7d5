/* Looks up a command's options by name. It suggests an option for a mistyped name or for a name of another tool, and
 * prints the list of options. */
#include "commands/option_names.h"

#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "commands/die.h"

enum { MAX_OPTIONS = 128 };

/* Names from earlier versions or other tools, and the option that does the same here. */
static const struct {
    const char *typed, *option, *meant;
} other_names[] = {
    { "of", "value", "--value" },
    { "time", "value", "--value" },
    { "min-time", "min", "--min" },
    { "percent-limit", "min", "--min" },
    { "filters", "filter-file", "--filter-file" },
    { "filter", "only", "--only" },
    { "by-thread", "by", "--by thread" },
    { "resolution", "timer-period", "--timer-period" },
    { "usage", "help", "--help" },
    { "top", "limit", "--limit" },
    { "function", "root", "--root" },
    { "stdio", "no-pager", "--no-pager" },
};

/* Letters of other tools, and what is done in their place. Without a command, they are of all that read a session. */
static const struct {
    char letter;
    const char *command, *meant;
} other_letters[] = {
    { 'g', "record", "call paths are always recorded" },
    { 'p', "record", "dwell starts the program: dwell record ./prog" },
    { 'i', NULL, "the session is an argument without an option" },
};

static const char *option_other_name(const struct option_list *list, const char *name)
{
    for (size_t i = 0; i < sizeof other_names / sizeof *other_names; i++)
        if (strcmp(other_names[i].typed, name) == 0 && option_find(list, other_names[i].option))
            return other_names[i].meant;
    return NULL;
}

const struct argp_option *option_find(const struct option_list *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->options[i].name && strcmp(list->options[i].name, name) == 0)
            return &list->options[i];
    return NULL;
}

const char *option_suggestion(const struct option_list *list, const char *name, const char *otherwise)
{
    const char *names[MAX_OPTIONS];
    static char text[256];
    size_t count = 0;
    for (size_t i = 0; i < list->count && count < MAX_OPTIONS; i++)
        if (list->options[i].name && !(list->options[i].flags & OPTION_HIDDEN))
            names[count++] = list->options[i].name;
    const char *other = option_other_name(list, name), *meant = other ? other : suggest(name, names, count);
    if (!meant)
        return otherwise;
    snprintf(text, sizeof text, "; did you mean '%s%s'?", other ? "" : "--", meant);
    return text;
}

/* Returns the option of that name, or else the only option with that prefix. Sets *other to a second one with it. */
static const struct argp_option *option_find_prefix(const struct option_list *list, const char *name,
                                                    const struct argp_option **other)
{
    const struct argp_option *found = NULL;
    *other = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct argp_option *o = &list->options[i];
        if (!o->name || strncmp(o->name, name, strlen(name)) != 0)
            continue;
        if (strcmp(o->name, name) == 0) {
            *other = NULL;
            return o;
        }
        if (!found)
            found = o;
        else if (!*other)
            *other = o;
    }
    return found;
}

static bool option_takes_next_word(const struct argp_option *o)
{
    return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

static const struct argp_option *option_find_letter(const struct option_list *list, char letter)
{
    for (size_t i = 0; i < list->count; i++)
        if (list->options[i].key == letter)
            return &list->options[i];
    return NULL;
}

static const char *option_other_letter(const char *command, char letter)
{
    for (size_t i = 0; i < sizeof other_letters / sizeof *other_letters; i++) {
        const char *of = other_letters[i].command;
        if (other_letters[i].letter == letter && (of ? strcmp(of, command) == 0 : strcmp(command, "record") != 0))
            return other_letters[i].meant;
    }
    return NULL;
}

static void __attribute__((noreturn)) option_refuse_letter(const char *command, char letter)
{
    const char *meant = option_other_letter(command, letter);
    die(argp_err_exit_status, "%s: no option '-%c'; %s%sdwell %s --help lists them", command, letter,
        meant ? meant : "", meant ? "; " : "", command);
}

/* Checks a word of short options, such as "-qo". True: the argument of the last one is the next word. */
static bool option_check_letters(const struct option_list *list, const char *command, const char *letters,
                                 const char *next)
{
    for (; *letters; letters++) {
        const struct argp_option *option = option_find_letter(list, *letters);
        if (!option)
            option_refuse_letter(command, *letters);
        if (!option->arg)
            continue;
        if (!letters[1] && option_takes_next_word(option) && !next)
            die(argp_err_exit_status, "%s: -%c needs an argument: %s", command, *letters, option->arg);
        return !letters[1] && option_takes_next_word(option);
    }
    return false;
}

/* Checks a long option without its dashes. True: its argument is the next word. */
static bool option_check_name(const struct option_list *list, const char *command, const char *word, const char *next)
{
    char name[128];
    const struct argp_option *other;
    const size_t length = strcspn(word, "=");
    snprintf(name, sizeof name, "%.*s", (int)length, word);
    const struct argp_option *option = option_find_prefix(list, name, &other);
    const bool is_whole = option && strcmp(option->name, name) == 0;
    if (!option || (!is_whole && option_other_name(list, name)))
        die(argp_err_exit_status, "%s: no option '--%s'%s dwell %s --help lists them", command, name,
            option_suggestion(list, name, ";"), command);
    if (other)
        die(argp_err_exit_status, "%s: '--%s' may be --%s or --%s; type more of it", command, name, option->name,
            other->name);
    if (!option->arg && word[length])
        die(argp_err_exit_status, "%s: --%s takes no argument", command, option->name);
    if (option_takes_next_word(option) && !word[length] && !next)
        die(argp_err_exit_status, "%s: --%s needs an argument: %s", command, option->name, option->arg);
    return option_takes_next_word(option) && !word[length];
}

void option_names_check(const struct option_list *list, const char *command, int argc, char **argv, bool first_ends)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (strncmp(argv[i], "--", 2) == 0)
            i += option_check_name(list, command, argv[i] + 2, next);
        else if (argv[i][0] == '-' && argv[i][1])
            i += option_check_letters(list, command, argv[i] + 1, next);
        else if (first_ends)
            return;
    }
}

/* The short form, or 0 if there is none. */
static char option_short(const struct argp_option *o)
{
    return o->key > ' ' && o->key < 127 ? (char)o->key : '\0';
}

static const char *option_heading(const struct option_list *list, int group)
{
    for (size_t i = 0; i < list->count; i++)
        if (!list->options[i].name && list->options[i].doc && list->options[i].group == group)
            return list->options[i].doc;
    return "-";
}

static void option_print(const struct option_list *list, const struct argp_option *o, const char *words)
{
    const bool is_optional = o->flags & OPTION_ARG_OPTIONAL;
    const char letter[] = { '-', option_short(o), '\0' };
    printf("--%s\t%s\t%s%s%s\t%s\t%s\t%s\n", o->name, letter, is_optional ? "[=" : "", o->arg ? o->arg : "-",
           is_optional ? "]" : "", o->doc ? o->doc : "", option_heading(list, o->group), words ? words : "-");
}

void option_names_print(const struct option_list *list, option_words *words, const void *context)
{
    char buffer[512];
    for (size_t i = 0; i < list->count; i++)
        if (list->options[i].name && !(list->options[i].flags & OPTION_HIDDEN))
            option_print(list, &list->options[i], words(context, &list->options[i], buffer, sizeof buffer));
}
