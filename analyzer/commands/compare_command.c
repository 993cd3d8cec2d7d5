/* dwell compare: records two programs in turn, several times each, and prints how they differ. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/terminal.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/diff_result.h"
#include "commands/record_options.h"
#include "comparison/diff.h"
#include "recorder/executable.h"
#include "recorder/record_child.h"
#include "recorder/record_series.h"

enum { USUAL_RUNS = 5, MAX_CONDITIONS = 64 };

static const struct shared_use shared[] = {
    { SHARED_OUTPUT, "(default: compare.data): the sessions are FILE-before-1.data, FILE-after-1.data, ..." },
    { SHARED_FORMAT, ", or markdown, github, junit: that of dwell diff" },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_END, NULL },
};

/* Begins with the settings of the recordings, which the parser of their options reads. */
struct compare_settings {
    struct record_settings record;
    const char *conditions[MAX_CONDITIONS];
    size_t condition_count;
    const char *format;
    bool csv_safe;
};

static void compare_add_condition(void *settings, const struct option_row *row, char *argument)
{
    struct compare_settings *s = settings;
    struct gate gate;
    struct error error = { NULL };
    (void)row;
    if (s->condition_count == MAX_CONDITIONS)
        die(STATUS_OWN_FAILURE, "--fail-if: more than %d conditions", MAX_CONDITIONS);
    struct exponent_gates exponents = { .list = NULL };
    const bool good = exponent_gate_is(argument) ? exponent_gates_add(&exponents, argument, &error)
                                                 : diff_gate_parse(&gate, argument, &error);
    exponent_gates_drop(&exponents);
    if (!good)
        die(STATUS_OWN_FAILURE, "--fail-if '%s': %s", argument, error.text);
    s->conditions[s->condition_count++] = argument;
}

static const struct option_row fail_if = {
    "fail-if", "CONDITION", "Exit with status 1 if a row meets it: see dwell diff --help; may be repeated",
    READ_BY(compare_add_condition)
};

static bool compare_read_shared(void *settings, enum shared_option option, const char *argument)
{
    struct compare_settings *s = settings;
    s->csv_safe |= option == SHARED_CSV_SAFE;
    if (option != SHARED_FORMAT)
        return false;
    option_check("--format", argument, "text, csv, json, markdown, github, junit");
    s->format = argument;
    return true;
}

/* The options of dwell compare and of dwell record. */
static void compare_list_options(struct option_row list[MAX_OWN_OPTIONS])
{
    size_t count = 0;
    list[count++] = fail_if;
    do
        list[count] = record_own_options[count - 1];
    while (list[count++].kind != OPTION_END);
}

/* Those of a recording are given to each. */
static void compare_forward(void *settings, const struct option_row *row, const char *argument)
{
    if (row->read != compare_add_condition)
        record_forward(settings, row, argument);
}

static void compare_parse(struct compare_settings *s, int argc, char **argv)
{
    struct option_row options[MAX_OWN_OPTIONS];
    compare_list_options(options);
    const struct command_line line = {
        .name = "compare",
        .daily = "output quiet runs fail-if format mode overhead call-sites only suppress",
        .arguments = "OLD NEW [-- ARG...]",
        .text = "Records two programs with the same arguments, in turn and several times each, and prints how they "
                "differ.\v"
                "The order alternates: old, new, new, old. So a machine that becomes slower does so for both. The "
                "sessions stay, and the report is that of dwell diff, which tests times for significance. All options "
                "of dwell record are for each recording. If a program fails, no other run follows. With a --format "
                "other than text, the programs' standard output goes to standard error.\n\nExamples:\n"
                "  dwell compare ./old ./new -- input.txt\n"
                "  dwell compare --runs 10 --mode profile ./old ./new\n"
                "  dwell compare --fail-if 'calls > +0' --format markdown ./old ./new > comment.md",
        .options = options,
        .before = compare_forward,
        .check = record_check_options,
        .shared = shared,
        .formats = DIFF_FORMATS,
        .read_shared = compare_read_shared,
        .program_follows = true,
    };
    struct shared_options common = { .output = "compare.data" };
    *s = (struct compare_settings){ .record = { .sample_rate = -1, .runs = USUAL_RUNS } };
    command_line_parse(&line, argc, argv, s, &common);
    s->record.output = common.output;
    shared_options_drop(&common);
}

/* A program's words: itself and the arguments after --. The caller frees the list. */
static char **compare_words(char **programs, size_t which)
{
    size_t first = 2, count = 0;
    if (programs[first] && strcmp(programs[first], "--") == 0)
        first++;
    else if (programs[first])
        die(STATUS_OWN_FAILURE, "compare: '%s' is a third program; write -- before the arguments of both",
            programs[first]);
    while (programs[first + count])
        count++;
    char **words = need_memory(count + 2, sizeof *words);
    words[0] = programs[which];
    memcpy(words + 1, programs + first, count * sizeof *words);
    return words;
}

static void compare_check_program(const char *program)
{
    struct executable e = executable_examine(program);
    if (e.status) {
        die_enter(DIE_WORKS);
        die(e.status, "%s: %s", program, e.wrong);
    }
    free(e.path);
}

/* Prints the report of the sessions as dwell diff does. Returns its exit status. */
static int compare_report(const struct compare_settings *s, const struct series_program programs[DIFF_SIDES])
{
    const unsigned runs = s->record.runs;
    char **words = need_memory(2 * runs + 2 * s->condition_count + 7, sizeof *words), format[] = "--format",
         fail_if[] = "--fail-if", csv_safe[] = "--csv-safe", name[] = "diff", middle[] = "--";
    int count = 0;
    words[count++] = name;
    if (s->format) {
        words[count++] = format;
        words[count++] = (char *)s->format;
    }
    if (s->csv_safe)
        words[count++] = csv_safe;
    for (size_t i = 0; i < s->condition_count; i++) {
        words[count++] = fail_if;
        words[count++] = (char *)s->conditions[i];
    }
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (side)
            words[count++] = middle;
        for (unsigned run = 0; run < runs; run++)
            words[count++] = programs[side].sessions[run];
    }
    terminal_allow_pager();
    terminal_page();
    const int status = command_diff(count, words);
    free(words);
    return status;
}

int command_compare(int argc, char **argv)
{
    static const char *const labels[DIFF_SIDES] = { "before", "after" };
    struct compare_settings s;
    struct series_program programs[DIFF_SIDES] = { { .label = NULL } };
    compare_parse(&s, argc, argv);
    if (!s.record.program[1] || strcmp(s.record.program[1], "--") == 0)
        die(STATUS_OWN_FAILURE, "compare: which OLD and NEW program? See dwell compare --help");
    for (int side = 0; side < DIFF_SIDES; side++) {
        compare_check_program(s.record.program[side]);
        programs[side] =
            (struct series_program){ .label = labels[side], .words = compare_words(s.record.program, (size_t)side) };
    }
    die_enter(DIE_WORKS);
    const bool text = !s.format || strcmp(s.format, "text") == 0;
    struct error error = { NULL };
    const int failed = series_record(&s.record, programs, DIFF_SIDES, !text, &error);
    if (error.text)
        die(STATUS_OWN_FAILURE, "%s", error.text);
    for (int side = 0; side < DIFF_SIDES && !failed && !s.record.quiet; side++) {
        char *took = series_describe(&programs[side], s.record.runs);
        say("%s: %s", labels[side], took);
        free(took);
    }
    const int status = failed ? record_child_end_as(failed) : compare_report(&s, programs);
    for (int side = 0; side < DIFF_SIDES; side++)
        free((void *)programs[side].words);
    series_drop(programs, DIFF_SIDES, s.record.runs);
    record_settings_drop(&s.record);
    return status;
}
