/* Trace events of handmade sessions: reading, matching, the rule of CPU times, and damage. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwell/event.h"
#include "support/scenario.h"
#include "trace/event_cost.h"
#include "trace/event_pairs.h"

TestSuite(unit_trace_events);

static const char JOB[16] = "job's guid 0123", MAIL[16] = "mail's guid 456";

/* A process with threads 1 to 3, another with 4. */
static struct writer *events_session(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 101, SOURCE_PERF, "one");
    write_thread(w, 1, 2, 102, SOURCE_PERF, "two");
    write_thread(w, 1, 3, 103, SOURCE_PERF, "three");
    write_event_class(w, 1, JOB, "job");
    write_process(w, 2, 200, "/bin/other");
    write_thread(w, 2, 4, 201, SOURCE_PERF, "four");
    write_event_class(w, 2, JOB, "job again");
    return w;
}

struct read {
    struct session_file *file;
    struct trace_events events;
};

static struct read events_read_back(struct writer *w)
{
    const char *error = NULL;
    struct read r;
    writer_save(w, test_path("events.dwell"));
    writer_free(w);
    r.file = session_file_open(test_path("events.dwell"), &error);
    cr_assert(ne(ptr, r.file, NULL), "%s", error ? error : "");
    r.events = trace_events_read(r.file);
    cr_assert(eq(u64, trace_events_count(r.file), r.events.count));
    return r;
}

static void events_drop(struct read *r)
{
    trace_events_free(&r->events);
    session_file_close(r->file);
}

static uint32_t events_process_of(uint32_t thread)
{
    return thread == 4 ? 2 : 1;
}

/* "THREAD TYPE TIME [DATA]" on a line, each event in its own chunk, in any order of threads. TYPE: a letter of Start,
 * Queue's end, End, Reply, Info. */
static void events_write_script(struct writer *w, const char *script, const char guid[16])
{
    uint32_t sequence = 0;
    for (const char *line = script; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        unsigned thread, time;
        char type, data[16] = "";
        cr_assert(ge(int, sscanf(line, "%u %c %u %15[^\n]", &thread, &type, &time, data), 3), "%s", line);
        const char letters[] = "ISE...RQ";
        begin_trace_events(w, events_process_of(thread), thread, sequence++);
        write_trace_event(w, guid,
                          &(struct written_event){ .time = time,
                                                   .type = (unsigned)(strchr(letters, type) - letters),
                                                   .data = data,
                                                   .size = (uint32_t)strlen(data) });
        end_trace_events(w, true);
    }
}

static unsigned events_time_of(const struct trace_events *events, size_t number)
{
    return number ? (unsigned)events->list[number - 1].time : 0;
}

/* Activities as "START[/DEQUEUE]-END[*REPLIES]" by their times, then strays. */
static char *events_print_pairs(const struct trace_events *events, size_t key)
{
    struct event_pairs pairs = event_pairs_match(events, key);
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    for (size_t i = 0; i < pairs.count; i++) {
        const struct event_activity *a = &pairs.list[i];
        fprintf(out, "%s%u", i ? " " : "", events_time_of(events, a->start));
        if (a->dequeue)
            fprintf(out, "/%u", events_time_of(events, a->dequeue));
        fprintf(out, "-%u", events_time_of(events, a->end));
        if (a->replies)
            fprintf(out, "*%u(%u..%u)", a->replies, events_time_of(events, a->first_reply),
                    events_time_of(events, a->last_reply));
    }
    for (size_t i = 0; i < pairs.stray_count; i++)
        fprintf(out, " !%u", events_time_of(events, pairs.strays[i] + 1));
    fclose(out);
    event_pairs_free(&pairs);
    return text;
}

static void events_check_pairs(const char *script, size_t key, const char *wanted)
{
    struct writer *w = events_session();
    events_write_script(w, script, JOB);
    struct read r = events_read_back(w);
    char *got = events_print_pairs(&r.events, key);
    cr_assert(eq(str, got, (char *)wanted), "%s", script);
    free(got);
    events_drop(&r);
}

/* ---- reading ---- */

Test(unit_trace_events, events_are_in_the_order_of_time)
{
    struct writer *w = events_session();
    const uint64_t frames[] = { 0x401300, 0x401200, 0x401100 };
    begin_trace_events(w, 1, 1, 0);
    write_trace_event(w, JOB,
                      &(struct written_event){ 30, 200, 5, 0x1234, 1000, 2000, 2999, "\0\xff", 2, frames, 3, 7 });
    write_trace_event(w, MAIL, &(struct written_event){ .time = 50 });
    end_trace_events(w, true);
    begin_trace_events(w, 2, 4, 0);
    write_trace_event(w, JOB, &(struct written_event){ .time = 30, .data = "123456789", .size = 9 });
    write_trace_event(w, JOB, &(struct written_event){ .time = 40, .data = "12345678", .size = 8 });
    end_trace_events(w, false);
    struct read r = events_read_back(w);
    cr_assert(eq(sz, r.events.count, 4));
    const struct trace_event *e = r.events.list;
    cr_assert(eq(u64, e[0].time, 30));
    cr_assert(eq(u32, e[0].process, 1));
    cr_assert(eq(u32, e[0].thread, 1));
    cr_assert(eq(u32, e[0].type, 200));
    cr_assert(eq(u32, e[0].severity, 5));
    cr_assert(eq(u32, e[0].version, 0x1234));
    cr_assert(eq(u64, e[0].kernel_time, 1000));
    cr_assert(eq(u64, e[0].user_time, 2000));
    cr_assert(eq(u64, e[0].cpu_time, 2999));
    cr_assert(eq(u32, e[0].depth, 10));
    cr_assert(eq(u32, e[0].frames, 3));
    cr_assert(eq(u64, trace_event_frame(&e[0], 0), 0x401300));
    cr_assert(eq(u64, trace_event_frame(&e[0], 2), 0x401100));
    cr_assert(eq(u32, e[0].data_size, 2));
    cr_assert(eq(int, memcmp(e[0].data, "\0\xff", 2), 0));
    cr_assert(eq(u32, e[1].thread, 4));
    cr_assert(eq(int, memcmp(e[1].data, "123456789", 9), 0));
    cr_assert(eq(u64, e[2].time, 40));
    cr_assert(eq(sz, e[2].previous, 2));
    cr_assert(eq(u64, e[3].time, 50));
    cr_assert(eq(sz, e[3].previous, 1));
    cr_assert(eq(sz, e[0].previous, 0));
    cr_assert(eq(sz, r.events.class_count, 2));
    cr_assert(eq(str, r.events.classes[e[0].class].name, "job")); /* the first name stays */
    cr_assert(eq(str, r.events.classes[e[3].class].name, ""));    /* it was never registered */
    cr_assert(eq(u64, r.events.damaged_chunks, 0));
    events_drop(&r);
}

Test(unit_trace_events, chunks_of_a_thread_in_the_order_of_their_numbers)
{
    struct writer *w = events_session();
    for (uint32_t i = 0; i < 3; i++) {
        begin_trace_events(w, 1, 1, 2 - i);
        write_trace_event(w, JOB, &(struct written_event){ .time = 7, .version = 2 - i });
        end_trace_events(w, true);
    }
    struct read r = events_read_back(w);
    cr_assert(eq(sz, r.events.count, 3));
    for (uint32_t i = 0; i < 3; i++)
        cr_assert(eq(u32, r.events.list[i].version, i));
    events_drop(&r);
}

/* ---- matching ---- */

Test(unit_trace_events, start_and_end_by_nesting)
{
    events_check_pairs("1 S 10\n1 S 20\n1 I 25\n1 E 30\n1 S 40\n1 E 50\n1 E 60", 0, "10-60 20-30 40-50");
}

Test(unit_trace_events, each_thread_by_itself)
{
    events_check_pairs("1 S 10\n2 S 20\n1 E 30\n2 E 40\n4 S 15\n4 E 25", 0, "10-30 15-25 20-40");
    events_check_pairs("1 S 10\n2 E 20", 0, "10-0 !20");
}

Test(unit_trace_events, classes_do_not_mix)
{
    struct writer *w = events_session();
    events_write_script(w, "1 S 10\n1 E 40", JOB);
    events_write_script(w, "2 S 20\n2 E 30", MAIL);
    begin_trace_events(w, 1, 1, 9);
    write_trace_event(w, MAIL, &(struct written_event){ .time = 45, .type = EVENT_TRACE_TYPE_END });
    end_trace_events(w, true);
    struct read r = events_read_back(w);
    char *got = events_print_pairs(&r.events, 0);
    cr_assert(eq(str, got, "10-40 20-30 !45"));
    free(got);
    events_drop(&r);
}

/* START: put into the queue; DEQUEUE: the work begins; END: it is done. */
Test(unit_trace_events, a_queue_of_one_thread_is_first_in_first_out)
{
    events_check_pairs("1 S 10\n1 S 20\n1 S 30\n1 Q 40\n1 E 50\n1 Q 60\n1 S 65\n1 E 70\n1 Q 80\n1 E 90", 0,
                       "10/40-50 20/60-70 30/80-90 65-0");
}

Test(unit_trace_events, another_thread_does_the_work)
{
    events_check_pairs("1 S 10\n1 S 20\n1 S 30\n2 Q 40\n3 Q 50\n3 E 60\n3 Q 70\n2 E 80\n3 E 90", 0,
                       "10/40-80 20/50-60 30/70-90");
    events_check_pairs("4 S 10\n1 Q 20\n1 E 30\n4 Q 40\n4 E 50", 0, "10/40-50 !20 !30"); /* not of another process */
}

Test(unit_trace_events, a_thread_takes_what_it_has_put_into_the_queue_itself)
{
    events_check_pairs("1 S 10\n2 S 20\n2 Q 30\n1 Q 40\n1 E 50\n2 E 60", 0, "10/40-50 20/30-60");
}

Test(unit_trace_events, work_within_work)
{
    events_check_pairs("1 S 10\n1 S 20\n1 Q 30\n1 Q 40\n1 E 50\n1 E 60", 0, "10/30-60 20/40-50");
}

Test(unit_trace_events, many_answers)
{
    events_check_pairs("1 S 10\n1 R 20\n1 R 30\n1 R 40", 0, "10-40*3(20..40)");
    events_check_pairs("1 S 10\n1 R 20\n1 R 30\n1 E 40\n1 R 50", 0, "10-40*2(20..30) !50");
    events_check_pairs("1 S 10\n1 Q 15\n1 R 20\n1 E 30", 0, "10/15-30*1(20..20)");
}

Test(unit_trace_events, without_a_partner)
{
    events_check_pairs("1 E 10\n1 Q 20\n1 R 30\n1 S 40", 0, "40-0 !10 !20 !30");
    events_check_pairs("1 I 10", 0, "");
}

Test(unit_trace_events, by_a_key_in_the_data)
{
    events_check_pairs("1 S 10 a1 one\n1 S 20 a2 two\n2 Q 30 a2\n3 Q 40 a1\n1 E 50 a2\n2 E 60 a1", 2,
                       "10/40-60 20/30-50");
    events_check_pairs("1 S 10 ab\n2 S 20 a", 2, "10-0 !20");  /* too short for a key */
    events_check_pairs("1 S 10 ab\n4 E 20 ab", 2, "10-0 !20"); /* of another process */
    events_check_pairs("1 S 10 ab\n1 S 20 ab\n2 E 30 ab\n2 E 40 ab", 2, "10-40 20-30");
}

/* ---- CPU times ---- */

/* "If the timer's resolution is 156,250, 25 units of CPU time are 0.39 s." */
Test(unit_trace_events, the_worked_example_of_cpu_cost)
{
    const uint32_t resolution = 156250;
    const uint64_t unit = 156250 * 100ull;
    struct writer *w = events_session();
    begin_trace_events(w, 1, 1, 0);
    write_trace_event(w, JOB, &(struct written_event){ .time = 10, .kernel_ns = 50 * unit, .user_ns = 100 * unit });
    write_trace_event(w, JOB, &(struct written_event){ .time = 20, .kernel_ns = 60 * unit, .user_ns = 115 * unit });
    end_trace_events(w, true);
    struct read r = events_read_back(w);
    const struct trace_event *a = &r.events.list[0], *b = &r.events.list[1];
    cr_assert(eq(u32, event_charge(a, resolution), 150));
    cr_assert(eq(u32, event_charge(b, resolution), 175));
    const uint32_t cost = event_cost(a, b, resolution);
    cr_assert(eq(u32, cost, 25));
    cr_assert(eq(u64, event_cost_ns(cost, resolution), 390625000));
    char seconds[16];
    snprintf(seconds, sizeof seconds, "%.2f", (double)event_cost_ns(cost, resolution) / 1e9);
    cr_assert(eq(str, seconds, "0.39"));
    events_drop(&r);
}

Test(unit_trace_events, units_are_whole_and_wrap_around)
{
    struct trace_event a = { .kernel_time = 1999999, .user_time = 999999 },
                       b = { .kernel_time = 2000000, .user_time = 1999999 };
    cr_assert(eq(u32, event_charge(&a, 10000), 2)); /* 1.999999 ms and 0.999999 ms are 2.999998 ms */
    cr_assert(eq(u32, event_charge(&b, 10000), 3));
    cr_assert(eq(u32, event_cost(&a, &b, 10000), 1));
    a.kernel_time = 0xffffffffull * 100;
    b.kernel_time = 0x100000004ull * 100;
    a.user_time = b.user_time = 0;
    cr_assert(eq(u32, event_cost(&a, &b, 1), 5));
}

/* ---- damage ---- */

/* The second of three events is changed. Those before it stay. */
static void events_check_damage(size_t offset, uint64_t value, unsigned size, bool damaged, const char *what)
{
    struct writer *w = events_session();
    const uint64_t frames[] = { 1, 2 };
    begin_trace_events(w, 1, 1, 0);
    write_trace_event(w, JOB, &(struct written_event){ .time = 10, .data = "abc", .size = 3 });
    const size_t second = w->file.length;
    write_trace_event(
        w, JOB, &(struct written_event){ .time = 20, .data = "abc", .size = 3, .frames = frames, .frame_count = 2 });
    write_trace_event(w, JOB, &(struct written_event){ .time = 30 });
    end_trace_events(w, true);
    write_header(w, second + offset, value, size); /* any place of the file */
    struct read r = events_read_back(w);
    cr_assert(eq(sz, r.events.count, 1), "%s", what);
    cr_assert(eq(u64, r.events.damaged_chunks, damaged), "%s", what);
    events_drop(&r);
}

Test(unit_trace_events, damaged_events_end_their_chunk)
{
    events_check_damage(0, 0, 4, false, "not written");
    events_check_damage(0, 7, 4, true, "size not a multiple of 8");
    events_check_damage(0, 0xfffffff8, 4, true, "size beyond the chunk");
    events_check_damage(0, 80, 4, true, "size too small for what it holds");
    events_check_damage(56, 0xffffffff, 4, true, "more data than there is");
    events_check_damage(60, 0xffff, 2, true, "more frames than there are");
    events_check_damage(60, 3, 2, true, "more frames than calls");
    events_check_damage(92, 0, 4, false, "its end was not written yet when a copy was made");
}

Test(unit_trace_events, a_cut_file)
{
    struct writer *w = events_session();
    begin_trace_events(w, 1, 1, 0);
    for (unsigned i = 0; i < 100; i++)
        write_trace_event(w, JOB, &(struct written_event){ .time = i, .version = i });
    end_trace_events(w, true);
    const size_t whole = w->file.length, size = 80, begin = whole - 8192 + 64;
    writer_save(w, test_path("whole.dwell"));
    for (size_t cut = whole - 8192; cut <= whole; cut += 61) {
        const char *error = NULL;
        w->file.length = cut;
        writer_save(w, test_path("cut.dwell"));
        struct session_file *file = session_file_open(test_path("cut.dwell"), &error);
        cr_assert(ne(ptr, file, NULL));
        struct trace_events events = trace_events_read(file);
        const size_t there = cut < begin ? 0 : (cut - begin) / size;
        cr_assert(eq(sz, events.count, there < 100 ? there : 100), "cut at %zu", cut);
        for (size_t i = 0; i < events.count; i++)
            cr_assert(eq(u32, events.list[i].version, i));
        trace_events_free(&events);
        session_file_close(file);
    }
    writer_free(w);
}
