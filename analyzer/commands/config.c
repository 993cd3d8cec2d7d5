/* Reads the configuration file, lines "COMMAND.OPTION = VALUE", and puts the options of one command before its
 * arguments. */
#include "commands/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "commands/commands.h"
#include "commands/option_names.h"

static const char *const configurable[] = { "report", "top",    "tree",     "callers",   "waits",   "critical",
                                            "whatif", "advise", "annotate", "histogram", "slowest", "why",
                                            "diff",   "marks",  "replay",   "events",    "view" };

static char no_config[] = "--no-config";

/* The parsed file. Settings of commands point into its texts until the program ends. */
static struct {
    char *path;
    char **arguments, **places; /* each option of the file, and its place */
    size_t count, room, place_room;
    const struct argp_state *state; /* of the parser; NULL if it is past the options of the file */
} config;

void config_follow(const struct argp_state *state)
{
    config.state = state;
}

void config_forget(void)
{
    config.count = 0;
}

const char *config_place(void)
{
    const int at = config.state ? config.state->next - 2 : -1;
    return at >= 0 && (size_t)at < config.count ? config.places[at] : NULL;
}

bool config_takes(const char *command)
{
    for (size_t i = 0; i < sizeof configurable / sizeof *configurable; i++)
        if (strcmp(configurable[i], command) == 0)
            return true;
    return false;
}

static bool config_is_refused(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strlen(argv[i]) > strlen("--no-") && strncmp(argv[i], no_config, strlen(argv[i])) == 0)
            return true;
    return false;
}

/* ---- the file ---- */

/* Returns NULL if the environment names no directory for it. */
static char *config_find_path(void)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    const bool own = folder && *folder == '/'; /* XDG says to ignore relative paths */
    if (!own && (!home || !*home))
        return NULL;
    return need_text("%s%s/dwell/config", own ? folder : home, own ? "" : "/.config");
}

static void config_add_argument(const char *name, const char *value, unsigned line)
{
    char *argument = need_text("--%s%s%s", name, value ? "=" : "", value ? value : "");
    char *place = need_text("%s:%u", config.path, line);
    size_t count = config.count;
    GROW(config.arguments, count, config.room);
    GROW(config.places, count, config.place_room);
    config.arguments[config.count] = argument;
    config.places[config.count++] = place;
}

/* A flag takes yes or no. An option with an optional argument takes yes, no or the argument. */
static void config_add_option(const struct argp_option *option, const char *value, unsigned line)
{
    const bool may_be_flag = !option->arg || option->flags & OPTION_ARG_OPTIONAL;
    if (may_be_flag && strcmp(value, "no") == 0)
        return;
    if (may_be_flag && strcmp(value, "yes") == 0)
        config_add_argument(option->name, NULL, line);
    else if (option->arg)
        config_add_argument(option->name, value, line);
    else
        die(STATUS_ERROR, "%s:%u: '%s' is neither yes nor no", config.path, line, value);
}

static char *config_trim_blanks(char *text)
{
    static const char blanks[] = " \t\r\n";
    text += strspn(text, blanks);
    size_t length = strlen(text);
    while (length && strchr(blanks, text[length - 1]))
        text[--length] = '\0';
    return text;
}

static void config_add_line(const struct option_list *options, const char *name, char *text, unsigned line)
{
    char *command = config_trim_blanks(text), *equals = strchr(command, '=');
    if (!*command || *command == '#')
        return;
    if (equals)
        *equals = '\0';
    char *dot = strchr(command, '.'), *value = equals ? config_trim_blanks(equals + 1) : NULL;
    if (!dot || !value || !*value)
        die(STATUS_ERROR, "%s:%u: not a line such as 'report.columns = calls,elapsed_exclusive'", config.path, line);
    *dot = '\0';
    if (!config_takes(command))
        die(STATUS_ERROR, "%s:%u: '%s' is not a command that takes options from this file%s", config.path, line,
            command, suggestion(command, configurable, sizeof configurable / sizeof *configurable, ""));
    if (strcmp(command, name) != 0)
        return;
    const struct argp_option *option = option_find(options, config_trim_blanks(dot + 1));
    if (!option || strcmp(option->name, no_config + strlen("--")) == 0)
        die(STATUS_ERROR, "%s:%u: dwell %s has no option '--%s'%s", config.path, line, command,
            config_trim_blanks(dot + 1), option_suggestion(options, config_trim_blanks(dot + 1), ""));
    config_add_option(option, value, line);
}

static void config_read_file(const struct option_list *options, const char *name)
{
    FILE *in = fopen(config.path, "re");
    if (!in && (errno == ENOENT || errno == ENOTDIR))
        return;
    if (!in && errno == EACCES) { /* HOME may be another user's */
        say("%s: %s, so its options are not used", config.path, strerror(errno));
        return;
    }
    if (!in)
        die(STATUS_ERROR, "%s: %s", config.path, strerror(errno));
    char *text = NULL;
    size_t room = 0;
    errno = 0;
    for (unsigned line = 1; getline(&text, &room, in) >= 0; line++)
        config_add_line(options, name, text, line);
    if (ferror(in))
        die(STATUS_ERROR, "%s: %s", config.path, strerror(errno));
    free(text);
    fclose(in);
}

char **config_prepend(const struct option_list *options, const char *command, int *argc, char **argv)
{
    config.path = config_is_refused(*argc, argv) ? NULL : config_find_path();
    if (config.path)
        config_read_file(options, command);
    char **all = need_memory((size_t)*argc + config.count + 2, sizeof *all);
    int count = 0;
    all[count++] = argv[0];
    for (size_t i = 0; i < config.count; i++)
        all[count++] = config.arguments[i];
    all[count++] = no_config;
    for (int i = 1; i < *argc; i++)
        all[count++] = argv[i];
    *argc = count;
    return all;
}
