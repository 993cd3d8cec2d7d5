/* Conditions of `dwell diff --fail-if` on calls that chance decides, for handmade sessions of a server. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/session_writer.h"

/* One run of a server: calls of its own function, and those that the system's timing decides. */
struct served {
    unsigned adds, locks, asks, polls, signals, tries;
};

enum { MAIN = 0x1100, ADD = 0x1200, WAIT = 0x1300, ASK = 0x1400, HANDLE = 0x1500, NOTE = 0x1600, SERVE = 0x1700 };
enum { ASK_AGAIN = 0x1800, LOCK = 0x9100, POLL = 0x9200, CONDITION = 0x9300 };

static uint64_t served_call(struct writer *w, uint64_t time, uint64_t function)
{
    write_enter(w, time, function);
    write_exit(w, time + 10);
    return time + 20;
}

static uint64_t served_write_waits(struct writer *w, uint64_t time, const struct served *s)
{
    for (unsigned i = 0; i < s->polls; i++) {
        write_enter(w, time, POLL);
        for (unsigned j = 0; i == 0 && j < s->signals; j++) { /* a signal's handler runs in the wait */
            write_enter(w, time += 10, HANDLE);
            time = served_call(w, time + 10, NOTE);
            write_exit(w, time);
        }
        write_exit(w, time += 10);
    }
    write_enter(w, time, WAIT);
    for (unsigned i = 0; i < s->asks; i++)
        time = served_call(w, time + 10, ASK);
    write_exit(w, time += 10);
    write_enter(w, time, SERVE); /* the same wait, as a part of the function that waits */
    for (unsigned i = 0; i < s->asks; i++)
        time = served_call(w, time + 10, ASK_AGAIN);
    time = served_call(w, time + 10, CONDITION);
    write_exit(w, time += 10);
    return time;
}

static void served_save(const char *name, const struct served *s)
{
    static const struct {
        uint64_t address;
        const char *name;
    } own[] = {
        { MAIN, "main" },
        { ADD, "add" },
        { WAIT, "_ZNSt18condition_variable4waitIZ5servevEUlvE_EEvRSt11unique_lockISt5mutexET_" },
        { ASK, "_ZZ5servevENKUlvE_clEv" },
        { HANDLE, "handle" },
        { NOTE, "note" },
        { SERVE, "serve" },
        { ASK_AGAIN, "_ZZ5servevENKUlvE0_clEv" },
    };
    struct writer *w = writer_new();
    write_process(w, 1, 70, "/opt/server");
    write_thread(w, 1, 1, 70, SOURCE_PERF, "server");
    write_module(w, 1, 1, 0, 0x1000, 0x8fff, 0, "/opt/server");
    write_module(w, 1, 2, 0, 0x9000, 0x9fff, 0, "/lib/libc.so.6");
    write_symbol_module(w, 0, "/opt/server");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        write_symbol(w, 0, 0, 0, own[i].address, own[i].name);
    write_symbol_module(w, 1, "/lib/libc.so.6");
    write_symbol(w, 1, 0, 0, LOCK, "pthread_mutex_lock");
    write_symbol(w, 1, 0, 0, POLL, "poll");
    write_symbol(w, 1, 0, 0, CONDITION, "pthread_cond_wait");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    uint64_t time = 100;
    write_enter(w, time, MAIN);
    for (unsigned i = 0; i < s->adds; i++) {
        write_enter(w, time += 10, ADD);
        time = i < s->locks ? served_call(w, time + 10, LOCK) : time + 30;
        write_exit(w, time);
    }
    time = served_write_waits(w, time + 10, s);
    write_exit(w, time + 10);
    end_events(w, true);
    writer_save(w, test_path(name));
    writer_free(w);
}

static void served_save_all(void)
{
    served_save("base", &(struct served){ .adds = 5, .locks = 2, .asks = 1, .polls = 2, .signals = 1 });
    served_save("same", &(struct served){ .adds = 5, .locks = 4, .asks = 3, .polls = 3, .signals = 2 });
    served_save("more", &(struct served){ .adds = 6, .locks = 4, .asks = 3, .polls = 3, .signals = 2 });
    served_save("most", &(struct served){ .adds = 8, .locks = 4, .asks = 3, .polls = 3, .signals = 2 });
}

TestSuite(golden_gates, .init = served_save_all, .timeout = 300);

static void gates_expect(const char *arguments, int status, const char *message)
{
    struct ran r = run("$DWELL diff %s --format csv >rows.csv", arguments);
    cr_assert(eq(int, r.status, status), "%s: %s", arguments, r.err);
    cr_assert(eq(str, r.err, (char *)message), "%s", arguments);
    ran_drop(&r);
}

/* Two runs of one build. */
Test(golden_gates, what_the_system_decides_fails_nothing)
{
    static const char left_out[] =
        "dwell: --fail-if 'calls > +0': left out 6 functions whose calls chance decides; 'all_calls > +0' counts them\n";
    struct ran r = run("$DWELL diff base same --fail-if 'calls > +0' --fail-if 'calls < -0' --sort name --format csv");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(has(r.err, left_out), "%s", r.err);
    cr_assert(has(r.err, "  handle (server): 1 -> 2 (+100.00 %): called by such a call\n"), "%s", r.err);
    cr_assert(has(r.err, "  and 3 more\n"), "%s", r.err);
    cr_assert(not(has(r.err, "calls < -0")), "%s", r.err);
    ran_drop(&r);
    gates_expect("same base --fail-if 'calls > +0'", 0, "");
}

Test(golden_gates, by_module_and_path)
{
    struct ran r = run("$DWELL diff base same --fail-if 'calls > +0' --by module --format csv");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(has(r.err, "  libc.so.6: 5 -> 8 (+60.00 %): a call of the system, or a wait\n"), "%s", r.err);
    cr_assert(has(r.err, "  server: 12 -> 18 (+50.00 %): called by such a call\n"), "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL diff base same --fail-if 'calls > +0' --by path --format csv");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL diff base more --fail-if 'calls > +0' --by path --format csv");
    cr_assert(eq(int, r.status, 1), "%s", r.err);
    cr_assert(has(r.err, "dwell: --fail-if 'calls > +0': 1 call path\n  main;add: 5 -> 6 (+20.00 %)\n"), "%s", r.err);
    ran_drop(&r);
}

/* Another build. */
Test(golden_gates, more_calls_of_an_own_function_fail)
{
    struct ran r = run("$DWELL diff base more --fail-if 'calls > +0' --format csv");
    cr_assert(eq(int, r.status, 1), "%s", r.err);
    cr_assert(has(r.err, "dwell: --fail-if 'calls > +0': 1 function\n  add (server): 5 -> 6 (+20.00 %)\n"), "%s",
              r.err);
    ran_drop(&r);
}

Test(golden_gates, all_calls_are_for_those_who_ask)
{
    struct ran r = run("$DWELL diff base same --fail-if ' all_calls > +0' --sort name --format csv");
    cr_assert(eq(int, r.status, 1), "%s", r.err);
    cr_assert(has(r.err, "dwell: --fail-if ' all_calls > +0': 6 functions\n"), "%s", r.err);
    cr_assert(has(r.err, "  pthread_mutex_lock (libc.so.6): 2 -> 4 (+100.00 %)\n"), "%s", r.err);
    cr_assert(not(has(r.err, "left out")), "%s", r.err);
    ran_drop(&r);
}

/* `add` differs between runs of the base. */
Test(golden_gates, what_differs_between_runs_of_the_base_fails_nothing)
{
    struct ran r = run("$DWELL diff base more -- most most --fail-if 'calls > +0' --format csv");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(has(r.err, "  add (server): 5.50 -> 8 (+45.45 %): differs between the runs before\n"), "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL diff base same -- base more --fail-if 'calls > +0' --only add --format csv");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(has(r.err, "  add (server): 5 -> 5.50 (+10.00 %): differs between the runs after\n"), "%s", r.err);
    ran_drop(&r);
    gates_expect(
        "base same -- more most --fail-if 'calls > +1' --only add", 0,
        "dwell: --fail-if 'calls > +1': left out 1 function whose calls chance decides; 'all_calls > +1' counts "
        "it\n  add (server): 5 -> 7 (+40.00 %): differs between the runs after\n");
    gates_expect("base same -- more most --fail-if 'calls > +0' --only add", 1,
                 "dwell: --fail-if 'calls > +0': 1 function\n  add (server): 5 -> 7 (+40.00 %)\n");
}

/* One run of a queue: `take` asks whether the queue is empty once a job, and once more after each wait. `wait_for_job`
 * is a function of the program. */
static void queue_save(const char *name, unsigned jobs, unsigned waits, unsigned sizes)
{
    enum { TAKE = 0x1200, EMPTY = 0x1300, SIZE = 0x1400, WAIT_FOR_JOB = 0x1500, RENDER = 0x1600, WAITING = 0x9100 };
    static const struct {
        uint64_t address;
        const char *name;
    } own[] = {
        { TAKE, "take" }, { EMPTY, "empty" }, { SIZE, "size" }, { WAIT_FOR_JOB, "wait_for_job" }, { RENDER, "render" }
    };
    struct writer *w = writer_new();
    write_process(w, 1, 70, "/opt/queue");
    write_thread(w, 1, 1, 70, SOURCE_PERF, "queue");
    write_module(w, 1, 1, 0, 0x1000, 0x8fff, 0, "/opt/queue");
    write_module(w, 1, 2, 0, 0x9000, 0x9fff, 0, "/lib/libc.so.6");
    write_symbol_module(w, 0, "/opt/queue");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        write_symbol(w, 0, 0, 0, own[i].address, own[i].name);
    write_symbol_module(w, 1, "/lib/libc.so.6");
    write_symbol(w, 1, 0, 0, WAITING, "pthread_cond_wait");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    uint64_t time = 100;
    for (unsigned job = 0; job < jobs; job++) {
        const unsigned waited = job ? 0 : waits;
        write_enter(w, time += 10, TAKE);
        for (unsigned i = 0; i <= waited; i++) {
            write_enter(w, time += 10, EMPTY);
            for (unsigned j = 0; j < sizes; j++)
                time = served_call(w, time + 10, SIZE);
            write_exit(w, time += 10);
            if (i == waited)
                break;
            write_enter(w, time += 10, WAIT_FOR_JOB);
            time = served_call(w, time + 10, WAITING);
            write_exit(w, time += 10);
        }
        write_exit(w, time += 10);
        time = served_call(w, time + 10, RENDER);
    }
    end_events(w, true);
    writer_save(w, test_path(name));
    writer_free(w);
}

/* One run before is enough: nothing but the waits differs. */
Test(golden_gates, what_is_asked_again_after_a_wait_fails_nothing)
{
    queue_save("few", 20, 2, 2);
    queue_save("many", 20, 5, 2);
    struct ran r = run("$DWELL diff few many --fail-if 'calls > +0' --sort name --format csv");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(eq(str, r.err,
                 "dwell: --fail-if 'calls > +0': left out 4 functions whose calls chance decides; 'all_calls > +0' "
                 "counts them\n"
                 "  empty (queue): 22 -> 25 (+13.64 %): differs no more than its callers' waits for a condition\n"
                 "  pthread_cond_wait (libc.so.6): 2 -> 5 (+150.00 %): a call of the system, or a wait\n"
                 "  size (queue): 44 -> 50 (+13.64 %): differs no more than its callers' waits for a condition\n"
                 "  and 1 more\n"));
    ran_drop(&r);
    r = run("$DWELL diff many few --fail-if 'calls < -0' --by path --format csv");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL diff few many --fail-if 'all_calls > +0' --format csv");
    cr_assert(eq(int, r.status, 1), "%s", r.err);
    cr_assert(has(r.err, "'all_calls > +0': 4 functions\n"), "%s", r.err);
    ran_drop(&r);
}

/* More than the waits explain. */
Test(golden_gates, what_waits_do_not_explain_fails)
{
    queue_save("few", 20, 2, 2);
    queue_save("jobs", 24, 5, 2);
    queue_save("sizes", 20, 5, 3);
    struct ran r = run("$DWELL diff few jobs --fail-if 'calls > +0' --sort name --format csv");
    cr_assert(eq(int, r.status, 1), "%s", r.err);
    cr_assert(has(r.err, "'calls > +0': 4 functions\n  empty (queue): 22 -> 29 (+31.82 %)\n"
                         "  render (queue): 20 -> 24 (+20.00 %)\n  size (queue): 44 -> 58 (+31.82 %)\n"
                         "  take (queue): 20 -> 24 (+20.00 %)\n"),
              "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL diff few sizes --fail-if 'calls > +0' --format csv");
    cr_assert(eq(int, r.status, 1), "%s", r.err);
    cr_assert(has(r.err, "'calls > +0': 1 function\n  size (queue): 44 -> 75 (+70.45 %)\n"), "%s", r.err);
    ran_drop(&r);
}

Test(golden_gates, one_run_shows_no_noise_of_times)
{
    gates_expect("base more --fail-if 'elapsed_exclusive > +1%'", 2,
                 "dwell: --fail-if 'elapsed_exclusive > +1%': one session on a side does not show how far times differ "
                 "by chance; give several on each (dwell record --runs 5), or write all_ before the value\n");
    struct ran r = run("$DWELL diff base more --only add --fail-if 'all_elapsed_exclusive > +1%%' --format csv");
    cr_assert(eq(int, r.status, 1), "%s", r.err);
    ran_drop(&r);
}

Test(golden_gates, texts)
{
    check_golden("diff base same --sort calls", "gates-same.txt");
    char *first = run_well("$DWELL diff base base | head -n 1 | grep -o 'calls .*'");
    cr_expect(eq(str, first, "calls 7 (unchanged); chance decides 10 more\n"));
    free(first);
    check_golden("diff base more", "gates-more.txt");
    for (int i = 0; i < 3; i++) {
        static const char *const formats[] = { "markdown", "github", "junit" };
        char name[64];
        struct ran r = run("$DWELL diff base more --format %s --fail-if 'calls > +0' 2>said", formats[i]);
        cr_assert(eq(int, r.status, 1), "%s", formats[i]);
        snprintf(name, sizeof name, "gates-%s.txt", formats[i]);
        check_text(r.out, name);
        ran_drop(&r);
    }
}
