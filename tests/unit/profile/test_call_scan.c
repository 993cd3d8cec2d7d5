/* Workers find the same single calls as the order of time, in random sessions. */
#include <criterion/criterion.h>

#include "support/exported.h"
#include "support/load.h"
#include "support/scanned.h"
#include "support/scenario.h"

struct random_events {
    struct writer *w;
    uint64_t state, time;
    struct open_call stack[8];
    uint32_t depth, calls, sequence;
};

static uint32_t random_number(struct random_events *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->state >> 40);
}

/* A pause, in which up to one call ends. */
static void random_pause(struct random_events *r)
{
    const uint64_t pause = r->time;
    const uint32_t ended = r->depth && random_number(r) & 1;
    write_pause(r->w, pause);
    r->time += random_number(r) % 500;
    write_resume(r->w, r->time, ended);
    r->depth -= ended;
    for (uint32_t i = 0; i < r->depth; i++)
        r->stack[i].enter_time += r->time - pause;
}

/* Extensions of the next event. */
static void random_extras(struct random_events *r, uint32_t number, uint64_t length)
{
    if (number % 5 == 0)
        write_os(r->w);
    if (number % 7 == 0)
        write_off_cpu(r->w, number & 1024, r->time - length, length / 2);
    if (number % 11 == 0)
        write_faults(r->w, 2);
}

static void random_call(struct random_events *r, uint32_t number)
{
    if (r->calls < MAX_SCANNED - 8 && r->depth < 8 && (r->depth == 0 || number & 64)) {
        r->stack[r->depth] = (struct open_call){ 0x1000 + (number >> 8) % 3 * 0x1000, r->time };
        write_enter(r->w, r->time, r->stack[r->depth++].function);
        r->calls++;
        return;
    }
    const uint32_t left = r->depth > 2 && number % 3 == 0;
    if (left)
        write_unwind(r->w, left);
    write_exit(r->w, r->time);
    r->depth -= 1 + left;
}

static struct writer *random_session(uint32_t seed)
{
    struct random_events r = { .w = writer_new(), .state = seed };
    write_process(r.w, 1, 100, "/bin/prog");
    write_probes(r.w, 1, seed * 199, seed * 83, seed * 57);
    write_thread(r.w, 1, 1, 100, seed % 4 ? SOURCE_PERF : SOURCE_NONE, "main");
    begin_events(r.w, 1, 1, 0, 0, NULL, 0);
    while (r.calls < MAX_SCANNED - 8 || r.depth) {
        const uint32_t number = random_number(&r);
        const uint64_t length = number % 9 ? 10 * (number % 5) : number % 3000;
        r.time += length;
        if (number % 17 == 0) {
            end_events(r.w, true);
            begin_events(r.w, 1, 1, ++r.sequence, r.time, r.stack, r.depth);
        } else if (number % 19 == 0) {
            random_pause(&r);
        } else {
            random_extras(&r, number, length);
            random_call(&r, number);
        }
    }
    end_events(r.w, true);
    return r.w;
}

Test(unit_call_scan, random_events_of_all_kinds, .timeout = 300)
{
    for (uint32_t seed = 0; seed < 80; seed++) {
        struct analysis analysis = loaded_of(random_session(seed));
        expect_scan(&analysis, 1 + seed % MAX_SCAN_JOBS);
        analysis_drop(&analysis);
    }
}

/* Calls that ended in a range of time have their whole time. */
Test(unit_call_scan, ranges_of_random_sessions, .timeout = 300)
{
    for (uint32_t seed = 0; seed < 80; seed++) {
        struct analysis analysis;
        struct analysis_options options = { .limits = true };
        struct writer *w = random_session(seed);
        options.selection.from = (struct selection_moment){ .given = seed % 3 > 0, .ns = seed * 37 };
        options.selection.to = (struct selection_moment){ .given = seed % 2 > 0, .ns = 3000 + seed * 97 };
        writer_save(w, test_path("range.dwell"));
        writer_free(w);
        load_with(&analysis, test_path("range.dwell"), &options);
        expect_scan(&analysis, 1 + seed % MAX_SCAN_JOBS);
        analysis_drop(&analysis);
    }
}

/* The thread changes its stack before the range. */
Test(unit_call_scan, a_range_after_a_change_of_the_stack)
{
    struct analysis_options options = { .limits = true };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 100, 0x1000);
    write_switch(w, 200, 2);
    write_enter(w, 300, 0x2000);
    write_open(w, 0x1000, 100);
    write_switch(w, 400, 1);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 5000, (struct open_call[]){ { 0x1000, 100 } }, 1);
    write_enter(w, 5100, 0x2000);
    write_exit(w, 5200);
    write_exit(w, 5300);
    end_events(w, true);
    writer_save(w, test_path("range.dwell"));
    writer_free(w);
    options.selection.from = (struct selection_moment){ .given = true, .ns = 5000 };
    struct analysis analysis;
    load_with(&analysis, test_path("range.dwell"), &options);
    expect_scan(&analysis, 2);
    analysis_drop(&analysis);
}
