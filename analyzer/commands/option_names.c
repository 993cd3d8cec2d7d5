#include "commands/option_names.h"

#include <stdbool.h>
#include <string.h>

#include "base/suggest.h"
#include "commands/die.h"

enum { MAX_OPTIONS = 128 };

/* Those that argp has of its own. */
static const struct argp_option own[] = {
    { "help", '?', NULL, 0, NULL, 0 },
    { "usage", 'U', NULL, 0, NULL, 0 },
    { "program-name", 'P', "NAME", OPTION_HIDDEN, NULL, 0 },
    { "HANG", 'H', "SECONDS", OPTION_ARG_OPTIONAL | OPTION_HIDDEN, NULL, 0 },
    { 0 },
};

struct option_list {
    const struct argp_option *options[MAX_OPTIONS];
    size_t count;
};

static void option_list_add_options(struct option_list *list, const struct argp_option *options)
{
    for (const struct argp_option *o = options; o && (o->name || o->key || o->doc); o++)
        if (list->count < MAX_OPTIONS)
            list->options[list->count++] = o;
}

static void option_list_add_parser(struct option_list *list, const struct argp *argp)
{
    option_list_add_options(list, argp->options);
    for (const struct argp_child *child = argp->children; child && child->argp; child++)
        option_list_add_parser(list, child->argp);
}

const struct argp_option *option_find(const struct argp *argp, const char *name)
{
    struct option_list list = { .count = 0 };
    option_list_add_parser(&list, argp);
    for (size_t i = 0; i < list.count; i++)
        if (list.options[i]->name && strcmp(list.options[i]->name, name) == 0)
            return list.options[i];
    return NULL;
}

static const char *option_suggestion_in(const struct option_list *list, const char *name, const char *otherwise)
{
    const char *names[MAX_OPTIONS];
    static char text[256];
    size_t count = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->options[i]->name && !(list->options[i]->flags & OPTION_HIDDEN))
            names[count++] = list->options[i]->name;
    const char *meant = suggest(name, names, count);
    if (!meant)
        return otherwise;
    snprintf(text, sizeof text, "; did you mean '--%s'?", meant);
    return text;
}

const char *option_suggestion(const struct argp *argp, const char *name, const char *otherwise)
{
    struct option_list list = { .count = 0 };
    option_list_add_parser(&list, argp);
    return option_suggestion_in(&list, name, otherwise);
}

/* The first one that begins so; which is meant, if there are several, is getopt's question. */
static const struct argp_option *option_find_prefix(const struct option_list *list, const char *name, size_t length)
{
    const struct argp_option *found = NULL;
    for (size_t i = 0; i < list->count; i++) {
        const struct argp_option *o = list->options[i];
        if (!o->name || strncmp(o->name, name, length) != 0)
            continue;
        if (strlen(o->name) == length)
            return o;
        found = found ? found : o;
    }
    return found;
}

static bool option_takes_next_word(const struct argp_option *o)
{
    return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

/* Whether the last of these short options has its argument in the next word. */
static bool option_letters_take_next_word(const struct option_list *list, const char *letters)
{
    for (; *letters; letters++)
        for (size_t i = 0; i < list->count; i++)
            if (list->options[i]->key == *letters && list->options[i]->arg)
                return option_takes_next_word(list->options[i]) && !letters[1];
    return false;
}

void option_names_check(const struct argp *argp, const char *command, int argc, char **argv, int first_ends)
{
    struct option_list list = { .count = 0 };
    option_list_add_parser(&list, argp);
    option_list_add_options(&list, own);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (strncmp(argv[i], "--", 2) != 0) {
            if (argv[i][0] == '-' && argv[i][1])
                i += option_letters_take_next_word(&list, argv[i] + 1);
            else if (first_ends)
                return;
            continue;
        }
        const char *name = argv[i] + 2;
        char wrong[128];
        const size_t length = strcspn(name, "=");
        const struct argp_option *option = option_find_prefix(&list, name, length);
        if (option) {
            i += option_takes_next_word(option) && !name[length];
            continue;
        }
        snprintf(wrong, sizeof wrong, "%.*s", (int)length, name);
        die(argp_err_exit_status, "%s: no option '--%s'%s dwell %s --help lists them", command, wrong,
            option_suggestion_in(&list, wrong, ";"), command);
    }
}
