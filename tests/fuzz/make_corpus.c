/* Writes the sessions with which the fuzzer starts: make-corpus FOLDER. */
#include <stdio.h>
#include <string.h>

#include "support/example.h"
#include "support/site_session.h"
#include "support/wakes.h"

static void save(struct writer *w, const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    writer_save(w, path);
    writer_free(w);
}

/* A thread that was killed while it wrote a record. */
static struct writer *killed(void)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, 0x1000);
    write_enter(w, 20, 0x7f0000001000);
    write_words(w, (uint16_t[]){ 0, 0, 0, 1u << 14 | 25, 0, 0 }, 6);
    end_events(w, false);
    return w;
}

static struct writer *nothing_but_free_space(void)
{
    struct writer *w = writer_new();
    write_nothing(w);
    write_chunk_of_kind(w, 0);
    write_chunk_of_kind(w, 4);
    write_nothing(w);
    return w;
}

/* A report's values of functions: docs/format.md, REPORTED. */
static struct writer *imported(void)
{
    static const uint64_t functions[][2] = { { 0x1000, 0 }, { 0x2000, 0x1000 }, { 0x1000, 0x2000 } };
    const uint64_t values[] = { 50, 20, 40, 10, 3, 5, 30 };
    struct writer *w = writer_new();
    write_header(w, 148, 1 | 2, 4);
    write_process(w, 1, 100, "/bin/p");
    write_thread(w, 1, 1, 0, 3, "all threads");
    for (uint32_t kind = 1; kind <= 3; kind++) {
        uint8_t content[80] = { (uint8_t)kind };
        memcpy(content + 8, functions[kind - 1], 16);
        memcpy(content + 24, values, sizeof values);
        write_record(w, 1, 20, content, sizeof content);
    }
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, 0x1000);
    write_enter(w, 20, 0x2000);
    write_exit(w, 30);
    write_exit(w, 40);
    end_events(w, true);
    return w;
}

static void program(struct writer *w)
{
    write_process(w, 1, 100, "/no/shop");
    write_thread(w, 1, 1, 101, SOURCE_PERF, "shop");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/no/shop");
    write_symbol_module(w, 1, "/no/shop");
    write_symbol(w, 1, 0, 12, 0x1000, "main");
    write_symbol(w, 1, 0, 20, 0x2000, "_ZN4shop4loadEi");
}

static struct writer *sampled(void)
{
    const uint64_t words[] = { 0x2000, 0, 7, 0x1010, 0x7fff0040 };
    const uint64_t registers[] = { 0x2010, 0x7fff0000, 0x7fff0040, 1, 2, 3, 4, 5 };
    struct writer *w = writer_new();
    write_header(w, 240, 1000000, 4); /* the interval of samples */
    program(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, 0x1000);
    write_exit(w, 9000000);
    end_events(w, true);
    begin_samples(w, 1, 1, 100, 101, 0);
    for (uint64_t i = 0; i < 8; i++)
        write_sample(w, &(struct written_sample){ i * 1000000, registers, words, 8, 5 });
    end_samples(w, true);
    return w;
}

static struct writer *counted(void)
{
    static const uint64_t calls[][2] = { { 0x1000, 1 }, { 0x2000, 5000 } };
    const uint64_t level[] = { 5, 0x2000, 1 };
    struct writer *w = writer_new();
    program(w);
    write_record(w, 1, 22, level, sizeof level); /* docs/format.md, LEVEL */
    write_counts(w, 1, 1, 100, calls, 2);
    return w;
}

enum { MODE = 96 }; /* the header's place of the mode; 1: profile */

static struct writer *summed(void)
{
    static const struct tree_node nodes[] = {
        { .function = 0x1000, .parent = 0, .calls = 1, .elapsed = 1000, .blocked = 400, .preempted = 100 },
        { .function = 0x2000, .parent = 1, .calls = 5, .elapsed = 600, .flagged = 20, .blocked = 400, .site = 0x1010 },
    };
    static const struct wait_row rows[] = { { 2, 1, 0, 0x5000, 1, 2, 3, 400, 200, 10, 900 },
                                            { 2, 1, 1, 0x5000, 0, 0, 3, 0, 0, 10, 900 } };
    struct writer *w = writer_new();
    write_header(w, MODE, 1, 4);
    program(w);
    write_probes(w, 1, 10, 20, 30);
    write_tree(w, 1, 1, nodes, 2);
    write_tree_head(w, 1000, 1);
    write_wait_rows(w, 1, 1, rows, 2);
    return w;
}

/* A session of sums with durations of calls, among them a path's only one: docs/format.md, SUMMED. */
static struct writer *with_durations(void)
{
    static const struct tree_node nodes[] = {
        { .function = 0x1000, .parent = 0, .calls = 1, .elapsed = 1000 },
        { .function = 0x2000, .parent = 1, .calls = 5, .elapsed = 600 },
    };
    static const uint64_t rows[][3] = { { 1, UINT32_MAX, 1600 << 8 }, { 2, 60, 3 }, { 2, 100, 2 } };
    uint8_t summed[456 + 2 + 1 + 6 * 2] = { [0] = 1, [4] = 1, [8] = 1, [12] = 1, [40] = 6, [48] = 6, [444] = 1 };
    const uint32_t rate = 1000000000;
    memcpy(summed + 184 + 64, &rate, sizeof rate);
    summed[456] = summed[458] = 1; /* the length of the shards' bits, and the first one */
    struct writer *w = writer_new();
    write_header(w, MODE, 1, 4);
    write_header(w, 148, 8, 4); /* the origin: sums */
    write_record(w, 0, 26, summed, sizeof summed);
    program(w);
    write_tree(w, 1, 1, nodes, 2);
    write_durations(w, 1, 1, rows, 3);
    return w;
}

static struct writer *with_trace_events(void)
{
    static const char class[16] = "one class";
    static const uint64_t frames[] = { 0x1010 };
    struct writer *w = writer_new();
    program(w);
    write_event_class(w, 1, class, "request");
    write_event_layout(w, 1, class, &(struct written_layout){ 1, 0, 2, "start", "\x01\x02", "id name" });
    begin_trace_events(w, 1, 1, 0);
    for (unsigned type = 1; type <= 6; type++)
        write_trace_event(w, class,
                          &(struct written_event){ 100 * type, type, 2, 0, 5, 6, 11, "12345678ab", 11, frames, 1, 3 });
    end_trace_events(w, true);
    return w;
}

static struct writer *waiting(void)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 0, WAKES_MAIN);
    wakes_call(w, 100, 500, 1, 0x5000, 2);
    wakes_thread_ends(w, 1, 1000);
    wakes_thread_begins(w, 2, 10, WAKES_WORK);
    wakes_act(w, 480, 490, 1, 0x5000);
    wakes_thread_ends(w, 2, 900);
    return w;
}

/* The values of three calls of a function. */
static struct writer *valued(void)
{
    static const char *const names[] = { "n", "size" };
    static const int64_t values[] = { 5, -7 };
    struct writer *w = writer_new();
    program(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t time = 100; time < 400; time += 100) {
        write_enter(w, time, 0x1000);
        write_exit(w, time + 10);
    }
    end_events(w, true);
    write_values_plan(w, 0x1000, names, 2);
    begin_values(w, 1, 1);
    for (uint64_t time = 100; time < 400; time += 100)
        write_values(w, time, values, 2);
    end_values(w);
    return w;
}

/* A chunk of each kind that a session's readers skip or read as something else. */
static struct writer *each_kind(void)
{
    struct writer *w = writer_new();
    program(w);
    end_records(w, true);
    for (uint32_t kind = 0; kind <= 19; kind++)
        write_chunk_of_kind(w, kind);
    return w;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    save(example_session(SOURCE_PERF), argv[1], "example");
    save(example_small(), argv[1], "small");
    save(killed(), argv[1], "killed");
    save(nothing_but_free_space(), argv[1], "free");
    save(imported(), argv[1], "imported");
    save(writer_new(), argv[1], "header");
    save(site_session(SITES_WHOLE), argv[1], "sites");
    save(site_session(SITES_SPLIT), argv[1], "sites-split");
    save(site_session(SITES_SWITCHED), argv[1], "sites-switched");
    save(sampled(), argv[1], "samples");
    save(counted(), argv[1], "counts");
    save(summed(), argv[1], "call-tree-waits");
    save(with_durations(), argv[1], "durations");
    save(with_trace_events(), argv[1], "trace-events");
    save(waiting(), argv[1], "objects");
    save(each_kind(), argv[1], "each-kind");
    save(valued(), argv[1], "values");
    return 0;
}
