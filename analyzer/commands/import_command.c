/* dwell import: reads its options and makes a session of another profiler's files. */
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/features.h"

static const struct shared_use shared[] = {
    { SHARED_OUTPUT, "(required); an older session of that name becomes FILE.old" },
    { SHARED_END, NULL },
};

struct import_settings {
    struct shared_options shared;
    const struct import_format *format;
    char **files;
    size_t count, room;
    struct import_options options;
};

static void import_list_formats(void *settings, const struct option_row *row, char *argument)
{
    (void)settings, (void)row, (void)argument;
    for (const struct import_format *const *format = all_imports(); *format; format++)
        printf("%-12s %s\n", (*format)->name, (*format)->does);
    exit(finish_output());
}

static void __attribute__((noreturn)) import_refuse_format(const char *name)
{
    enum { MAX = 64 };
    const char *names[MAX];
    size_t count = 0;
    for (const struct import_format *const *format = all_imports(); *format && count < MAX; format++)
        names[count++] = (*format)->name;
    die(STATUS_ERROR, "no format '%s'%s dwell import --list lists them", name, suggestion(name, names, count, ";"));
}

static void import_take(void *settings, const struct option_row *row, char *argument)
{
    struct import_settings *s = settings;
    (void)row;
    if (!s->format) {
        s->format = find_import(argument);
        if (!s->format)
            import_refuse_format(argument);
        return;
    }
    GROW(s->files, s->count, s->room);
    s->files[s->count++] = argument;
}

static const struct option_row options[] = {
    { "list", NULL, "List the formats", READ_BY(import_list_formats) },
    { "resolution", "HZ", "Times in the files are in ticks, HZ a second (default: nanoseconds, unless a file says it)",
      STORE_NUMBER(struct import_settings, options.resolution, 1000, 1000000000000,
                   "must be from 1000 to 10^12 ticks per second") },
    { TAKE_BY(import_take) },
    { 0 },
};

static const struct command_line line = {
    .name = "import",
    .arguments = "FORMAT FILE...\n--list",
    .text = "Makes a session of what another profiler wrote, for report, tree, callers and info.\vExamples:\n"
            "  dwell import --list\n"
            "  dwell import vsperf app_CallTreeSummary.csv -o app.data",
    .options = options,
    .shared = shared,
};

int command_import(int argc, char **argv)
{
    struct import_settings s = { 0 };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    if (!s.format)
        die(STATUS_ERROR, "import: name a format; dwell import --list lists them");
    if (!s.count)
        die(STATUS_ERROR, "import %s: which FILE?", s.format->name);
    if (!s.shared.output)
        die(STATUS_ERROR, "import %s: say which session file to write, with -o FILE", s.format->name);
    struct error error = { NULL };
    if (!s.format->read(s.files, s.count, &s.options, s.shared.output, &error))
        die_of(&error);
    free(s.files);
    return finish_output();
}
