/* Sessions merged into one. It has all data of each session with the same times, and no data moves between sessions. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/table_formats.h"
#include "support/example.h"
#include "support/load.h"
#include "support/rows.h"
#include "support/scenario.h"
#include "support/versions.h"
#include "tables/views.h"
#include "trace/session_merge.h"
#include "trace/trace_event_list.h"

TestSuite(unit_merge, .timeout = 300);

enum { MAX = 4 };

static char *merge_save(const char *name, struct writer *w)
{
    char *path = strdup(test_path(name));
    writer_save(w, path);
    writer_free(w);
    return path;
}

static struct session_file *merge_open(const char *path)
{
    const char *error = NULL;
    struct session_file *file = session_file_open(path, &error);
    cr_assert(file != NULL, "%s: %s", path, error);
    return file;
}

/* Merges them into a file of that name. */
static char *merge_files(const char *name, char *const *paths, size_t count)
{
    struct session_file *files[MAX];
    char *merged = strdup(test_path(name));
    for (size_t i = 0; i < count; i++) {
        files[i] = merge_open(paths[i]);
        const char *problem = session_merge_check(files[0], files[i]);
        cr_assert(i == 0 || problem == NULL, "%s", problem);
    }
    const char *error = session_merge(files, count, false, merged);
    cr_assert(error == NULL, "%s", error);
    for (size_t i = 0; i < count; i++)
        session_file_close(files[i]);
    return merged;
}

/* Everything that reports print about functions, modules and call paths. */
static char *merge_print(char *const *paths, size_t count)
{
    struct analysis analysis;
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    load_several(&analysis, (const char *const *)paths, count, &(struct analysis_options){ .jobs = 1 });
    const size_t remarks = analysis.summary.remark_count;
    analysis.summary.run = 0;          /* of several sessions, it is unknown */
    analysis.summary.remark_count = 0; /* they name the sessions; losses are below */
    for (int by = BY_FUNCTION; by <= BY_MODULE; by++) {
        struct table t = sorted_rows(&analysis, (enum rollup_by)by, &(struct sorting){ .key = "elapsed_exclusive" });
        table_print_json(&t, out);
        table_drop(&t);
    }
    struct table tree = view_tree(&analysis, &(struct tree_options){ .depth = 99 });
    table_print_csv(&tree, out);
    table_drop(&tree);
    analysis.summary.remark_count = remarks;
    for (size_t i = 0; i < analysis.summary.loss_count; i++)
        fprintf(out, "%s\n", analysis.summary.remarks[i]);
    fclose(out);
    analysis_drop(&analysis);
    return text;
}

static void merge_drop(char **paths, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(paths[i]);
}

Test(unit_merge, the_report_covers_all_sessions)
{
    const struct version version = { .lookups = 3, .main_time = 400, .logged = true, .source = SOURCE_PERF };
    char *paths[] = { merge_save("example", example_session(SOURCE_PERF)),
                      merge_save("version", version_session(&version)),
                      merge_save("again", example_session(SOURCE_PERF)) };
    char *merged = merge_files("merged", paths, 3), *of_all = merge_print(paths, 3),
         *of_merged = merge_print(&merged, 1);
    cr_assert(eq(str, of_merged, of_all));
    struct session_file *file = merge_open(merged);
    cr_assert(eq(sz, file->process_count, 5));
    cr_assert(eq(sz, file->thread_count, 7));
    cr_assert(eq(int, (int)file->header.next_process, 6));
    cr_assert(eq(int, (int)file->header.next_thread, 8));
    cr_assert(eq(u64, file->health.damaged_chunks + file->health.damaged_bytes + file->health.damaged_records, 0));
    session_file_close(file);
    free(of_all);
    free(of_merged);
    free(merged);
    merge_drop(paths, 3);
}

Test(unit_merge, merged_sessions_can_be_merged)
{
    const struct version versions[] = { { .lookups = 3, .main_time = 400, .source = SOURCE_PERF },
                                        { .lookups = 1, .main_time = 70, .cached = true, .source = SOURCE_PERF },
                                        { .program = "store", .lookups = 9, .main_time = 5, .source = SOURCE_PERF } };
    char *paths[3];
    for (int i = 0; i < 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "version-%d", i);
        paths[i] = merge_save(name, version_session(&versions[i]));
    }
    char *all = merge_files("all", paths, 3), *two = merge_files("two", paths, 2);
    char *step = merge_files("step", (char *[]){ two, paths[2] }, 2);
    char *at_once = merge_print(&all, 1), *by_steps = merge_print(&step, 1);
    cr_assert(eq(str, at_once, by_steps));
    free(at_once);
    free(by_steps);
    merge_drop((char *[]){ all, two, step }, 3);
    merge_drop(paths, 3);
}

Test(unit_merge, every_kind_of_record)
{
    char *paths[] = { merge_save("one", example_small()), merge_save("other", example_small()) };
    char *merged = merge_files("merged", paths, 2);
    struct session_file *one = merge_open(paths[0]), *both = merge_open(merged);
    cr_assert(eq(sz, both->process_count, 2 * one->process_count));
    cr_assert(eq(sz, both->thread_count, 2 * one->thread_count));
    cr_assert(eq(sz, both->labels.note_count, 2 * one->labels.note_count));
    cr_assert(eq(sz, both->code.symbol_count, 2 * one->code.symbol_count));
    cr_assert(eq(sz, both->events.class_count, 2 * one->events.class_count));
    for (size_t i = 0; i < both->thread_count; i++) {
        const struct trace_thread *t = &both->threads[i], *before = &one->threads[i % one->thread_count];
        cr_assert(eq(str, t->name, before->name));
        cr_assert(eq(u32, t->tid, before->tid));
        cr_assert(eq(u64, t->end_time, before->end_time));
        cr_assert(eq(int, t->end_flagged, before->end_flagged));
        cr_assert(eq(u32, t->process, before->process + (i ? 1 : 0)));
    }
    for (size_t i = 0; i < both->process_count; i++) {
        const struct trace_process *p = &both->processes[i];
        cr_assert(eq(sz, p->module_count, one->processes[0].module_count));
        cr_assert(eq(u64, p->modules[0].unload_time, 70000));
        cr_assert(eq(u32, p->end_how, END_SIGNAL));
        cr_assert(eq(u32, p->end_value, 11));
        cr_assert(eq(u64, p->end_time, 200000));
    }
    struct trace_events alone = trace_events_read(one), events = trace_events_read(both);
    cr_assert(eq(sz, events.count, 2 * alone.count));
    trace_events_free(&alone);
    trace_events_free(&events);
    session_file_close(one);
    session_file_close(both);
    free(merged);
    merge_drop(paths, 2);
}

/* The recorder knows a process only by its PID. Both sessions have a process with that PID. */
Test(unit_merge, ends_of_processes_with_one_pid)
{
    char *paths[2];
    for (unsigned i = 0; i < 2; i++) {
        struct writer *w = version_session(&(struct version){ .lookups = 1, .main_time = 10 });
        write_process_end(w, 1, 100, END_EXIT, 99, 2000 + i);
        write_process_end(w, 0, 100, END_SIGNAL, 6 + i, 5000);
        paths[i] = merge_save(i ? "second" : "first", w);
    }
    char *merged = merge_files("merged", paths, 2);
    struct session_file *file = merge_open(merged);
    cr_assert(eq(sz, file->process_count, 2));
    for (unsigned i = 0; i < 2; i++) {
        cr_assert(eq(u32, file->processes[i].end_how, END_SIGNAL));
        cr_assert(eq(u32, file->processes[i].end_value, 6 + i));
        cr_assert(eq(u64, file->processes[i].end_time, 2000 + i));
    }
    session_file_close(file);
    free(merged);
    merge_drop(paths, 2);
}

static struct writer *merge_open_call_session(uint64_t end)
{
    struct writer *w = writer_new();
    write_header(w, 72, end, 8);
    write_process(w, 1, 100, "/bin/p");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 1000, NULL, 0);
    write_enter(w, 1000, 0x401000);
    write_exit(w, 1010);
    write_enter(w, 1020, 0x401000);
    end_events(w, true);
    return w;
}

static uint64_t merge_elapsed_of(char *path)
{
    struct analysis analysis;
    load_whole(&analysis, path, 1);
    const uint64_t elapsed = analysis.summary.elapsed_inclusive;
    analysis_drop(&analysis);
    return elapsed;
}

/* A call that is open until the recording ends lasts until the end of its own recording, not of another one. */
Test(unit_merge, calls_that_were_open_at_the_end)
{
    char *paths[] = { merge_save("short", merge_open_call_session(2000)),
                      merge_save("long", merge_open_call_session(9000)),
                      merge_save("killed", merge_open_call_session(0)) };
    cr_assert(eq(u64, merge_elapsed_of(paths[0]), 10 + 980));
    cr_assert(eq(u64, merge_elapsed_of(paths[1]), 10 + 7980));
    cr_assert(eq(u64, merge_elapsed_of(paths[2]), 10));
    char *ended = merge_files("ended", paths, 2), *all = merge_files("all", paths, 3);
    cr_assert(eq(u64, merge_elapsed_of(ended), 990 + 7990));
    cr_assert(eq(u64, merge_elapsed_of(all), 990 + 7990 + 10));
    struct session_file *file = merge_open(ended);
    cr_assert(eq(u64, file->header.end_ticks, 9000));
    session_file_close(file);
    free(ended);
    free(all);
    merge_drop(paths, 3);
}

/* An invalid record must not keep its old numbers. */
Test(unit_merge, damaged_records_are_left_out)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/p");
    write_record(w, 1, 5, "", 0);            /* THREAD_END, too short: skipped */
    write_record(w, 1, 19, "", 0);           /* THREAD_SWITCHES, the same */
    write_thread_switches(w, 1, 1, 7, 6, 5); /* which is the thread's in the merged session, too */
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_header(w, 120, 3, 8);
    write_header(w, 256, 5, 8);
    write_header(w, 288, 20000000, 8);
    char *paths[] = { merge_save("one", version_session(&(struct version){ .lookups = 1, .main_time = 10 })),
                      merge_save("damaged", w) };
    char *merged = merge_files("merged", paths, 2);
    struct session_file *file = merge_open(merged);
    cr_assert(eq(sz, file->thread_count, 2));
    cr_assert(eq(u32, file->threads[1].process, file->processes[1].serial));
    cr_assert(eq(u64, file->threads[0].switches.recorded, 0));
    cr_assert(eq(u64, file->threads[1].switches.waits, 7));
    cr_assert(eq(u64, file->threads[1].switches.preemptions, 6));
    cr_assert(eq(u64, file->threads[1].switches.recorded, 5));
    cr_assert(eq(u64, file->header.lost_events, 3));
    cr_assert(eq(u64, file->more.hole_searches, 5));
    cr_assert(eq(u64, file->more.stolen_time, 20000000));
    session_file_close(file);
    free(merged);
    merge_drop(paths, 2);
}

/* ---- sessions that cannot be merged ---- */

struct start {
    uint64_t ticks, monotonic, real;
};

static struct writer *merge_session_started(struct start start, uint64_t rate)
{
    struct writer *w = version_session(&(struct version){ .lookups = 1, .main_time = 10 });
    write_header(w, 40, start.ticks, 8);
    write_header(w, 48, start.monotonic, 8);
    write_header(w, 56, start.real, 8);
    write_header(w, 64, rate, 8);
    return w;
}

static const struct start first_start = { 50000000000, 20000000000, 1000020000000000 };
enum { RATE = 2000000000 };

/* Checks whether `w` can be merged with a session of first_start and RATE. */
static void merge_expect(struct writer *w, const char *wanted)
{
    char *paths[] = { merge_save("first", merge_session_started(first_start, RATE)), merge_save("second", w) };
    struct session_file *first = merge_open(paths[0]), *second = merge_open(paths[1]);
    const char *problem = session_merge_check(first, second);
    cr_assert(eq(str, (char *)(problem ? problem : ""), (char *)wanted));
    problem = session_merge_check(second, first);
    cr_assert(eq(str, (char *)(problem ? problem : ""), (char *)wanted));
    session_file_close(first);
    session_file_close(second);
    merge_drop(paths, 2);
}

static struct writer *merge_session_with_header(size_t offset, uint64_t value, unsigned size)
{
    struct writer *w = merge_session_started(first_start, RATE);
    write_header(w, offset, value, size);
    return w;
}

Test(unit_merge, sessions_with_other_clocks)
{
    static const char restarted[] =
        "recorded before or after the machine was restarted, slept, or had its time set: by another clock";
    const uint64_t second = 1000000000;
    merge_expect(merge_session_started(first_start, RATE), "");
    merge_expect(merge_session_started(first_start, RATE + RATE / 1000), ""); /* an estimate */
    merge_expect(merge_session_started(first_start, RATE + RATE / 50), "recorded by another clock");
    merge_expect(
        merge_session_started((struct start){ 50000000000 + 20 * second, 30 * second, 1000030000000000 }, RATE), "");
    merge_expect(
        merge_session_started((struct start){ 50000000000 + 21 * second, 30 * second, 1000030000000000 }, RATE),
        restarted);
    merge_expect(
        merge_session_started((struct start){ 50000000000 - 20 * second, 30 * second, 1000030000000000 }, RATE),
        restarted);
    merge_expect(
        merge_session_started((struct start){ 50000000000 + 20 * second, 30 * second, 1000040000000000 }, RATE),
        restarted);
    merge_expect(merge_session_with_header(16, 183, 2), "recorded on another machine, by another clock");
    merge_expect(merge_session_with_header(18, 3, 2), "recorded by another clock");
    merge_expect(merge_session_with_header(96, 2, 4), "recorded in another mode");
    merge_expect(merge_session_with_header(148, 1, 4), "recordings and imports have no common clock");
}

static struct writer *merge_session_of_host(const char *node, uint64_t starts)
{
    struct writer *w = merge_session_started(
        (struct start){ first_start.ticks + starts, first_start.monotonic + starts / 2, first_start.real + starts / 2 },
        RATE);
    if (node)
        write_host(w, node);
    return w;
}

/* A machine is another one if both names are known and differ. */
Test(unit_merge, sessions_of_several_hosts)
{
    static const char *const names[][2] = { { "a", "a" }, { "a", "b" }, { "a", NULL }, { NULL, NULL } };
    for (int i = 0; i < 4; i++) {
        char *paths[] = { merge_save("first", merge_session_of_host(names[i][0], 0)),
                          merge_save("second", merge_session_of_host(names[i][1], RATE)) };
        struct session_file *files[] = { merge_open(paths[0]), merge_open(paths[1]) };
        for (int j = 0; j < 2; j++) {
            const char *problem = session_merge_check(files[j], files[!j]);
            cr_assert(eq(str, (char *)(problem ? problem : ""),
                         i == 1 ? "recorded on another machine, by another clock" : ""));
        }
        session_file_close(files[0]);
        session_file_close(files[1]);
        merge_drop(paths, 2);
    }
}

Test(unit_merge, a_copy_of_a_session)
{
    struct writer *w = merge_session_with_header(24, 77, 8);
    char *path = merge_save("one", w);
    struct session_file *file = merge_open(path), *copy = merge_open(path);
    cr_assert(eq(str, (char *)session_merge_check(file, copy), "it is a copy, so its calls would count twice"));
    session_file_close(file);
    session_file_close(copy);
    free(path);
}

Test(unit_merge, numbers_that_do_not_fit)
{
    char *paths[2];
    for (int i = 0; i < 2; i++) {
        struct writer *w = writer_new();
        begin_events(w, 0xfffffff0, 1, 0, 1000, NULL, 0);
        write_enter(w, 1000, 0x401000);
        end_events(w, true);
        paths[i] = merge_save(i ? "second" : "first", w);
    }
    struct session_file *files[] = { merge_open(paths[0]), merge_open(paths[1]) };
    char *merged = strdup(test_path("merged"));
    cr_assert(eq(str, (char *)session_merge(files, 2, false, merged),
                 "more processes, threads or symbols than one session can hold"));
    FILE *none = fopen(merged, "rb");
    cr_assert(none == NULL);
    session_file_close(files[0]);
    session_file_close(files[1]);
    free(merged);
    merge_drop(paths, 2);
}
