/* dwell replay for handmade sessions: whole outputs, and the lines of parts. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

enum { F = 0x1000, G = 0x2000, H = 0x3000, US = 1000 };

/* Marks, a pause and two stacks: at 0 F { 10 G { 20 mark, 30 pause, 70 resume } 90, away at 110 }, 130 H on the other
 * stack, back at 150. */
static struct writer *marked_session(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    set_build_id(w, "\x01\x02", 2);
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/lib/x.so");
    write_symbol_module(w, 0, "/lib/x.so");
    write_symbol(w, 0, 0, 0, F, "frame");
    write_symbol(w, 0, 0, 0, G, "_ZN4shop8round_upEd");
    write_symbol(w, 0, 0, 0, H, "other");
    write_thread(w, 1, 1, 10, SOURCE_PERF, "p");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 1, F);
    write_enter(w, 10, G);
    write_words(w, (uint16_t[]){ 10u << 8 | 11, 22, 0, 0, 20, 0, 0, 7, 0, 3, 'h' | 'e' << 8, 'y' }, 12);
    write_words(w, (uint16_t[]){ 11u << 8 | 3, 30, 0, 0 }, 4);
    write_words(w, (uint16_t[]){ 12u << 8 | 5, 70, 0, 0, 0, 0 }, 6);
    w->last = 70;
    write_exit(w, 90);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 90, (struct open_call[]){ { F, 41 } }, 1); /* entered at 1, and paused for 40 */
    write_words(w, (uint16_t[]){ 15u << 8 | 5, 110, 0, 0, 0, 0 }, 6);
    w->last = 110;
    write_enter(w, 130, H);
    write_exit(w, 140);
    write_words(w, (uint16_t[]){ 14u << 8 | 7, F, 0, 0, 0, 81, 0, 0 }, 8); /* and set aside for 40 */
    write_words(w, (uint16_t[]){ 15u << 8 | 5, 150, 0, 0, 0, 0 }, 6);
    w->last = 150;
    write_words(w, (uint16_t[]){ 10u << 8 | 9, 160, 0, 0, 160, 0, 0, 8, 0, 0 }, 10);
    w->last = 160;
    write_exit(w, 170);
    end_events(w, true);
    return w;
}

/* 30 calls of F within each other, and 25 of G in the innermost one. */
static struct writer *deep_session(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    write_thread(w, 1, 1, 10, SOURCE_PERF, "a\nb");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    uint64_t t = 1000;
    for (int i = 0; i < 30; i++)
        write_enter(w, t++, F);
    for (int i = 0; i < 25; i++) {
        write_enter(w, t++, G);
        write_exit(w, t++);
    }
    for (int i = 0; i < 30; i++)
        write_exit(w, t++);
    end_events(w, true);
    return w;
}

enum { BUSY_CALLS = 10000 };

/* F { G G G ... } on three threads, with interleaved calls. Each thread has one call of H, which takes longer. */
static void write_busy(struct writer *w, uint32_t thread)
{
    begin_events(w, 1, thread, 0, 0, NULL, 0);
    uint64_t t = 1000 + thread;
    write_enter(w, t++, F);
    for (int i = 0; i < BUSY_CALLS; i++) {
        const bool is_long = i == 1000 * (int)thread;
        write_enter(w, t += 3, is_long ? H : G);
        write_exit(w, t += is_long ? 20000 : 4);
    }
    write_exit(w, t += 3);
    end_events(w, true);
}

static struct writer *busy_session(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 10, "/bin/p");
    for (uint32_t thread = 1; thread <= 3; thread++)
        write_thread(w, 1, thread, 10 + thread, SOURCE_PERF, "t");
    for (uint32_t thread = 1; thread <= 3; thread++)
        write_busy(w, thread);
    return w;
}

static void replay_save_sessions(void)
{
    struct writer *const sessions[] = { example_session(SOURCE_PERF), marked_session(), deep_session(),
                                        busy_session() };
    static const char *const names[] = { "example.dwell", "marked.dwell", "deep.dwell", "busy.dwell" };
    for (int i = 0; i < 4; i++) {
        writer_save(sessions[i], test_path(names[i]));
        writer_free(sessions[i]);
    }
}

TestSuite(golden_replay, .init = replay_save_sessions, .timeout = 300);

static void expect_replay(const char *arguments, const char *wanted)
{
    struct ran r = run("$DWELL replay %s", arguments);
    cr_assert(eq(str, r.err, ""), "dwell replay %s", arguments);
    cr_assert(eq(int, r.status, 0), "dwell replay %s", arguments);
    cr_assert(eq(str, r.out, (char *)wanted), "dwell replay %s", arguments);
    ran_drop(&r);
}

Test(golden_replay, whole)
{
    check_golden("replay example.dwell", "replay.txt");
    check_golden("replay example.dwell --format csv", "replay.csv");
    check_golden("replay example.dwell --format json", "replay.json");
}

Test(golden_replay, marks_pauses_and_stacks)
{
    check_golden("replay marked.dwell", "replay-marked.txt");
    check_golden("replay marked.dwell --format csv", "replay-marked.csv");
}

Test(golden_replay, deep)
{
    check_golden("replay deep.dwell", "replay-deep.txt");
}

Test(golden_replay, a_part_by_time)
{
    expect_replay("example.dwell --from 133us --to 140us",
                  "    TIME us         TOOK   THREAD        CALL\n"
                  "    101.000                1000 shop     main() {  (began before)\n"
                  "    127.000     9.000 us  >1002 pricing  price_of(shop::Item const&, int);  (began before)\n"
                  "    133.000               >1000 shop       handle() {\n"
                  "    134.000                1000 shop         price_of(shop::Item const&, int) {\n"
                  "    135.000                1000 shop           price_of(shop::Item const&, int) {\n"
                  "    136.000       250 ns   1000 shop             shop::round_up(double);\n"
                  "    138.000     3.000 us   1000 shop           }\n"
                  "    139.000     5.000 us   1000 shop         }\n"
                  "                           1000 shop       }  (goes on)\n"
                  "                           1000 shop     }  (goes on)\n");
    expect_replay(
        "example.dwell --from 210us --to 211us", /* a call that ends where the part begins belongs to it */
        "    TIME us         TOOK   THREAD        CALL\n"
        "    101.000                1000 shop     main() {  (began before)\n"
        "    193.000                1000 shop       audit() {  (began before)\n"
        "    195.000                1000 shop         handle() {  (began before)\n"
        "    196.000                1000 shop           [unknown]+0x7f0000dead00();  (began before, goes on)\n"
        "    150.000               >1001 worker   main() {  (began before)\n"
        "    205.000     5.000 us   1001 worker     price_of(shop::Item const&, int);  (began before)\n"
        "                          >1000 shop         }  (goes on)\n"
        "                           1000 shop       }  (goes on)\n"
        "                           1000 shop     }  (goes on)\n"
        "                          >1001 worker   }  (goes on)\n");
}

Test(golden_replay, inside_calls_of_a_function)
{
    expect_replay("example.dwell --root handle --thread shop --to 135us",
                  "    TIME us         TOOK   THREAD     CALL\n"
                  "    103.000                1000 shop  handle() {\n"
                  "    104.000                1000 shop    price_of(shop::Item const&, int) {\n"
                  "    105.000                1000 shop      price_of(shop::Item const&, int) {\n"
                  "    106.000       250 ns   1000 shop        shop::round_up(double);\n"
                  "    108.000     3.000 us   1000 shop      }\n"
                  "    109.000     5.000 us   1000 shop    }\n"
                  "                9.000 us   1000 shop    -- blocked\n"
                  "    123.000    20.000 us   1000 shop  }\n"
                  "    133.000                1000 shop  handle() {\n"
                  "    134.000                1000 shop    price_of(shop::Item const&, int);  (goes on)\n"
                  "                           1000 shop  }  (goes on)\n");
    expect_replay("example.dwell --root 'price*' --depth 1 --process 1001",
                  "    TIME us         TOOK   THREAD       CALL\n"
                  "    205.000     5.000 us   1001 worker  price_of(shop::Item const&, int);\n"
                  "    250.000    30.000 us   1001 worker  price_of(shop::Item const&, int);  (no more recorded)\n");
    struct ran r = run("$DWELL replay example.dwell --root round_up");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err,
                 "dwell: example.dwell: --root: no call of 'round_up' in the selected range; dwell report -s name "
                 "lists the functions\n"));
    ran_drop(&r);
}

Test(golden_replay, short_and_deep_calls_left_out)
{
    expect_replay("example.dwell --min 9us --to 140us",
                  "    TIME us         TOOK   THREAD        CALL\n"
                  "    101.000                1000 shop     main() {\n"
                  "    103.000                1000 shop       handle() {\n"
                  "    110.000     9.000 us  >1002 pricing  price_of(shop::Item const&, int);\n"
                  "                9.000 us  >1000 shop         -- blocked\n"
                  "    123.000    20.000 us   1000 shop       }\n"
                  "    127.000     9.000 us  >1002 pricing  price_of(shop::Item const&, int);\n"
                  "                          >1000 shop     }  (goes on)\n");
    expect_replay("example.dwell --depth 2 --to 125us --thread 1000",
                  "    TIME us         TOOK   THREAD     CALL\n"
                  "    101.000                1000 shop  main() {\n"
                  "    103.000                1000 shop    handle() {\n"
                  "                9.000 us   1000 shop      -- blocked\n"
                  "    123.000    20.000 us   1000 shop    }\n"
                  "                           1000 shop  }  (goes on)\n");
    expect_replay(
        "example.dwell --depth 1 --to 160us --thread 1000", /* waits of deeper calls belong to their callers */
        "    TIME us         TOOK   THREAD     CALL\n"
        "    101.000                1000 shop  main();  (goes on)\n");
    expect_replay("example.dwell --thread pric* -n 2",
                  "    TIME us         TOOK   THREAD        CALL\n"
                  "    110.000                1002 pricing  price_of(shop::Item const&, int) {\n"
                  "    113.000     1.000 us   1002 pricing    shop::round_up(double);\n");
}

/* --last prints the end of the whole output. */
Test(golden_replay, the_last_rows)
{
    free(run_well(
        "$DWELL replay example.dwell --format csv >all; $DWELL replay example.dwell --last 5 --format csv >some\n"
        "{ head -n 1 all; tail -n 5 all; } | cmp - some\n"
        "$DWELL replay example.dwell --format json --to 130us | tail -n 3 >all\n"
        "$DWELL replay example.dwell --last 3 --format json --to 130us | cmp - all\n"
        "$DWELL replay example.dwell >all; $DWELL replay example.dwell --last 1000 | cmp - all"));
    struct ran r = run("$DWELL replay example.dwell --last 2 -n 2");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, "dwell: --last: -n, --limit prints the first rows; use one of them\n"));
    ran_drop(&r);
    r = run("$DWELL replay example.dwell --last 0");
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, "dwell: --last: must be 1 or more\n"));
    ran_drop(&r);
}

Test(golden_replay, a_part_by_marks)
{
    expect_replay("marked.dwell --from mark:7 --to mark:8",
                  "    TIME us         TOOK   THREAD  CALL\n"
                  "      0.001                10 p  frame() {  (began before)\n"
                  "      0.010                10 p    shop::round_up(double) {  (began before)\n"
                  "      0.020                10 p      -- mark 7: hey\n"
                  "      0.030                10 p      -- paused\n"
                  "      0.070                10 p      -- resumed\n"
                  "      0.090        40 ns   10 p    }\n"
                  "      0.110        69 ns   10 p  }  (away)\n"
                  "      0.130        10 ns   10 p  other();\n"
                  "      0.150                10 p  frame();  (back, goes on)\n");
    free(run_well(
        "$DWELL replay marked.dwell --from mark:hey >by-text; $DWELL replay marked.dwell --from mark:7 >by-number; "
        "cmp by-text by-number"));
}

static void check_mistake(const char *arguments, int status, const char *wanted)
{
    struct ran r = run("$DWELL replay %s", arguments);
    cr_assert(eq(int, r.status, status), "%s", arguments);
    cr_assert(eq(str, r.out, ""), "%s", arguments);
    cr_assert(eq(str, r.err, (char *)wanted), "%s", arguments);
    ran_drop(&r);
}

Test(golden_replay, mistakes)
{
    check_mistake("example.dwell --from 2us --to 2us", 2, "dwell: example.dwell: --from is not before --to\n");
    check_mistake(
        "example.dwell --from 2", 2,
        "dwell: --from: '2' is neither a time such as 2.5ms or 1s nor a mark such as mark:1 or mark:loaded\n");
    check_mistake("example.dwell --from mark:hello", 2,
                  "dwell: example.dwell: --from: no mark 'hello'; dwell marks lists them\n");
    check_mistake("marked.dwell --from mark:8 --to mark:7", 2,
                  "dwell: marked.dwell: --to: no mark '7' is later than --from\n");
    check_mistake("example.dwell --depth 0", 2, "dwell: --depth: must be 1 or more\n");
    check_mistake("example.dwell --thread nobody", 2,
                  "dwell: example.dwell: no thread 'nobody'; dwell report --by thread lists them\n");
    check_mistake("example.dwell --to 1ns", 0, "dwell: example.dwell: no events in the selected range\n");
    check_mistake("example.dwell --from 5s", 2,
                  "dwell: example.dwell: --from is after the end of the recording, which is at 400 us\n");
    check_mistake("nothing.dwell", 2, "dwell: nothing.dwell: No such file or directory\n");
}

/* A reader that stops reading is not an error. */
Test(golden_replay, a_closed_pipe)
{
    char *out = run_well(
        "(for i in $(seq 20); do $DWELL replay deep.dwell || echo \"status $?\" >&2; done) 2>said | head -n 1; "
        "cat said");
    cr_assert(eq(str, out, "    TIME us         TOOK   THREAD     CALL\n"));
    free(out);
}

/* Many calls begin and end before the length of an earlier one is known. All are shown, and few are kept in memory. */
Test(golden_replay, many_short_calls)
{
    free(run_well("$DWELL replay busy.dwell | grep -c 0x2000 >all; test $(cat all) = 29997"));
    expect_replay("busy.dwell --min 20us", "    TIME us         TOOK   THREAD  CALL\n"
                                           "      1.001                11 t#1  [unknown]+0x1000() {\n"
                                           "      1.002               >12 t#2  [unknown]+0x1000() {\n"
                                           "      1.003               >13 t#3  [unknown]+0x1000() {\n"
                                           "      8.005    20.000 us  >11 t#1    [unknown]+0x3000();\n"
                                           "     15.006    20.000 us  >12 t#2    [unknown]+0x3000();\n"
                                           "     22.007    20.000 us  >13 t#3    [unknown]+0x3000();\n"
                                           "     91.001    90.000 us  >11 t#1  } [unknown]+0x1000()\n"
                                           "     91.002    90.000 us  >12 t#2  } [unknown]+0x1000()\n"
                                           "     91.003    90.000 us  >13 t#3  } [unknown]+0x1000()\n");
}
