#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "commands/commands.h"
#include "import/imports.h"

enum { OPTION_LIST = 256, OPTION_RESOLUTION };

static const struct argp_option options[] = {
    { "output", 'o', "OUT", 0, "The session file to write; an older session of that name becomes OUT.old", 0 },
    { "list", OPTION_LIST, NULL, 0, "List the formats", 0 },
    { "resolution", OPTION_RESOLUTION, "HZ", 0,
      "Ticks per second of the times in the files (default: nanoseconds, unless a file tells)", 0 },
    { 0 },
};

struct import_settings {
    const struct import_format *format;
    char **files;
    size_t count, room;
    const char *output;
    struct import_options options;
};

static void import_list_formats(void)
{
    for (const struct import_format *format = import_formats; format->name; format++)
        printf("%-12s %s\n", format->name, format->does);
}

static void __attribute__((noreturn)) import_refuse_format(const char *name)
{
    enum { MAX = 64 };
    const char *names[MAX];
    size_t count = 0;
    for (const struct import_format *format = import_formats; format->name && count < MAX; format++)
        names[count++] = format->name;
    die(STATUS_ERROR, "no format '%s'%s dwell import --list lists them", name, suggestion(name, names, count, ";"));
}

static error_t import_parse_option(int key, char *argument, struct argp_state *state)
{
    struct import_settings *s = state->input;
    switch (key) {
    case 'o':
        s->output = argument;
        return 0;
    case OPTION_LIST:
        import_list_formats();
        exit(finish_output());
    case OPTION_RESOLUTION:
        s->options.resolution = option_number("--resolution", argument);
        if (s->options.resolution < 1000 || s->options.resolution > 1000000000000)
            die(STATUS_ERROR, "--resolution: must be from 1000 to 10^12 ticks per second");
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0) {
            s->format = import_find(argument);
            if (!s->format)
                import_refuse_format(argument);
            return 0;
        }
        GROW(s->files, s->count, s->room);
        s->files[s->count++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int command_import(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        import_parse_option,
        "FORMAT FILE...\n--list",
        "Makes a session of what another profiler wrote, for report, tree, callers and info.\vExamples:\n"
        "  dwell import --list\n"
        "  dwell import vsperf app_CallTreeSummary.csv -o app.data",
        NULL,
        NULL,
        NULL,
    };
    struct import_settings s = { 0 };
    parse_options(&argp, "import", argc, argv, &s);
    if (!s.format)
        die(STATUS_ERROR, "import: name a format; dwell import --list lists them");
    if (!s.count)
        die(STATUS_ERROR, "import %s: which FILE?", s.format->name);
    if (!s.output)
        die(STATUS_ERROR, "import %s: say which session file to write, with -o OUT", s.format->name);
    struct error error = { NULL };
    if (!s.format->read(s.files, s.count, &s.options, s.output, &error))
        die_of(&error);
    free(s.files);
    return finish_output();
}
