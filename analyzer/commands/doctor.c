/* dwell doctor: what works here and what does not, and how to mend it. */
#include "commands/doctor.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/commands.h"

enum { OPTION_FORMAT = 256 };

static const struct argp_option options[] = {
    { "output", 'o', "FILE", 0, "Where the session would be written (default: dwell.data)", 0 },
    { "format", OPTION_FORMAT, "FORMAT", 0, "text (default), csv or json", 0 },
    { 0 },
};

struct doctor_settings {
    const char *program, *output;
    table_printer *print;
};

static error_t doctor_parse_option(int key, char *argument, struct argp_state *state)
{
    struct doctor_settings *s = state->input;
    switch (key) {
    case 'o':
        s->output = argument;
        return 0;
    case OPTION_FORMAT:
        s->print = option_format(argument);
        return 0;
    case ARGP_KEY_ARG:
        if (s->program)
            die(STATUS_ERROR, "one program at a time: '%s' is a second one", argument);
        s->program = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

void find_that(struct findings *f, enum health health, const char *what, const char *format, ...)
{
    va_list arguments;
    GROW(f->list, f->count, f->room);
    struct finding *finding = &f->list[f->count++];
    *finding = (struct finding){ .health = health, .what = what };
    va_start(arguments, format);
    finding->says = need_vtext(format, arguments);
    va_end(arguments);
}

static const char *const names[] = { [HEALTH_OK] = "ok", [HEALTH_WARN] = "warn", [HEALTH_BAD] = "bad" };

static void doctor_print_text(const struct findings *f)
{
    size_t width = 0;
    for (size_t i = 0; i < f->count; i++)
        if (strlen(f->list[i].what) > width)
            width = strlen(f->list[i].what);
    for (size_t i = 0; i < f->count; i++) {
        const struct finding *finding = &f->list[i];
        printf("%-4s  %-*s  ", names[finding->health], (int)width, finding->what);
        for (const char *at = finding->says; *at; at++) /* paths may hold anything */
            putchar((unsigned char)*at < ' ' || *at == 127 ? '?' : *at);
        putchar('\n');
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

int command_doctor(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        doctor_parse_option,
        "[PROGRAM]",
        "Tells what of recording works here, what does not, and how to mend it; and what there is to record in "
        "PROGRAM.\v"
        "Each line says ok, warn (recording works, but something is missing or slow) or bad (it does not). The exit "
        "status is 0 if nothing is bad, else 1.\n\nExamples:\n"
        "  dwell doctor\n"
        "  dwell doctor ./prog\n"
        "  dwell doctor -o /mnt/big/dwell.data ./prog",
        NULL,
        NULL,
        NULL,
    };
    struct doctor_settings s = { .output = DEFAULT_SESSION, .print = table_print_text };
    parse_options(&argp, "doctor", argc, argv, &s);
    struct findings f = { NULL, 0, 0 };
    if (s.program)
        examine_program(&f, s.program);
    examine_machine(&f, s.output);
    if (s.print == table_print_text)
        doctor_print_text(&f);
    else
        doctor_print_table(&f, s.print);
    bool bad = false;
    for (size_t i = 0; i < f.count; i++) {
        bad |= f.list[i].health == HEALTH_BAD;
        free(f.list[i].says);
    }
    free(f.list);
    const int status = finish_output();
    return status ? status : bad ? STATUS_FINDING : STATUS_OK;
}
