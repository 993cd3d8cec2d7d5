/* dwell doctor: reports what works on this machine, what does not, and how to mend it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/visible.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "recorder/findings.h"

static const struct shared_use shared[] = {
    { SHARED_OUTPUT, "(default: dwell.data): checked, not written" },
    { SHARED_FORMAT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_END, NULL },
};

struct doctor_settings {
    struct shared_options shared;
    const char *program;
    char *keep_free; /* bytes, as a decimal number; NULL for the default */
};

static void doctor_take(void *settings, const struct option_row *row, char *argument)
{
    struct doctor_settings *s = settings;
    (void)row;
    if (s->program)
        die(STATUS_ERROR, "one program at a time: '%s' is a second one", argument);
    s->program = argument;
}

static void doctor_set_keep_free(struct doctor_settings *s, const char *option, const char *text)
{
    free(s->keep_free);
    s->keep_free =
        need_text("%" PRIu64, option_size(option, text, 0, UINT64_MAX / 4, "a number of bytes, such as 500M or 2G"));
}

static void doctor_read_keep_free(void *settings, const struct option_row *row, char *text)
{
    (void)row;
    doctor_set_keep_free(settings, "--keep-free", text);
}

static const struct option_row options[] = {
    { "keep-free", "SIZE", "What a recording is to leave free of the disk, as of dwell record",
      READ_BY(doctor_read_keep_free) },
    { TAKE_BY(doctor_take) },
    { 0 },
};

static const char *const names[] = { [HEALTH_OK] = "ok", [HEALTH_WARN] = "warn", [HEALTH_BAD] = "bad" };

static void doctor_print_text(const struct findings *f)
{
    size_t width = 0;
    for (size_t i = 0; i < f->count; i++)
        if (strlen(f->list[i].what) > width)
            width = strlen(f->list[i].what);
    for (size_t i = 0; i < f->count; i++) {
        const struct finding *finding = &f->list[i];
        print_text(stdout, "%-4s  %-*s  %s\n", names[finding->health], (int)width, finding->what, finding->says);
    }
}

static void doctor_print_table(const struct findings *f, table_printer *print)
{
    static const struct column columns[] = {
        { "health", "HEALTH", CELL_TEXT, USE_ALWAYS, false },
        { "what", "WHAT", CELL_TEXT, USE_ALWAYS, false },
        { "says", "SAYS", CELL_TEXT, USE_ALWAYS, false },
    };
    struct table table = table_make(columns, sizeof columns / sizeof *columns, NULL);
    for (size_t i = 0; i < f->count; i++) {
        struct cell *row = table_row(&table);
        cell_text(&row[0], names[f->list[i].health]);
        cell_text(&row[1], f->list[i].what);
        cell_text(&row[2], f->list[i].says);
    }
    print(&table, stdout);
    table_drop(&table);
}

static const struct command_line line = {
    .name = "doctor",
    .arguments = "[PROGRAM]",
    .text = "Reports what of recording works here, what does not, and how to mend it; and what there is to record in "
            "PROGRAM.\v"
            "Each line begins with ok, warn (recording works, but something is missing or slow) or bad (it does not "
            "work). The exit status is 1 if anything is bad, else 0.\n\nExamples:\n"
            "  dwell doctor\n"
            "  dwell doctor ./prog\n"
            "  dwell doctor -o /mnt/big/dwell.data ./prog",
    .options = options,
    .shared = shared,
};

int command_doctor(int argc, char **argv)
{
    struct doctor_settings s = { 0 };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    if (!s.keep_free && getenv("DWELL_KEEP_FREE"))
        doctor_set_keep_free(&s, "DWELL_KEEP_FREE", getenv("DWELL_KEEP_FREE"));
    struct findings f = { NULL, 0, 0 };
    if (s.program)
        examine_program(&f, s.program);
    examine_machine(&f, s.shared.output ? s.shared.output : DEFAULT_SESSION, s.keep_free);
    free(s.keep_free);
    if (s.shared.print == table_print_text)
        doctor_print_text(&f);
    else
        doctor_print_table(&f, s.shared.print);
    bool bad = false;
    for (size_t i = 0; i < f.count; i++) {
        bad |= f.list[i].health == HEALTH_BAD;
        free(f.list[i].says);
    }
    free(f.list);
    const int status = finish_output();
    return status ? status : bad ? STATUS_FINDING : STATUS_OK;
}
