/* The index of chunks and the content of metadata, record by record. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/scenario.h"
#include "trace/read_error.h"

enum { F = 0x1000, G = 0x2000 };

static struct session_file *session_file_save_and_open(struct writer *w)
{
    const char *path = test_path("index.dwell"), *error = NULL;
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    cr_assert(file != NULL, "%s", error ? error : "");
    return file;
}

Test(unit_session_file, the_header)
{
    struct writer *w = writer_new();
    write_header(w, 40, 111, 8);
    write_header(w, 72, 222, 8);
    write_header(w, 116, 5, 4);
    write_header(w, 120, 333, 8);
    write_header(w, 128, 444, 8);
    write_header(w, 136, 555, 4);
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(u64, f->header.start_ticks, 111));
    cr_assert(eq(u64, f->header.ticks_per_second, 1000000000));
    cr_assert(eq(u64, f->header.end_ticks, 222));
    cr_assert(eq(u32, f->header.trouble, 5));
    cr_assert(eq(u64, f->header.lost_events, 333));
    cr_assert(eq(u64, f->header.lost_threads, 444));
    cr_assert(eq(u32, f->header.recorder_pid, 555));
    cr_assert(eq(u64, f->size, 4096));
    cr_assert(eq(sz, f->chunk_count, 0));
    session_file_close(f);
}

Test(unit_session_file, processes_and_threads)
{
    struct writer *w = writer_new();
    write_process(w, 2, 201, "/bin/second"); /* not in the order of their numbers */
    write_process(w, 1, 200, "/bin/first");
    write_thread(w, 1, 7, 77, SOURCE_RSEQ, "seven");
    write_thread(w, 2, 5, 55, SOURCE_PERF, "five");
    write_thread(w, 1, 6, 66, SOURCE_NONE, "six");
    write_thread_name(w, 1, 7, "renamed");
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(sz, f->process_count, 2));
    cr_assert(eq(sz, f->thread_count, 3));
    cr_assert(eq(u32, f->processes[0].serial, 1));
    cr_assert(eq(str, f->processes[0].path, "/bin/first"));
    cr_assert(eq(str, f->processes[0].arguments, "prog arg"));
    cr_assert(eq(u32, session_file_process(f, 2)->pid, 201));
    cr_assert(eq(u32, session_file_process(f, 2)->parent_pid, 1));
    cr_assert(eq(str, session_file_thread(f, 7)->name, "renamed"));
    cr_assert(eq(u32, session_file_thread(f, 7)->os_source, SOURCE_RSEQ));
    cr_assert(eq(u32, session_file_thread(f, 5)->process, 2));
    cr_assert(eq(u32, session_file_thread(f, 6)->tid, 66));
    cr_assert(session_file_thread(f, 8) == NULL);
    cr_assert(session_file_process(f, 0) == NULL);
    cr_assert(eq(u64, f->health.damaged_records, 0));
    session_file_close(f);
}

/* The process' record gives the time, the recorder's the exit status, in any order in the file. */
Test(unit_session_file, two_ends_of_one_process)
{
    for (int recorder_first = 0; recorder_first < 2; recorder_first++) {
        struct writer *w = writer_new();
        write_process(w, 1, 100, "/bin/prog");
        for (int i = 0; i < 2; i++) {
            if (i == recorder_first)
                write_process_end(w, 1, 100, END_EXIT, 0, 1000);
            else
                write_process_end(w, 0, 100, END_SIGNAL, 11, 1500);
        }
        struct session_file *f = session_file_save_and_open(w);
        cr_assert(eq(u64, f->processes[0].end_time, 1000));
        cr_assert(eq(u32, f->processes[0].end_how, END_SIGNAL), "the recorder's is %s",
                  recorder_first ? "first" : "second");
        cr_assert(eq(u32, f->processes[0].end_value, 11));
        session_file_close(f);
    }
}

Test(unit_session_file, a_pid_that_was_used_twice_means_its_last_process)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/early");
    write_process_end(w, 1, 100, END_EXIT, 0, 1000);
    write_process(w, 2, 100, "/bin/late");
    write_process_end(w, 0, 100, END_SIGNAL, 9, 2000);
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(u32, f->processes[0].end_how, END_EXIT));
    cr_assert(eq(u64, f->processes[0].end_time, 1000));
    cr_assert(eq(u32, f->processes[1].end_how, END_SIGNAL));
    cr_assert(eq(u64, f->processes[1].end_time, 2000));
    session_file_close(f);
}

/* Without the process' own record, the earliest is valid, and the status of the one that knows it. */
Test(unit_session_file, ends_that_others_saw)
{
    for (int order = 0; order < 2; order++) {
        struct writer *w = writer_new();
        write_process(w, 1, 100, "/bin/parent");
        write_process(w, 2, 101, "/bin/child");
        end_records(w, true);
        for (int i = 0; i < 2; i++) {
            if (i == order)
                write_process_end_by(w, 0, 2, 101, END_UNKNOWN, 0, 1000);
            else
                write_process_end_by(w, 1, 0, 101, END_SIGNAL, 9, 3000);
        }
        struct session_file *f = session_file_save_and_open(w);
        cr_assert(eq(u64, f->processes[1].end_time, 1000));
        cr_assert(eq(u32, f->processes[1].end_how, END_SIGNAL));
        cr_assert(eq(u32, f->processes[1].end_value, 9));
        cr_assert(eq(u64, f->processes[0].end_time, 0));
        session_file_close(f);
    }
}

/* The first process has executed the second. A third one took the PID after the end that the parent saw. */
Test(unit_session_file, a_pid_whose_process_executed_another_program)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/parent");
    write_process_of(w, 2, 101, 100, 1, 500, "/bin/shell");
    write_process_end(w, 2, 101, END_EXECUTED, 0, 1000);
    write_process_of(w, 3, 101, 100, 0, 1000, "/bin/child");
    write_process_of(w, 4, 101, 100, 1, 4000, "/bin/later");
    end_records(w, true);
    write_process_end_by(w, 1, 0, 101, END_SIGNAL, 9, 3000);
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(u64, f->processes[1].end_time, 1000));
    cr_assert(eq(u32, f->processes[1].end_how, END_EXECUTED));
    cr_assert(eq(u64, f->processes[2].end_time, 3000));
    cr_assert(eq(u32, f->processes[2].end_how, END_SIGNAL));
    cr_assert(eq(u64, f->processes[3].end_time, 0));
    session_file_close(f);
}

/* Two PID namespaces have the same PID. Each parent saw the end of its own child. */
Test(unit_session_file, a_pid_of_two_namespaces)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/one");
    write_process(w, 2, 200, "/bin/other");
    write_process_of(w, 3, 2, 100, 1, 500, "/bin/child");
    write_process_of(w, 4, 2, 200, 2, 600, "/bin/child");
    end_records(w, true);
    write_process_end_by(w, 1, 0, 2, END_SIGNAL, 9, 2000);
    write_process_end_by(w, 2, 0, 2, END_EXIT, 5, 1000);
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(u64, f->processes[2].end_time, 2000));
    cr_assert(eq(u64, f->processes[3].end_time, 1000));
    cr_assert(eq(u32, f->processes[3].end_value, 5));
    session_file_close(f);
}

Test(unit_session_file, notes_modules_and_symbols)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_note(w, 1, "the first");
    write_note(w, 1, "the second");
    set_build_id(w, "\x01\x00\x02", 3);
    write_module(w, 1, 4, 0x1000, 0x2000, 0x3000, 50, "/lib/a.so");
    write_module_unload(w, 1, 4, 90);
    write_symbol_module(w, 9, "/lib/a.so");
    write_symbol_file(w, 3, "a.c");
    write_symbol(w, 9, 3, 42, 0x1234, "a_function");
    struct session_file *f = session_file_save_and_open(w);
    const struct trace_module *m = f->processes[0].modules;
    cr_assert(eq(sz, f->labels.note_count, 2));
    cr_assert(eq(str, f->labels.notes[1], "the second"));
    cr_assert(eq(sz, f->processes[0].module_count, 1));
    cr_assert(eq(u64, m->bias, 0x1000));
    cr_assert(eq(u64, m->begin, 0x2000));
    cr_assert(eq(u64, m->end, 0x3000));
    cr_assert(eq(u64, m->load_time, 50));
    cr_assert(eq(u64, m->unload_time, 90));
    cr_assert(eq(sz, m->build_id_length, 3));
    cr_assert(memcmp(m->build_id, "\x01\x00\x02", 3) == 0);
    cr_assert(eq(sz, f->code.symbol_count, 1));
    cr_assert(eq(str, f->code.symbols[0].name, "a_function"));
    cr_assert(eq(u32, f->code.symbols[0].line, 42));
    cr_assert(eq(u64, f->code.symbols[0].offset, 0x1234));
    cr_assert(eq(str, f->code.symbol_modules[f->code.symbols[0].module].path, "/lib/a.so"));
    cr_assert(eq(str, f->code.symbol_files[0].path, "a.c"));
    session_file_close(f);
}

Test(unit_session_file, records_of_a_later_version_are_stepped_over)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_record(w, 1, 4711, "whatever", 8);
    write_record(w, 1, 65535, "", 0);
    write_note(w, 1, "behind them");
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(sz, f->labels.note_count, 1));
    cr_assert(eq(u64, f->health.damaged_records, 0));
    session_file_close(f);
}

Test(unit_session_file, a_record_too_short_for_its_type_is_reported)
{
    for (uint32_t type = 1; type <= 11; type++) {
        struct writer *w = writer_new();
        write_process(w, 1, 100, "/bin/prog");
        write_record(w, 1, type, "", 0);
        write_note(w, 1, "behind it");
        struct session_file *f = session_file_save_and_open(w);
        cr_assert(eq(u64, f->health.damaged_records, 1), "type %u", type);
        cr_assert(eq(str, f->labels.notes[f->labels.note_count - 1], "behind it"));
        session_file_close(f);
    }
}

/* A session with sums has a clock, and consists of at most so many parts. */
Test(unit_session_file, impossible_sums_of_a_session_are_reported)
{
    static const struct {
        uint64_t ticks;
        uint32_t shards;
        bool possible;
    } cases[] = {
        { 0, 1, false },
        { 999, 1, false },
        { 1000, 1, true },
        { 1000, DWELL_MOST_SHARDS, true },
        { 1000, DWELL_MOST_SHARDS + 1, false },
        { 1000000000000, 1, true },
        { 1000000000001, 1, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct {
            struct dwell_rec_summed record;
            uint16_t lengths[8]; /* of its texts */
        } summed = { .record = { .shards = cases[i].shards, .damaged_bytes = 7 } };
        summed.record.header.ticks_per_second = cases[i].ticks;
        struct writer *w = writer_new();
        write_record(w, 1, DWELL_REC_SUMMED, &summed.record.processes, sizeof summed - sizeof summed.record.record);
        struct session_file *f = session_file_save_and_open(w);
        cr_assert(eq(u64, f->health.damaged_records, !cases[i].possible), "case %zu", i);
        cr_assert(eq(sz, f->sums.summed_count, cases[i].possible), "case %zu", i);
        cr_assert(eq(u64, f->health.damaged_bytes, cases[i].possible ? 7 : 0), "case %zu", i);
        session_file_close(f);
    }
}

Test(unit_session_file, metadata_ends_where_its_chunk_says)
{
    struct writer *w = writer_new();
    write_note(w, 1, "counts");
    size_t used = w->file.length - w->chunk, chunk = w->chunk;
    write_note(w, 1, "does not");
    write_header(w, chunk + 12, used, 4);
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(sz, f->labels.note_count, 1));
    session_file_close(f);
}

/* ---- chunks ---- */

Test(unit_session_file, data_between_chunks_is_stepped_over)
{
    struct writer *w = writer_new();
    write_nothing(w);
    write_note(w, 1, "first");
    write_nothing(w);
    write_nothing(w);
    write_chunk_of_kind(w, 0);
    write_chunk_of_kind(w, 4);
    write_note(w, 1, "second");
    write_nothing(w);
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(sz, f->labels.note_count, 2));
    cr_assert(eq(u64, f->health.damaged_chunks, 0));
    cr_assert(eq(u64, f->health.damaged_bytes, 0));
    session_file_close(f);
}

Test(unit_session_file, unknown_kinds_are_stepped_over)
{
    struct writer *w = writer_new();
    write_chunk_of_kind(w, 5);
    write_chunk_of_kind(w, 65535);
    write_note(w, 1, "behind them");
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(sz, f->labels.note_count, 1));
    cr_assert(eq(u64, f->health.damaged_chunks, 0));
    session_file_close(f);
}

/* Killed after it stored the size and before it stored the magic number. */
Test(unit_session_file, a_chunk_that_was_begun_but_not_finished)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    const size_t unbegun = w->file.length;
    write_nothing(w);
    write_thread(w, 1, 1, 10, SOURCE_PERF, "t");
    const uint32_t size = 16384;
    memcpy(w->file.at + unbegun + 8, &size, sizeof size);
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(u64, f->health.damaged_bytes, 0));
    cr_assert(eq(sz, f->thread_count, 1));
    session_file_close(f);
}

Test(unit_session_file, damage_between_chunks_is_reported)
{
    struct writer *w = writer_new();
    write_nothing(w);
    write_header(w, 4096, 0xdeadbeef, 4);
    write_note(w, 1, "behind it");
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(sz, f->labels.note_count, 1));
    cr_assert(eq(u64, f->health.damaged_bytes, 4096));
    session_file_close(f);
}

static struct session_file *session_file_open_with_cursor(struct writer *w, uint64_t cursor)
{
    const char *path = test_path("cursor.dwell"), *error = NULL;
    write_header(w, 88, cursor, 8);
    FILE *out = fopen(path, "wb");
    cr_assert(out != NULL);
    cr_assert(eq(sz, fwrite(w->file.at, 1, w->file.length, out), w->file.length));
    fclose(out);
    struct session_file *f = session_file_open(path, &error);
    cr_assert(f != NULL, "%s", error ? error : "");
    return f;
}

Test(unit_session_file, nothing_is_read_after_the_cursor_or_the_end)
{
    struct writer *w = writer_new();
    write_note(w, 1, "before");
    end_records(w, true);
    size_t cursor = w->file.length;
    write_note(w, 1, "behind");
    writer_save(w, test_path("cursor.dwell"));
    struct session_file *f = session_file_open_with_cursor(w, cursor);
    cr_assert(eq(sz, f->labels.note_count, 1));
    cr_assert(eq(u64, f->size, cursor));
    session_file_close(f);
    f = session_file_open_with_cursor(w, UINT64_MAX); /* space was claimed, and the file never extended */
    cr_assert(eq(sz, f->labels.note_count, 2));
    cr_assert(eq(u64, f->size, w->file.length));
    session_file_close(f);
    writer_free(w);
}

/* The last chunk is the one with the highest number, at any place in the file. */
Test(unit_session_file, chunks_of_a_thread_in_any_order)
{
    for (int turned = 0; turned < 2; turned++) {
        struct writer *w = writer_new();
        for (int i = 0; i < 2; i++) {
            if (i == turned) {
                begin_events(w, 1, 1, 0, 0, NULL, 0);
                write_enter(w, 10, F);
                end_events(w, true);
            } else {
                begin_events(w, 1, 1, 1, 10, (struct open_call[]){ { F, 10 } }, 1);
                write_enter(w, 30, G);
                end_events(w, true);
            }
        }
        write_thread_end(w, 1, 1, false, 100);
        struct outcome o = outcome_of(w, 1);
        ASSERT_TIMES(function_times(&o, F), 90, 20, 90, 20, 1);
        ASSERT_TIMES(function_times(&o, G), 70, 70, 70, 70, 1);
        check_identities(&o);
        outcome_drop(&o);
    }
}

Test(unit_session_file, the_lowest_costs_of_probes_are_used)
{
    static const uint32_t costs[][2] = { { 30, 9 }, { 20, 18 }, { 25, 15 } };
    struct writer *w = writer_new();
    const char *path = test_path("probes.dwell"), *error;
    write_process(w, 1, 100, "/bin/p");
    for (int i = 0; i < 3; i++)
        write_probes(w, 1, costs[i][0], costs[i][1], 7 + (uint32_t)i);
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    cr_assert(eq(u32, file->processes[0].probes.in_callee, 20));
    cr_assert(eq(u32, file->processes[0].probes.in_caller, 18));
    cr_assert(eq(u32, file->processes[0].probes.first_callee, 8));
    session_file_close(file);
}

Test(unit_session_file, a_chunk_that_is_missing_does_no_harm_to_the_others)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    end_events(w, true);
    /* number 1 is missing: in it, G ended at 500 and was entered again at 600 */
    begin_events(w, 1, 1, 2, 650, (struct open_call[]){ { F, 10 }, { G, 600 } }, 2);
    write_exit(w, 660);
    write_exit(w, 700);
    end_events(w, true);
    struct outcome o = outcome_of(w, 1);
    ASSERT_TIMES(function_times(&o, G), 10, 10, 10, 10, 1);
    ASSERT_TIMES(function_times(&o, F), 10 + 50, 10 + 40, 60, 50, 1);
    cr_assert(eq(u64, function_times(&o, G).longest, 60));
    cr_assert(eq(u64, function_times(&o, F).longest, 690));
    check_identities(&o);
    outcome_drop(&o);
}

Test(unit_session_file, events_without_metadata_have_a_thread_and_a_process)
{
    struct writer *w = writer_new();
    begin_events(w, 3, 8, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    write_exit(w, 14);
    struct outcome o = outcome_of(w, 1);
    cr_assert(eq(u32, o.file->processes[0].serial, 3));
    cr_assert(eq(u32, o.file->threads[0].serial, 8));
    cr_assert(eq(u32, o.file->threads[0].process, 3));
    ASSERT_TIMES(thread_times(&o, 8), 4, 4, 4, 4, 1);
    ASSERT_TIMES(process_times(&o, 3), 4, 4, 4, 4, 1);
    outcome_drop(&o);
}

/* ---- modules ---- */

static const char *session_file_module_of(const struct session_file *f, uint64_t address, uint64_t time)
{
    const struct trace_module *m = trace_module_at(&f->processes[0], address, time);
    return m ? m->path : "none";
}

Test(unit_session_file, modules_by_address_and_time)
{
    struct writer *w = writer_new();
    write_module(w, 1, 1, 0, 0x1000, 0x2000, 0, "stays");
    write_module(w, 1, 2, 0, 0x5000, 0x6000, 100, "first");
    write_module_unload(w, 1, 2, 200);
    write_module(w, 1, 3, 0, 0x5800, 0x6800, 300, "second");
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(str, (char *)session_file_module_of(f, 0x0fff, 50), "none"));
    cr_assert(eq(str, (char *)session_file_module_of(f, 0x1000, 50), "stays"));
    cr_assert(eq(str, (char *)session_file_module_of(f, 0x1fff, 1u << 30), "stays"));
    cr_assert(eq(str, (char *)session_file_module_of(f, 0x2000, 50), "none"));
    cr_assert(eq(str, (char *)session_file_module_of(f, 0x5900, 150), "first"));
    cr_assert(eq(str, (char *)session_file_module_of(f, 0x5900, 300), "second"));
    cr_assert(eq(str, (char *)session_file_module_of(f, 0x5100, 500), "first"));
    cr_assert(eq(str, (char *)session_file_module_of(f, 0x6100, 10), "second"));
    session_file_close(f);
}

/* Load and unload times decide. If none fits exactly, the nearest in time is used. */
Test(unit_session_file, the_nearest_module_in_time)
{
    struct writer *w = writer_new();
    write_module(w, 1, 1, 0, 0x5000, 0x6000, 100, "first");
    write_module_unload(w, 1, 1, 200);
    write_module(w, 1, 2, 0, 0x5000, 0x6000, 1000, "second");
    struct session_file *f = session_file_save_and_open(w);
    cr_assert(eq(str, (char *)session_file_module_of(f, 0x5000, 90), "first"));
    cr_assert(eq(str, (char *)session_file_module_of(f, 0x5000, 990), "second"));
    cr_assert(eq(str, (char *)session_file_module_of(f, 0x5000, 210), "first"),
              "10 behind its unloading, 790 before the other");
    session_file_close(f);
}

/* In the time between the two libraries no module is loaded. Calls then belong to the nearest one. Previous calls and
 * chunk borders do not matter. */
Test(unit_session_file, calls_between_two_modules_belong_to_the_nearest_one)
{
    for (int pieces = 1; pieces <= 2; pieces++) {
        struct writer *w = writer_new();
        write_module(w, 1, 1, 0, 0x5000, 0x6000, 0, "first");
        write_module_unload(w, 1, 1, 100);
        write_module(w, 1, 2, 0, 0x5000, 0x6000, 1000, "second");
        begin_events(w, 1, 1, 0, 0, NULL, 0);
        write_enter(w, 200, 0x5000);
        write_exit(w, 207);
        if (pieces == 2) {
            end_events(w, true);
            begin_events(w, 1, 1, 1, 207, NULL, 0);
        }
        write_enter(w, 900, 0x5000);
        write_exit(w, 903);
        struct outcome o = outcome_of(w, 1);
        cr_assert(eq(sz, o.profile->module_count, 2));
        struct times *modules = rollup_groups(o.rollup, BY_MODULE);
        for (int i = 0; i < 2; i++) {
            const bool first = strcmp(o.profile->modules[i].path, "first") == 0;
            cr_assert(eq(u64, modules[i].elapsed_inclusive, first ? 7 : 3), "%d chunks", pieces);
        }
        free(modules);
        outcome_drop(&o);
    }
}

/* ---- reads that fail ---- */

static struct session_file *session_file_open_empty(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 200, "/bin/prog");
    return session_file_save_and_open(w);
}

/* From here on, the file cannot be read. */
static void session_file_fail_a_read(struct session_file *f)
{
    char byte;
    const int unreadable = open("/dev/null", O_WRONLY | O_CLOEXEC);
    cr_assert(eq(int, dup2(unreadable, f->fd), f->fd));
    close(unreadable);
    cr_assert(eq(i64, session_file_read_some(f, 0, &byte, 1), -1));
}

Test(unit_session_file, each_session_has_its_own_error)
{
    struct session_file *one = session_file_open_empty(), *other = session_file_open_empty();
    session_file_fail_a_read(one);
    cr_assert(eq(int, session_file_take_error(other), 0));
    cr_assert(eq(int, session_file_take_error(one), EBADF));
    cr_assert(eq(int, session_file_take_error(one), 0));
    cr_assert(eq(int, read_error_take_any(), 0));
    session_file_close(other);
    session_file_close(one);
    cr_assert(eq(int, read_error_take_any(), 0));
}

Test(unit_session_file, an_error_that_nobody_took_stays)
{
    struct session_file *open_one = session_file_open_empty(), *closed = session_file_open_empty();
    session_file_fail_a_read(closed);
    session_file_close(closed);
    cr_assert(eq(int, session_file_take_error(open_one), 0));
    cr_assert(eq(int, read_error_take_any(), EBADF));
    cr_assert(eq(int, read_error_take_any(), 0));
    session_file_fail_a_read(open_one);
    cr_assert(eq(int, read_error_take_any(), EBADF));
    session_file_close(open_one);
    cr_assert(eq(int, read_error_take_any(), 0));
}

/* The caller has the reason as a text. */
Test(unit_session_file, a_session_that_is_not_opened_has_no_error)
{
    const char *error = NULL;
    cr_assert(session_file_open(test_folder(), &error) == NULL);
    cr_assert(eq(str, (char *)error, "is a directory"));
    cr_assert(eq(int, read_error_take_any(), 0));
}
