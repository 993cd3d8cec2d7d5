/* dwell critical and dwell whatif, byte for byte, on a hand-written session: a producer, a consumer that waits for it,
 * and a thread that is off the path. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/session_writer.h"

enum {
    US = 1000,
    MAIN = 0x401000,
    PRODUCE = 0x401100,
    CONSUME = 0x401200,
    IDLE = 0x401300,
    CREATE = 0x801000,
    WAIT = 0x801100,
    SIGNAL = 0x801200,
    SLEEP = 0x801300,
    JOIN = 0x801400,
    TICKS_PER_SECOND = 64,
    ALSO = 176,
    CAUSES = 2
};

static void critical_write_names(struct writer *w)
{
    static const char *const program[] = { "main", "produce_items_for_the_consumer", "consume", "idle" };
    static const char *const libc[] = { "pthread_create", "pthread_cond_wait", "pthread_cond_signal", "nanosleep",
                                        "pthread_join" };
    write_symbol_module(w, 0, "/bin/program");
    write_symbol_module(w, 1, "/lib/libc.so.6");
    for (uint64_t i = 0; i < 4; i++)
        write_symbol(w, 0, 0, 0, 0x1000 + i * 0x100, program[i]);
    for (uint64_t i = 0; i < 5; i++)
        write_symbol(w, 1, 0, 0, 0x1000 + i * 0x100, libc[i]);
}

static void critical_write_act(struct writer *w, uint64_t begin, uint64_t function, unsigned kind, uint64_t id)
{
    write_enter(w, begin, function);
    write_os(w);
    write_object(w, kind, true, id, 0);
    write_exit(w, begin + 10 * US);
}

/* Blocked for all but 2 us. */
static void critical_write_wait(struct writer *w, uint64_t begin, uint64_t end, uint64_t function, unsigned kind,
                                uint64_t id)
{
    write_enter(w, begin, function);
    write_off_cpu(w, false, begin + US, end - begin - 2 * US);
    write_object(w, kind, false, id, 0);
    write_exit(w, end);
}

static void critical_write_main(struct writer *w)
{
    begin_events(w, 1, 1, 0, 10 * US, NULL, 0);
    write_enter(w, 10 * US, MAIN);
    critical_write_act(w, 20 * US, CREATE, OBJECT_THREAD, 101);
    critical_write_act(w, 40 * US, CREATE, OBJECT_THREAD, 102);
    for (uint64_t i = 1; i <= 3; i++) {
        write_enter(w, 100 * i * US, PRODUCE);
        write_off_cpu(w, true, (100 * i + 20) * US, 5 * US);
        write_exit(w, (100 * i + 70) * US);
        critical_write_act(w, (100 * i + 80) * US, SIGNAL, OBJECT_CONDITION, 0x4040a0);
    }
    critical_write_wait(w, 400 * US, 602 * US, JOIN, OBJECT_THREAD, 101);
    write_exit(w, 700 * US);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 710 * US);
}

static void critical_write_consumer(struct writer *w)
{
    begin_events(w, 1, 2, 0, 35 * US, NULL, 0);
    write_enter(w, 35 * US, CONSUME);
    for (uint64_t i = 1; i <= 3; i++)
        critical_write_wait(w, (100 * i + 10) * US, (100 * i + 93) * US, WAIT, OBJECT_CONDITION, 0x4040a0);
    critical_write_wait(w, 500 * US, 522 * US, SLEEP, OBJECT_SLEEP, 20 * US);
    write_exit(w, 590 * US);
    end_events(w, true);
    write_thread_end(w, 1, 2, false, 590 * US);
}

static void critical_write_idle(struct writer *w)
{
    begin_events(w, 1, 3, 0, 55 * US, NULL, 0);
    write_enter(w, 55 * US, IDLE);
    write_exit(w, 255 * US);
    end_events(w, true);
    write_thread_end(w, 1, 3, false, 260 * US);
}

static void critical_save_named(const char *name, unsigned also, const char *second, uint64_t ticks_per_second)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, also, 4);
    write_header(w, TICKS_PER_SECOND, ticks_per_second, 8);
    write_process(w, 1, 100, "/bin/program");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/program");
    write_module(w, 1, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    write_thread_at(w, 1, 1, 100, SOURCE_PERF, 10 * US, "main");
    write_thread_at(w, 1, 2, 101, SOURCE_PERF, 35 * US, second);
    write_thread_at(w, 1, 3, 102, SOURCE_PERF, 55 * US, "idler");
    critical_write_names(w);
    critical_write_main(w);
    critical_write_consumer(w);
    critical_write_idle(w);
    writer_save(w, test_path(name));
    writer_free(w);
}

static void critical_save(const char *name, unsigned also)
{
    critical_save_named(name, also, "consumer", 1000000000);
}

Test(golden_critical, formats)
{
    critical_save("path", CAUSES);
    check_golden("critical path", "critical.txt");
    check_golden("critical path --format csv", "critical.csv");
    check_golden("critical path --format json", "critical.json");
    check_golden("critical path --by segment --format csv", "critical-segments.csv");
    check_golden("critical path --by thread --format csv", "critical-threads.csv");
}

/* Data has a thread's name, and what text shows of threads of one name. */
Test(golden_critical, threads_of_one_name)
{
    critical_save_named("alike", CAUSES, "main", 1000000000);
    char *text = run_well("$DWELL critical alike --format json | "
                          "jq -c '.segments[], .threads[] | [.thread,.thread_title,.tid]' | LC_ALL=C sort -u");
    cr_expect(eq(str, text,
                 "[\"idler\",\"idler\",102]\n"
                 "[\"main\",\"consume#2\",101]\n"
                 "[\"main\",\"main#1\",100]\n"));
    free(text);
}

Test(golden_critical, of_widths)
{
    static const unsigned widths[] = { 80, 120 };
    critical_save("path", CAUSES);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char name[64];
        snprintf(name, sizeof name, "critical-%u.txt", widths[i]);
        char *text =
            run_well("DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols %u; $DWELL critical path\" "
                     "/dev/null </dev/null | tr -d '\\r' | sed 's/ *$//'",
                     widths[i]);
        check_text(text, name);
        free(text);
    }
}

/* A range, a call, a thread at the end, and limits of rows. */
Test(golden_critical, parts)
{
    critical_save("path", CAUSES);
    check_golden("critical path --from 150us --to 450us --by function", "critical-range.txt");
    check_golden("critical path --call produce_items_for_the_consumer --slowest --by segment", "critical-call.txt");
    check_golden("critical path --thread idler --by segment", "critical-thread.txt");
    check_golden("critical path -n 1", "critical-limited.txt");
    check_golden("critical path --filter 'work>0' --sort work --columns work,function --by function",
                 "critical-columns.txt");
}

/* Two positions on the axis of time have one unit, even if the column of one of them would have a finer one. */
Test(golden_critical, units_of_moments)
{
    static const char arguments[] = "critical %s --call produce_items_for_the_consumer --slowest --by segment";
    char command[128];
    critical_save_named("columns", CAUSES, "consumer", 16000000); /* from 6.25 ms to 10.625 ms */
    snprintf(command, sizeof command, arguments, "columns");
    check_golden(command, "critical-moments.txt");
    critical_save_named("heading", CAUSES, "consumer", 160000000); /* from 0.625 ms to 1.063 ms */
    snprintf(command, sizeof command, arguments, "heading");
    check_golden(command, "critical-moments-heading.txt");
}

Test(golden_critical, sessions_without_causes)
{
    critical_save("old", 0);
    check_golden("critical old --by segment", "critical-old.txt");
}

Test(golden_critical, what_if)
{
    critical_save("path", CAUSES);
    check_golden("whatif produce_items_for_the_consumer=0.5 consume=0.5 path", "whatif.txt");
    check_golden("whatif produce_items_for_the_consumer=0.5 path --format csv", "whatif.csv");
    check_golden("whatif --rank path", "whatif-rank.txt");
    check_golden("whatif --rank path --format csv", "whatif-rank.csv");
    check_golden("whatif --rank consume=0 path --format json", "whatif-rank.json");
    check_golden("whatif --cpus 1 consume=0.5 path", "whatif-cpus.txt");
}

/* Nobody knows what ended the waits: a prediction is a range. */
Test(golden_critical, what_if_range)
{
    critical_save("unknown", 0);
    check_golden("whatif produce_items_for_the_consumer=0.5 consume=0.5 unknown", "whatif-range.txt");
    check_golden("whatif consume=2 unknown", "whatif-range-slower.txt");
    check_golden("whatif consume=0.5 unknown --format csv", "whatif-range.csv");
    check_golden("whatif --rank unknown", "whatif-range-rank.txt");
    check_golden("whatif --rank unknown --format csv", "whatif-range-rank.csv");
    check_golden("whatif --rank consume=0 unknown --format json", "whatif-range-rank.json");
    check_golden("whatif --cpus 1 consume=0.5 unknown", "whatif-range-cpus.txt");
}

/* A thread sleeps until another one is ready, by calls of two functions. */
static void critical_write_sleeper(struct writer *w)
{
    begin_events(w, 1, 1, 0, 10 * US, NULL, 0);
    write_enter(w, 10 * US, MAIN);
    critical_write_act(w, 20 * US, CREATE, OBJECT_THREAD, 101);
    write_enter(w, 40 * US, IDLE);
    critical_write_wait(w, 50 * US, 150 * US, SLEEP, OBJECT_SLEEP, 98 * US);
    write_exit(w, 160 * US);
    write_enter(w, 200 * US, CONSUME);
    for (uint64_t i = 2; i < 5; i++)
        critical_write_wait(w, 100 * i * US, (100 * i + 42) * US, SLEEP, OBJECT_SLEEP, 40 * US);
    write_exit(w, 500 * US);
    write_exit(w, 700 * US);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 710 * US);
}

static void critical_save_sleeper(const char *name)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, CAUSES, 4);
    write_header(w, TICKS_PER_SECOND, 1000000000, 8);
    write_process(w, 1, 100, "/bin/program");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/program");
    write_module(w, 1, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    write_thread_at(w, 1, 1, 100, SOURCE_PERF, 10 * US, "main");
    write_thread_at(w, 1, 2, 101, SOURCE_PERF, 35 * US, "consumer");
    critical_write_names(w);
    critical_write_sleeper(w);
    begin_events(w, 1, 2, 0, 35 * US, NULL, 0);
    write_enter(w, 35 * US, PRODUCE);
    write_exit(w, 430 * US);
    end_events(w, true);
    write_thread_end(w, 1, 2, false, 435 * US);
    writer_save(w, test_path(name));
    writer_free(w);
}

/* 98 and 3 times 40 of 700 us. The function that sleeps most is named, not the longest sleep. */
Test(golden_critical, timed_sleep)
{
    static const char *const commands[] = { "critical", "whatif produce_items_for_the_consumer=0.5" };
    static const char remark[] =
        "31.1 % of the path is timed sleep, most of it in consume (nanosleep). Sleeps are taken as fixed: a loop that "
        "sleeps until another thread is ready does not get shorter with that thread here";
    critical_save_sleeper("sleeper");
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *text = run_well("$DWELL %s sleeper", commands[i]);
        cr_assert(has(text, remark), "%s", text);
        free(text);
        text = run_well("$DWELL %s sleeper --format json", commands[i]);
        cr_assert(has(text, "{\"code\":\"timed-sleep\",\"text\":\"31.1 % of the path is timed sleep"), "%s", text);
        free(text);
    }
}

/* The path of the last part has no sleep; that of the whole run in `path` has 20 of 700 us, which is no remark. */
Test(golden_critical, little_timed_sleep)
{
    critical_save_sleeper("sleeper");
    critical_save("path", CAUSES);
    char *text = run_well("$DWELL critical sleeper --from 500us; $DWELL critical path; $DWELL whatif consume=0.5 path");
    cr_assert(not(has(text, "timed sleep")), "%s", text);
    free(text);
}

Test(golden_critical, what_if_of_widths)
{
    static const unsigned widths[] = { 80, 120 };
    critical_save("path", CAUSES);
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        char name[64];
        snprintf(name, sizeof name, "whatif-rank-%u.txt", widths[i]);
        char *text = run_well("DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols %u; $DWELL whatif --rank "
                              "path\" /dev/null </dev/null | tr -d '\\r' | sed 's/ *$//'",
                              widths[i]);
        check_text(text, name);
        free(text);
    }
}

Test(golden_critical, what_if_refusals)
{
    static const struct {
        const char *arguments, *message;
    } wrong[] = {
        { "path", "which FUNCTION=FACTOR?" },
        { "path consume=x", "'x' is no factor from 0 to 1000" },
        { "path consume=-1", "'-1' is no factor from 0 to 1000" },
        { "path --cpus 0", "'0' is not from 1 to 4096" },
        { "path nobody=0.5", "no function 'nobody' was recorded" },
        { "path consume=1 other", "one session at a time" },
    };
    critical_save("path", CAUSES);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran r = run("$DWELL whatif %s", wrong[i].arguments);
        cr_assert(eq(int, r.status, 2), "%s", wrong[i].arguments);
        cr_assert(has(r.err, wrong[i].message), "%s: %s", wrong[i].arguments, r.err);
        ran_drop(&r);
    }
}

Test(golden_critical, refusals)
{
    critical_save("path", CAUSES);
    struct ran r = run("$DWELL critical path --call idle --from 100us");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "path: no call of idle began and ended in the selected range"), "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL critical path --by lock");
    cr_assert(eq(int, r.status, 2));
    ran_drop(&r);
    r = run("$DWELL critical path --from 1s");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "path: no events in the selected range"), "%s", r.err);
    ran_drop(&r);
}
