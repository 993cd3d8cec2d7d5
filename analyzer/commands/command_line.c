/* Parses a command's line with argp. Options from the configuration file come first, and unknown names are reported
 * with a suggestion. */
#include "commands/command_line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "commands/config.h"
#include "commands/option_names.h"

/* The state of the parsers. */
struct command_line_input {
    const struct command_line *line;
    void *settings;
    struct shared_options *shared;
    const struct option_list *all;
    const struct argp_option *own;
};

static bool command_line_is_daily(const struct command_line *line, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = line->daily; at; at = strchr(at, ' ')) {
        at += *at == ' ';
        if (strncmp(at, name, length) == 0 && (at[length] == ' ' || !at[length]))
            return true;
    }
    return !line->daily || strcmp(name, "help") == 0 || strcmp(name, "help-all") == 0;
}

/* Whether --help shows an option of this group. */
static bool command_line_has_daily(const struct command_line *line, const struct argp_option *options, int group)
{
    for (const struct argp_option *o = options; o->name || o->key || o->doc; o++)
        if (o->group == group && o->name && command_line_is_daily(line, o->name))
            return true;
    return false;
}

/* Copies the options that --help shows, and the headings of their groups. Returns how many it leaves out. */
static size_t command_line_keep_daily(const struct command_line *line, const struct argp_option *from,
                                      struct argp_option *to)
{
    size_t left_out = 0;
    for (const struct argp_option *o = from; o && (o->name || o->key || o->doc); o++) {
        const bool kept = o->name ? command_line_is_daily(line, o->name) : command_line_has_daily(line, from, o->group);
        if (kept)
            *to++ = *o;
        else
            left_out += o->name && !(o->flags & OPTION_HIDDEN);
    }
    *to = (struct argp_option){ 0 };
    return left_out;
}

/* Leaves out argp's note that arguments of long options are also arguments of short ones. */
static char *command_line_filter_help(int key, const char *text, void *input)
{
    (void)input;
    return key == ARGP_KEY_HELP_DUP_ARGS_NOTE ? NULL : (char *)text;
}

/* Prints the help with the options of daily use, or with all, and ends the program. */
static void command_line_help(const struct command_line_input *in, bool all, char *name) __attribute__((noreturn));
static void command_line_help(const struct command_line_input *in, bool all, char *name)
{
    struct argp_option list[SHARED_ENTRIES + MAX_OWN_OPTIONS], own_list[MAX_OWN_OPTIONS];
    struct command_line shown = *in->line;
    if (all)
        shown.daily = NULL;
    size_t more = command_line_keep_daily(&shown, in->all->options, list);
    more += command_line_keep_daily(&shown, in->own, own_list);
    const char *after = strchr(shown.text, '\v');
    char *text = more ? need_text("%.*s\v'%s --help-all' lists %zu more options.\n\n%s", (int)(after - shown.text),
                                  shown.text, name, more, after + 1)
                      : need_copy(shown.text, strlen(shown.text));
    const struct argp own = { own_list, NULL, NULL, NULL, NULL, NULL, NULL };
    const struct argp_child children[] = { { &own, 0, NULL, 0 }, { 0 } };
    const struct argp argp = { list, NULL, shown.arguments, text, children, command_line_filter_help, NULL };
    terminal_page();
    argp_help(&argp, stdout, ARGP_HELP_STD_HELP, name);
    free(text);
    exit(finish_output());
}

static const char *command_line_words(const void *context, const struct argp_option *option, char *buffer, size_t room)
{
    const struct command_line *line = context;
    const struct option_row *row = option_table_find(line->options, option->key);
    const enum shared_option shared = shared_option_of_key(option->key);
    if (!row && (shared != SHARED_FORMAT || !line->formats))
        return shared_option_words(shared);
    if (!row) {
        snprintf(buffer, room, "%s %s", shared_option_words(shared), line->formats);
        return buffer;
    }
    size_t length = 0;
    for (const struct option_word *word = row->words; word && word->word && length < room; word++)
        length += (size_t)snprintf(buffer + length, room - length, "%s%s", length ? " " : "", word->word);
    return length ? buffer : NULL;
}

static error_t command_line_parse_shared(int key, char *argument, struct argp_state *state)
{
    const struct command_line_input *in = state->input;
    if (key == ARGP_KEY_INIT) {
        state->child_inputs[0] = state->input;
        config_follow(state);
        return 0;
    }
    const enum shared_option option = shared_option_of_key(key);
    switch (option) {
    case SHARED_END:
        return ARGP_ERR_UNKNOWN;
    case SHARED_NO_CONFIG:
        config_follow(NULL); /* options after it are those of the command line */
        return 0;
    case SHARED_HELP:
    case SHARED_HELP_ALL:
        command_line_help(in, option == SHARED_HELP_ALL, state->name);
    case SHARED_PRINT_OPTIONS:
        option_names_print(in->all, command_line_words, in->line);
        exit(finish_output());
    case SHARED_PRINT_TEXT:
        printf("%s\n", in->line->text);
        exit(finish_output());
    default:
        in->shared->set |= UINT64_C(1) << option;
        if (!config_place())
            in->shared->typed |= UINT64_C(1) << option;
        if (option == SHARED_COLUMNS && in->line->columns)
            option_list_columns(argument, in->line->columns, *in->line->column_count);
        if (!in->line->read_shared || !in->line->read_shared(in->settings, option, argument))
            shared_option_read(in->shared, option, argument);
        return 0;
    }
}

static error_t command_line_parse_own(int key, char *argument, struct argp_state *state)
{
    const struct command_line_input *in = state->input;
    if (key == ARGP_KEY_ARG)
        return option_table_take(in->line->options, in->settings, argument, state) ? 0 : ARGP_ERR_UNKNOWN;
    if (key == ARGP_KEY_END && in->line->check)
        in->line->check(in->settings);
    const struct option_row *row = option_table_find(in->line->options, key);
    if (!row)
        return ARGP_ERR_UNKNOWN;
    if (in->line->before)
        in->line->before(in->settings, row, argument);
    option_table_store(row, in->settings, argument);
    return 0;
}

/* All options of the command: the shared ones, an empty one, then its own. */
static size_t command_line_list(const struct command_line *line, struct argp_option *list)
{
    static const struct shared_use config[] = { { SHARED_NO_CONFIG, NULL }, { SHARED_END, NULL } },
                                   help[] = { { SHARED_HELP, NULL },
                                              { SHARED_PRINT_OPTIONS, NULL },
                                              { SHARED_PRINT_TEXT, NULL },
                                              { SHARED_END, NULL } },
                                   short_help[] = { { SHARED_HELP, "with the options of daily use" },
                                                    { SHARED_HELP_ALL, NULL },
                                                    { SHARED_PRINT_OPTIONS, NULL },
                                                    { SHARED_PRINT_TEXT, NULL },
                                                    { SHARED_END, NULL } };
    size_t count = shared_options_append(line->shared, list, 0);
    count = shared_options_append(config_takes(line->name) ? config : config + 1, list, count);
    count = shared_options_append(line->daily ? short_help : help, list, count);
    list[count++] = (struct argp_option){ 0 };
    return option_table_append(line->options, list, count);
}

static void command_line_run(const struct command_line *line, int argc, char **argv, void *settings,
                             struct shared_options *shared, bool with_config)
{
    static char full_name[64];
    struct argp_option list[SHARED_ENTRIES + MAX_OWN_OPTIONS], own_list[MAX_OWN_OPTIONS];
    const struct option_list all = { list, command_line_list(line, list) };
    own_list[option_table_append(line->options, own_list, 0)] = (struct argp_option){ 0 };
    const struct argp own = { own_list, command_line_parse_own, NULL, NULL, NULL, NULL, NULL };
    const struct argp_child children[] = { { &own, 0, NULL, 0 }, { 0 } };
    const struct argp argp = {
        list, command_line_parse_shared, line->arguments, line->text, children, command_line_filter_help, NULL
    };
    struct command_line_input input = { line, settings, shared, &all, own_list };
    json_name_schema(line->name);
    snprintf(full_name, sizeof full_name, "dwell %s", line->name);
    argv[0] = full_name;
    argp_err_exit_status = line->program_follows ? STATUS_OWN_FAILURE : STATUS_ERROR;
    die_enter(DIE_READS_LINE);
    if (!line->program_follows) /* its own options may look so */
        die_find_json(argc, argv);
    char **words = with_config ? config_prepend(&all, line->name, &argc, argv) : NULL;
    option_names_check(&all, line->name, argc, words ? words : argv, line->program_follows);
    if (words)
        message_set_place(config_place);
    argp_parse(&argp, argc, words ? words : argv, ARGP_IN_ORDER | ARGP_NO_HELP, NULL, &input);
    message_set_place(NULL);
    config_follow(NULL);
    free(words); /* the options themselves stay */
    die_enter(DIE_CHECKS_LINE);
}

static void command_line_begin(const struct command_line *line, struct shared_options *shared)
{
    shared->print = table_print_text;
    shared->format = "text";
    shared->needs = line->needs;
}

/* Only what shows a part of a session can show that of some calls. */
static void command_line_check_filters(const struct command_line *line, const struct shared_options *shared)
{
    const struct shared_use *use = line->shared;
    while (use && use->option != SHARED_END && use->option != SHARED_PART && use->option != SHARED_WITHIN)
        use++;
    if (shared->load.selection.valued.count && (!use || use->option == SHARED_END))
        die(STATUS_ERROR, "--filter: '%s': this view takes conditions on columns alone",
            shared->load.selection.valued.list[0]);
}

void command_line_parse(const struct command_line *line, int argc, char **argv, void *settings,
                        struct shared_options *shared)
{
    command_line_begin(line, shared);
    command_line_run(line, argc, argv, settings, shared, config_takes(line->name));
    command_line_check_filters(line, shared);
    terminal_page();
}

bool command_line_parse_sides(const struct command_line *line, int argc, char **argv, void *settings,
                              struct shared_options *shared, void (*go_over)(void *settings))
{
    int middle = 1;
    command_line_begin(line, shared);
    while (middle < argc && strcmp(argv[middle], "--") != 0)
        middle++;
    command_line_run(line, middle, argv, settings, shared, config_takes(line->name));
    const bool has_sides = middle < argc;
    if (has_sides) {
        go_over(settings);
        config_forget(); /* it is read once */
        command_line_run(line, argc - middle, argv + middle, settings, shared, false);
    }
    terminal_page();
    return has_sides;
}
