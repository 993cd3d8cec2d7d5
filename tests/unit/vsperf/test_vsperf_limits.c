/* The export vsperf: Min <= Avg <= Max in each row, also with calls that are still open. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "commands/features.h"
#include "dwell/format.h"
#include "support/load.h"
#include "support/scenario.h"

enum { F = 0x1000, G = 0x2000, TICK = DWELL_PROBE_FRACTION, MAX_FIELDS = 64 };

/* Splits a line, whose fields hold no quotes within quotes. */
static size_t vsperf_fields(char *line, char **fields)
{
    size_t count = 0;
    for (char *at = line; at && count < MAX_FIELDS; count++) {
        const bool quoted = *at == '"';
        fields[count] = at + quoted;
        at = strchr(at, quoted && strchr(at + 1, '"') ? '"' : ',');
        if (at && quoted)
            at = strchr(strchr(at + 1, '"') + 1, ',');
        if (at)
            *at++ = '\0';
    }
    return count;
}

struct vsperf_rows {
    size_t averages, unknown; /* of Elapsed Inclusive Time */
};

static struct vsperf_rows check_rows(char *text)
{
    struct vsperf_rows rows = { 0, 0 };
    size_t column = 0;
    for (char *line = strtok(text, "\r\n"); line; line = strtok(NULL, "\r\n")) {
        char *fields[MAX_FIELDS];
        const size_t count = vsperf_fields(line, fields);
        size_t title = 0;
        while (title < count && strcmp(fields[title], "Min Elapsed Inclusive Time") != 0)
            title++;
        if (title < count)
            column = title;
        if (title < count || !column || column + 2 >= count || !*fields[column])
            continue;
        if (!*fields[column + 1]) {
            rows.unknown++;
            continue;
        }
        rows.averages++;
        cr_assert(le(dbl, atof(fields[column]), atof(fields[column + 1])), "%s", fields[0]);
        cr_assert(le(dbl, atof(fields[column + 1]), atof(fields[column + 2])), "%s", fields[0]);
    }
    return rows;
}

static void check_file(const char *path, struct vsperf_rows *rows)
{
    size_t length = 0;
    char *text = NULL;
    FILE *file = fopen(path, "r");
    cr_assert(file && getdelim(&text, &length, '\0', file) > 0);
    const struct vsperf_rows more = check_rows(text);
    rows->averages += more.averages;
    rows->unknown += more.unknown;
    free(text);
    fclose(file);
    remove(path);
}

static struct vsperf_rows check_session(struct writer *w, uint64_t from)
{
    struct analysis_options options = { .limits = true };
    options.selection.from = (struct selection_moment){ .given = from > 0, .ns = from };
    writer_save(w, test_path("limits.dwell"));
    writer_free(w);
    struct analysis analysis;
    load_with(&analysis, test_path("limits.dwell"), &options);
    struct vsperf_rows rows = { 0, 0 };
    struct error error = { NULL };
    glob_t files;
    cr_assert(
        find_export("vsperf")->write_files(&analysis, &(struct export_options){ 0 }, test_path("limits"), &error));
    char *pattern = need_text("%s_*.csv", test_path("limits"));
    cr_assert(glob(pattern, 0, NULL, &files) == 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        check_file(files.gl_pathv[i], &rows);
    cr_assert(gt(sz, rows.averages + rows.unknown, 0));
    globfree(&files);
    free(pattern);
    analysis_drop(&analysis);
    return rows;
}

static struct writer *vsperf_begin(uint32_t probe)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_probes(w, 1, probe, 0, 0);
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    return w;
}

/* F lasts 20, 30, and 10000 until the last event, when it is still open: 3350 on average. */
Test(unit_vsperf_limits, an_average_that_open_calls_put_above_max_is_unknown)
{
    struct writer *w = vsperf_begin(5 * TICK);
    write_enter(w, 0, F);
    write_exit(w, 20);
    write_enter(w, 100, F);
    write_exit(w, 130);
    write_enter(w, 200, F);
    write_enter(w, 300, G);
    write_exit(w, 10200);
    cr_assert(gt(sz, check_session(w, 0).unknown, 0));
}

/* Three calls of 85.5 ticks: 86 each when rounded, and 85 on average of the rounded sum. */
Test(unit_vsperf_limits, an_average_is_within_the_limits_when_rounded)
{
    for (uint32_t probe = 0; probe < 8 * TICK; probe += 31) {
        struct writer *w = vsperf_begin(probe);
        for (uint64_t at = 0; at < 3000; at += 1000) {
            write_enter(w, at, F);
            write_exit(w, at + 86);
        }
        cr_assert(eq(sz, check_session(w, 0).unknown, 0));
    }
}

/* Of a call that a range cuts, only a part is in the sum. */
Test(unit_vsperf_limits, ranges)
{
    for (unsigned from = 0; from < 1000; from += 90) {
        struct writer *w = vsperf_begin(5 * TICK);
        write_enter(w, 0, F);
        write_exit(w, 500);
        write_enter(w, 600, F);
        write_exit(w, 1400);
        check_session(w, from);
    }
}
