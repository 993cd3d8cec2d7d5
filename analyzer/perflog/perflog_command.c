/* dwell perflog: reads its options, loads the log of markers that a program wrote, and prints it or compares two
 * logs. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/quote.h"
#include "base/suggest.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "perflog/perflog_compare.h"
#include "perflog/perflog_feature.h"
#include "report/text_lines.h"

static const struct shared_use shared[] = {
    { SHARED_SORT, "(default: total), or by order, as in the log" },
    { SHARED_LIMIT, "(default: 40 in text)" },
    { SHARED_FORMAT, NULL },
    { SHARED_UNITS, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_END, NULL },
};

enum { TEXT_LIMIT = 40, TEXT_LINES = 8 };

struct perflog_settings {
    struct shared_options shared;
    char **files;
    int file_count;
    struct perflog_choice choice;
    bool monitors, diff;
    int before; /* number of files before --; -1 if there is none */
    struct gate *gates;
    size_t gate_count, gate_room;
    uint64_t resolution;
};

static void perflog_add_gate(void *settings, const struct option_row *row, char *text)
{
    struct perflog_settings *s = settings;
    struct error error = { NULL };
    (void)row;
    GROW(s->gates, s->gate_count, s->gate_room);
    if (!perflog_gate_parse(&s->gates[s->gate_count++], text, &error))
        die(STATUS_ERROR, "--fail-if '%s': %s", text, error.text);
}

static void perflog_take(void *settings, const struct option_row *row, char *argument)
{
    struct perflog_settings *s = settings;
    (void)row;
    s->files[s->file_count++] = argument;
}

static const struct option_row options[] = {
    { "instances", NULL, "A row for each registration of a marker instead of one for each name",
      STORE_FLAG(struct perflog_settings, choice.instances) },
    { "monitors", NULL, "In text and csv: show CPU and memory instead of the markers",
      STORE_FLAG(struct perflog_settings, monitors) },
    { "diff", NULL, "Compare two logs, or those before and after --, the largest change of a total first",
      STORE_FLAG(struct perflog_settings, diff) },
    { "fail-if", "CONDITION",
      "With --diff: exit with status 1 if a marker meets it: 'mean > +10%', 'total > +5ms', 'count > +0'; may be "
      "repeated",
      READ_BY(perflog_add_gate) },
    { "resolution", "HZ", "Durations are in ticks, HZ a second, in logs that lack this number",
      STORE_NUMBER(struct perflog_settings, resolution, 1, UINT64_MAX, "must be at least 1") },
    { TAKE_BY(perflog_take) },
    { 0 },
};

static void perflog_check_sides(struct perflog_settings *settings)
{
    if (!settings->diff && (settings->before >= 0 || settings->gate_count))
        die(STATUS_ERROR, "%s: only with --diff", settings->gate_count ? "--fail-if" : "--");
    if (!settings->diff)
        return;
    if (settings->before < 0 && settings->file_count != 2)
        die(STATUS_ERROR, "--diff: compares two files, not %d; write -- between those of before and those of after",
            settings->file_count);
    if (settings->before < 0)
        settings->before = 1;
    if (settings->before == 0 || settings->before == settings->file_count)
        die(STATUS_ERROR, "--diff: give a log of before and one of after");
}

static void perflog_check_settings(struct perflog_settings *settings)
{
    settings->choice.sort = settings->shared.sort;
    if (settings->file_count == 0)
        die(STATUS_ERROR, "perflog: which FILE? - is standard input");
    perflog_check_sides(settings);
    if (settings->diff && (settings->choice.instances || settings->monitors))
        die(STATUS_ERROR, "%s: not with --diff", settings->monitors ? "--monitors" : "--instances");
    if (settings->choice.sort && settings->diff && !perflog_diff_can_sort(settings->choice.sort))
        die(STATUS_ERROR, "--sort: no column '%s'; with --diff there are %s%s", settings->choice.sort,
            perflog_diff_sort_keys, suggestion_of(settings->choice.sort, perflog_diff_sort_keys, ""));
    if (settings->choice.sort && !settings->diff && !perflog_can_sort(settings->choice.sort))
        die(STATUS_ERROR, "--sort: no column '%s'; there are %s%s", settings->choice.sort, perflog_sort_keys,
            suggestion_of(settings->choice.sort, perflog_sort_keys, ""));
    if (!settings->choice.sort)
        settings->choice.sort = "total";
    settings->choice.limit = settings->shared.limit;
    if (!shared_is_set(&settings->shared, SHARED_LIMIT) && settings->shared.print == table_print_text)
        settings->choice.limit = TEXT_LIMIT;
}

static void perflog_load_file(struct perflog *log, const char *path)
{
    die_enter(DIE_WORKS);
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!in)
        die(STATUS_ERROR, "%s: %s", path, strerror(errno));
    const struct perflog_totals before = perflog_totals(log);
    if (!perflog_load(log, in, path))
        die(STATUS_ERROR, "%s: %s", path, strerror(errno));
    if (in != stdin)
        fclose(in);
    const struct perflog_totals after = perflog_totals(log);
    if (after.understood == before.understood)
        die(STATUS_ERROR, "%s: %s", path,
            after.bad_lines == before.bad_lines ? "no PerfLog: no line has \"## PERF ##\""
                                                : "no PerfLog: none of its lines can be understood");
}

/* Loads `count` logs from `first` on. */
static struct perflog *perflog_load_files(const struct perflog_settings *settings, int first, int count)
{
    struct perflog *log = perflog_new(settings->choice.instances);
    for (int i = first; i < first + count; i++)
        perflog_load_file(log, settings->files[i]);
    perflog_finish(log, settings->resolution);
    return log;
}

/* ---- above the tables of text ---- */

static void perflog_put_text(FILE *out, const char *before, const char *text)
{
    char quoted[QUOTE_ROOM];
    fprintf(out, "%s%s", before, quote(quoted, text, strlen(text)));
}

static void perflog_print_run(const struct perflog_run *run)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    fprintf(out, "%s: ", run->file);
    perflog_put_text(out, "", *run->app ? run->app : "(no name)");
    if (run->pid_known)
        fprintf(out, ", pid 0x%08" PRIx64, run->pid);
    if (run->fields[FIELD_PLATFORM])
        perflog_put_text(out, ", ", run->fields[FIELD_PLATFORM]);
    if (run->fields[FIELD_CPU])
        perflog_put_text(out, " ", run->fields[FIELD_CPU]);
    if (run->fields[FIELD_OSVERSION])
        perflog_put_text(out, ", OS ", run->fields[FIELD_OSVERSION]);
    if (run->fields[FIELD_BUILD])
        perflog_put_text(out, " build ", run->fields[FIELD_BUILD]);
    if (run->resolution)
        fprintf(out, ", %" PRIu64 " ticks per second", run->resolution);
    else if (run->durations)
        fprintf(out, ", unknown resolution");
    need_stream_end(out);
    text_print_lines(stdout, "%s", text);
    free(text);
}

static void perflog_print_runs(const struct perflog *log)
{
    size_t count, others;
    const struct perflog_run *runs = perflog_runs(log, &count);
    const struct perflog_other *other = perflog_others(log, &others);
    const uint64_t bad_lines = perflog_totals(log).bad_lines;
    for (size_t i = 0; i < count && i < TEXT_LINES; i++)
        perflog_print_run(&runs[i]);
    if (count > TEXT_LINES)
        printf("%s\n", COUNTED(count - TEXT_LINES, "more run"));
    for (size_t i = 0; i < others && i < TEXT_LINES; i++) {
        char quoted[QUOTE_ROOM];
        text_print_lines(stdout, "! %s of the unknown kind %s", COUNTED(other[i].count, "event"),
                         quote(quoted, other[i].name, strlen(other[i].name)));
    }
    if (others > TEXT_LINES)
        printf("! %zu more unknown kinds of events\n", others - TEXT_LINES);
    if (bad_lines)
        printf("! %s not understood\n", COUNTED_WAS(bad_lines, "line"));
}

static void perflog_print_tables(const struct perflog *log, const struct perflog_settings *settings)
{
    struct perflog_table markers = view_perflog(log, &settings->choice, false);
    struct table monitors = view_perflog_monitors(log, settings->choice.instances);
    perflog_print_runs(log);
    if (!settings->monitors) {
        puts("");
        table_print_text(&markers.table, stdout);
    }
    if (monitors.row_count || settings->monitors) {
        puts("");
        table_print_text(&monitors, stdout);
    }
    perflog_table_drop(&markers);
    table_drop(&monitors);
}

static void perflog_print_csv(const struct perflog *log, const struct perflog_settings *settings)
{
    if (settings->monitors) {
        struct table monitors = view_perflog_monitors(log, settings->choice.instances);
        table_print_csv(&monitors, stdout);
        table_drop(&monitors);
        return;
    }
    struct perflog_table markers = view_perflog(log, &settings->choice, true);
    table_print_csv(&markers.table, stdout);
    perflog_table_drop(&markers);
}

static void perflog_print_json(const struct perflog *log, const struct perflog_settings *settings)
{
    struct perflog_table markers = view_perflog(log, &settings->choice, true);
    struct table monitors = view_perflog_monitors(log, settings->choice.instances), runs = view_perflog_runs(log);
    json_begin(stdout);
    json_print_remarks(NULL, stdout);
    table_print_json_rows(&markers.table, "rows", stdout);
    fputs(",\n ", stdout);
    table_print_json_rows(&monitors, "monitors", stdout);
    printf(",\n \"bad_lines\": %" PRIu64 ",\n ", perflog_totals(log).bad_lines);
    table_print_json_rows(&runs, "runs", stdout);
    fputs("}\n", stdout);
    perflog_table_drop(&markers);
    table_drop(&monitors);
    table_drop(&runs);
}

/* Logs without a measurement, such as a header alone, are no success for a script that expects some. */
static int perflog_end_without_events(const struct perflog_totals *totals)
{
    finish_output();
    say(totals->bad_lines ? "no line with a measurement could be understood"
                          : "no measurement: no line has DUR, CPU, MEM or another event of a marker");
    return STATUS_ERROR;
}

struct perflog_logs {
    struct perflog **list;
    size_t count;
};

static struct perflog_logs perflog_load_side(const struct perflog_settings *settings, int first, int end)
{
    struct perflog_logs logs = { need_memory((size_t)(end - first), sizeof(struct perflog *)), 0 };
    for (int i = first; i < end; i++)
        logs.list[logs.count++] = perflog_load_files(settings, i, 1);
    return logs;
}

static void perflog_free_logs(struct perflog_logs *logs)
{
    for (size_t i = 0; i < logs->count; i++)
        perflog_free(logs->list[i]);
    free(logs->list);
}

static struct perflog_totals perflog_add_totals(const struct perflog_logs *logs, struct perflog_totals sum)
{
    for (size_t i = 0; i < logs->count; i++) {
        const struct perflog_totals totals = perflog_totals(logs->list[i]);
        sum.bad_lines += totals.bad_lines;
        sum.events += totals.events;
    }
    return sum;
}

/* Returns the exit status: that of the conditions, which must hold for these logs. */
static int perflog_judge_logs(const struct perflog_settings *settings, const struct perflog_comparison *c)
{
    size_t failed = 0;
    FILE *out = settings->shared.print == table_print_text ? stdout : stderr;
    for (size_t i = 0; i < settings->gate_count; i++) {
        const char *wrong = perflog_gate_check(&settings->gates[i], c);
        if (wrong)
            die(STATUS_ERROR, "--fail-if '%s': %s", settings->gates[i].text, wrong);
    }
    for (size_t i = 0; i < settings->gate_count; i++)
        failed += perflog_gate_report(&settings->gates[i], c, out);
    return failed ? STATUS_FINDING : STATUS_OK;
}

static void perflog_print_comparison(const struct perflog_settings *settings, const struct perflog_comparison *c,
                                     const struct perflog_logs sides[2])
{
    struct table t = view_perflog_diff(c, &settings->choice);
    if (settings->shared.print == table_print_json) {
        const struct perflog_totals none = { 0 };
        json_begin(stdout);
        json_print_remarks(NULL, stdout);
        table_print_json_rows(&t, "rows", stdout);
        printf(",\n \"bad_lines\": %" PRIu64 "}\n",
               perflog_add_totals(&sides[1], perflog_add_totals(&sides[0], none)).bad_lines);
    } else {
        for (int side = 0; side < 2 && settings->shared.print == table_print_text; side++)
            for (size_t i = 0; i < sides[side].count; i++)
                perflog_print_runs(sides[side].list[i]);
        if (settings->shared.print == table_print_text)
            puts("");
        settings->shared.print(&t, stdout);
    }
    table_drop(&t);
}

/* Returns the exit status. */
static int perflog_compare_logs(const struct perflog_settings *settings)
{
    struct perflog_logs sides[] = { perflog_load_side(settings, 0, settings->before),
                                    perflog_load_side(settings, settings->before, settings->file_count) };
    struct perflog_comparison c = perflog_compare(sides[0].list, sides[0].count, sides[1].list, sides[1].count);
    perflog_print_comparison(settings, &c, sides);
    const int judged = perflog_judge_logs(settings, &c);
    perflog_comparison_drop(&c);
    for (int side = 0; side < 2; side++)
        perflog_free_logs(&sides[side]);
    const int status = finish_output();
    return status ? status : judged;
}

static const struct command_line line = {
    .name = "perflog",
    .arguments = "FILE...\n--diff BEFORE AFTER\n--diff BEFORE... -- AFTER...",
    .text = "Reports the markers, the CPU and the memory of PerfLog logs; - is standard input.\v"
            "Durations become times by the RESOLUTION of their run. Percentiles are nearest ranks. Lines that cannot "
            "be understood are reported, counted and skipped. In csv and json, key=value pairs in a marker's string "
            "and its attributes are columns. In their values, %AVG%, %MIN% and %MAX% are the row's in seconds, and "
            "%KEY% is another pair's value. Durations without a RESOLUTION are shown in ticks. --diff compares "
            "means over the logs of a side. With two or more on both sides, it tests changes as dwell diff does.\n\n"
            "Examples:\n"
            "  dwell perflog app.log\n"
            "  dwell perflog --sort p99 --format csv app.log\n"
            "  dwell perflog --diff before.log after.log\n"
            "  dwell perflog --diff old-*.log -- new-*.log --fail-if 'mean > +10%'",
    .options = options,
    .shared = shared,
};

static void perflog_go_over(void *settings)
{
    struct perflog_settings *s = settings;
    s->before = s->file_count;
}

int perflog_command(int argc, char **argv)
{
    struct perflog_settings s = { .files = need_memory((size_t)argc, sizeof *s.files), .before = -1 };
    command_line_parse_sides(&line, argc, argv, &s, &s.shared, perflog_go_over);
    perflog_check_settings(&s);
    if (s.diff) {
        const int status = perflog_compare_logs(&s);
        free(s.files);
        free(s.gates);
        return status;
    }
    struct perflog *log = perflog_load_files(&s, 0, s.file_count);
    free(s.files);
    if (s.shared.print == table_print_json)
        perflog_print_json(log, &s);
    else if (s.shared.print == table_print_csv)
        perflog_print_csv(log, &s);
    else
        perflog_print_tables(log, &s);
    const struct perflog_totals totals = perflog_totals(log);
    perflog_free(log);
    return totals.events ? finish_output() : perflog_end_without_events(&totals);
}
