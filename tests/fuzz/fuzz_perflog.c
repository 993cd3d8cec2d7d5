/*
 * The fuzzer's target for PerfLog logs: reads bytes as a log and shows it in every way. Whatever they are, the lines
 * that follow them must count.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "perflog/perflog_compare.h"

static struct perflog *read_log(const void *data, size_t size, bool instances)
{
    FILE *in = fmemopen((void *)data, size, "rb");
    struct perflog *log = perflog_new(instances);
    if (!in || !perflog_load(log, in, "fuzz"))
        abort();
    fclose(in);
    perflog_finish(log, 0);
    return log;
}

static void show(const struct table *t, FILE *out)
{
    table_print_text(t, out);
    table_print_csv(t, out);
    table_print_json(t, out);
}

static void show_all(const void *data, size_t size, bool instances, FILE *out)
{
    const struct perflog_choice choice = { instances ? "order" : "total", 0, instances };
    struct perflog *log = read_log(data, size, instances);
    struct perflog_table markers = view_perflog(log, &choice, true);
    struct table monitors = view_perflog_monitors(log, instances), runs = view_perflog_runs(log);
    struct perflog *const logs[] = { log, log };
    struct perflog_comparison comparison = perflog_compare(logs, 2, logs, instances ? 1 : 2);
    struct table difference = view_perflog_diff(&comparison, &(struct perflog_choice){ "total", 0, false });
    show(&markers.table, out);
    show(&monitors, out);
    show(&runs, out);
    show(&difference, out);
    perflog_table_drop(&markers);
    table_drop(&monitors);
    table_drop(&runs);
    table_drop(&difference);
    perflog_comparison_drop(&comparison);
    perflog_free(log);
}

/* The log may be about the same application. */
static struct perflog_row row_of(const void *data, size_t size)
{
    struct perflog_row found = { 0 };
    size_t count;
    struct perflog *log = read_log(data, size, false);
    struct perflog_row *rows = perflog_rows(log, false, &count);
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].app, "a") == 0 && strcmp(rows[i].marker, "m") == 0)
            found = rows[i];
    free(rows);
    perflog_free(log);
    return found;
}

static void check_that_nothing_is_lost(const uint8_t *data, size_t size)
{
    static const char before[] = "##\n", after[] = "\n## PERF ## OSVERSION=[6.0] BUILD=[1]\n"
                                                   "## PERF ## REGISTERED APP [a] PROCESSID [0x1]\n"
                                                   "## PERF ## RESOLUTION [1000] TICKS PER SECOND\n"
                                                   "## PERF ## REGISTERED MARKER [m] AS [1] BY APP [a]\n"
                                                   "## PERF ## APP [a] EVT [1] DUR [7]\n";
    char *text = malloc(sizeof before + size + sizeof after);
    memcpy(text, before, sizeof before - 1);
    memcpy(text + sizeof before - 1, data, size);
    const size_t length = sizeof before - 1 + size;
    memcpy(text + length, after, sizeof after);
    const struct perflog_row without = row_of(text, length), with = row_of(text, length + sizeof after - 1);
    if (with.count != without.count + 1 || (with.total != without.total + 7000000 && with.total != UINT64_MAX))
        abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    FILE *out = fopen("/dev/null", "w");
    if (!out || size == 0) {
        if (out)
            fclose(out);
        return 0;
    }
    show_all(data, size, false, out);
    show_all(data, size, true, out);
    fclose(out);
    check_that_nothing_is_lost(data, size);
    return 0;
}
