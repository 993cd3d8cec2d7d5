/* Exports of single calls from handmade sessions with rare content. Calls begin or end at the same tick, chunks are
 * missing, and calls stay open. There are pauses, several stacks and hostile names. One tick is one nanosecond, so the
 * readers' sums must equal the report's. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/example.h"
#include "support/exported.h"
#include "support/model.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_handmade_exports, .timeout = 600);

enum { F = 0x1000, G = 0x2000, H = 0x3000 };

static struct writer *handmade_begin(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/p");
    write_thread(w, 1, 1, 101, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    return w;
}

static void handmade_check(struct writer *w)
{
    writer_save(w, test_path("dwell.data"));
    writer_free(w);
    free(run_well("$DWELL report --format csv > report.csv 2> remarks"));
    free(run_well("$DWELL export chrome -o out 2> remarks && python3 -B " DWELL_CONSUMERS
                  "/chrome.py report.csv exact out"));
    free(run_well("$DWELL export perfetto -o out 2> remarks && python3 -B " DWELL_CONSUMERS
                  "/perfetto.py report.csv exact out"));
    free(run_well("$DWELL export firefox -o out 2> remarks && python3 -B " DWELL_CONSUMERS
                  "/firefox.py report.csv exact out"));
    free(run_well("rm -rf trace; $DWELL export ctf -o trace 2> remarks && python3 -B " DWELL_CONSUMERS
                  "/ctf.py report.csv trace"));
}

Test(e2e_handmade_exports, the_example_session)
{
    handmade_check(example_session(SOURCE_PERF));
    handmade_check(example_session(SOURCE_RSEQ));
    handmade_check(example_small());
}

Test(e2e_handmade_exports, random_programs)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        struct model *m = model_new(seed);
        handmade_check(model_write(m, seed % 2 ? 50 : 0, seed % MODEL_THREADS));
        model_free(m);
    }
}

/* First all calls are within one tick. Then they follow each other without a gap. */
static struct writer *equal_ticks(void)
{
    struct writer *w = handmade_begin();
    write_enter(w, 10, F);
    write_enter(w, 10, G);
    write_enter(w, 10, H);
    write_exit(w, 10);
    write_enter(w, 10, H);
    write_exit(w, 15);
    write_exit(w, 20);
    write_enter(w, 20, G);
    write_exit(w, 20);
    write_enter(w, 20, H);
    write_enter(w, 20, H);
    write_exit(w, 30);
    write_exit(w, 30);
    write_exit(w, 30);
    write_enter(w, 30, F);
    write_exit(w, 40);
    end_events(w, true);
    return w;
}

Test(e2e_handmade_exports, equal_ticks)
{
    handmade_check(equal_ticks());
    static const char wanted[] = "1 0x1000\n2 0x2000\n3 0x3000\n3 0x3000\n2 0x2000\n2 0x3000\n3 0x3000\n1 0x1000\n";
    char *depths = run_well(
        "$DWELL export chrome -o out && python3 -B " DWELL_CONSUMERS
        "/chrome.py print out | sed -n 's/^call [0-9]* \\([0-9]*\\) \"\\[unknown\\]+\\([^\"]*\\)\".*/\\1 \\2/p'");
    cr_assert(eq(str, depths, (char *)wanted));
    free(depths);
    depths =
        run_well("$DWELL export perfetto -o out && python3 -B " DWELL_CONSUMERS
                 "/perfetto.py print out | sed -n \"s/^slice \\([0-9]*\\) '\\[unknown\\]+\\([^']*\\)'.*/\\1 \\2/p\"");
    cr_assert(eq(str, depths, (char *)wanted));
    free(depths);
}

/* PAUSE, OPEN, RESUME and SWITCH, as in docs/format.md. */
Test(e2e_handmade_exports, pauses_and_stacks)
{
    struct writer *w = handmade_begin();
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_words(w, (uint16_t[]){ 11u << 8 | 3, 30, 0, 0 }, 4);
    write_words(w, (uint16_t[]){ 14u << 8 | 7, H, 0, 0, 0, 60, 0, 0 }, 8);
    write_words(w, (uint16_t[]){ 12u << 8 | 5, 70, 0, 0, 1, 0 }, 6);
    w->last = 70;
    write_exit(w, 90);
    write_exit(w, 100);
    end_events(w, true);
    handmade_check(w);
    w = handmade_begin();
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_words(w, (uint16_t[]){ 15u << 8 | 5, 30, 0, 0, 1, 0 }, 6);
    w->last = 30;
    write_enter(w, 40, F);
    write_words(w, (uint16_t[]){ 14u << 8 | 7, F, 0, 0, 0, 40, 0, 0 }, 8);
    write_words(w, (uint16_t[]){ 14u << 8 | 7, G, 0, 0, 0, 50, 0, 0 }, 8);
    write_words(w, (uint16_t[]){ 15u << 8 | 5, 60, 0, 0, 0, 0 }, 6);
    w->last = 60;
    write_exit(w, 75);
    write_exit(w, 90);
    end_events(w, true);
    handmade_check(w);
}

Test(e2e_handmade_exports, missing_chunks)
{
    struct writer *w = handmade_begin();
    write_enter(w, 10, F);
    write_enter(w, 20, G);
    write_enter(w, 30, H);
    end_events(w, true);
    begin_events(w, 1, 1, 2, 100, (struct open_call[]){ { F, 10 }, { G, 80 } }, 2);
    write_exit(w, 110);
    write_exit(w, 120);
    write_enter(w, 130, H); /* open when the thread ends */
    end_events(w, true);
    write_thread_end(w, 1, 1, true, 150);
    handmade_check(w);
}

/* Parts of an interval; one of them begins before it. */
Test(e2e_handmade_exports, off_the_cpu)
{
    struct writer *w = handmade_begin();
    write_enter(w, 100, F);
    write_off_cpu(w, false, 110, 20);
    write_off_cpu(w, true, 140, 5);
    write_faults(w, 3);
    write_enter(w, 200, G);
    write_exit(w, 250);
    write_exit(w, 300);
    end_events(w, true);
    handmade_check(w);
    char *text =
        run_well("$DWELL export chrome -o out && python3 -B " DWELL_CONSUMERS "/chrome.py print out | grep 'off CPU' |"
                 " sed 's/ .*\"name\": \\(\"[a-z]*\"\\), \\(\"ph\": \"[be]\"\\).*/ \\1 \\2/'");
    cr_assert(eq(str, text,
                 "110 \"blocked\" \"ph\": \"b\"\n130 \"blocked\" \"ph\": \"e\"\n"
                 "140 \"preempted\" \"ph\": \"b\"\n145 \"preempted\" \"ph\": \"e\"\n"));
    free(text);
    text = run_well("$DWELL export perfetto -o out && python3 -B " DWELL_CONSUMERS
                    "/perfetto.py print out | grep '^counter'");
    cr_assert(has(text, "counter page faults [3]\n"), "%s", text);
    cr_assert(has(text, "counter blocked [20]\n"), "%s", text);
    free(text);
    text = run_well("rm -r trace; $DWELL export ctf -o trace && babeltrace2 --clock-cycles trace | grep _cpu: | sed "
                    "'s/^\\[0*//; s/\\].*dwell:/ /; s/:.*{ *\\(.*\\)}/ \\1/'");
    cr_assert(eq(str, text,
                 "110 off_cpu why = ( \"blocked\" : container = 0 ) \n130 on_cpu \n"
                 "140 off_cpu why = ( \"preempted\" : container = 1 ) \n145 on_cpu \n"),
              "%s", text);
    free(text);
    text = run_well("$DWELL export firefox | tr -d '\\n' | sed 's/.*\"weight\":\\(\\[[^]]*\\]\\).*/\\1/'");
    cr_assert(eq(str, text, "[0.000010,0.000020,0.000010,0.000005,0.000055,0.000050,0.000050]"));
    free(text);
}

/* The same pid continues as another program, which starts a third. */
Test(e2e_handmade_exports, flows)
{
    struct writer *w = writer_new();
    static const uint32_t pids[] = { 100, 100, 101 };
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t record[] = { pids[i], i == 2 ? 100 : 1, 0, 0, 10 + 10 * i, 0, 'p' << 16 | 1, 0 };
        write_record(w, i + 1, 1, record, sizeof record);
        write_thread(w, i + 1, i + 1, pids[i], SOURCE_PERF, "main");
    }
    for (uint32_t i = 0; i < 3; i++) {
        begin_events(w, i + 1, i + 1, 0, 0, NULL, 0);
        write_enter(w, 100 + 100 * i, F);
        write_exit(w, 150 + 100 * i);
        end_events(w, true);
    }
    handmade_check(w);
    char *text = run_well("$DWELL export perfetto -o out && python3 -B " DWELL_CONSUMERS
                          "/perfetto.py print out | grep ^instant");
    cr_assert(eq(str, text,
                 "instant 'exec: p (100)' {}\ninstant 'exec: p (100)' {}\n"
                 "instant 'start: p (101)' {}\ninstant 'start: p (101)' {}\n"));
    free(text);
    text =
        run_well("$DWELL export firefox -o out && python3 -B " DWELL_CONSUMERS "/firefox.py print out | grep ^thread");
    cr_assert(eq(str, text,
                 "thread [\"p\", \"100\", \"main\", \"100\"]\nthread [\"p\", \"100.2\", \"main\", \"100\"]\n"
                 "thread [\"p\", \"101\", \"main\", \"101\"]\n"));
    free(text);
}

/* Slices of a track must nest, so activities that overlap are on two tracks. A third one takes a track again. */
Test(e2e_handmade_exports, activities)
{
    static const char class[][16] = { "a class, number1", "a class, number2" };
    static const struct {
        uint64_t time;
        unsigned class, type;
    } events[] = { { 110, 0, 1 }, { 120, 1, 1 }, { 130, 0, 2 }, { 140, 0, 1 }, { 150, 1, 2 }, { 160, 0, 2 } };
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/p");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_event_class(w, 1, class[0], "first");
    write_event_class(w, 1, class[1], "second");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 100, F);
    write_exit(w, 200);
    end_events(w, true);
    begin_trace_events(w, 1, 1, 0);
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        write_trace_event(
            w, class [events[i].class], &(struct written_event) { .time = events[i].time, .type = events[i].type });
    end_trace_events(w, true);
    handmade_check(w);
    char *text = run_well("$DWELL export perfetto -o out && python3 -B " DWELL_CONSUMERS
                          "/perfetto.py print out | grep -E '^track.*activities|^slice.*(first|second)'");
    cr_assert(eq(str, text,
                 "track slices 'activities'\nslice 1 'first' []\ntrack slices 'activities'\nslice 1 'second' []\n"
                 "slice 1 'first' []\n"));
    free(text);
}

/* As the readers print them, with JSON's and Python's escapes. */
static void handmade_check_names(const char *text, const char *form, const char *const *names)
{
    for (int i = 0; i < BAD_NAMES; i++) {
        char *wanted = NULL;
        cr_assert(asprintf(&wanted, form, i == BAD_LONG ? bad_names[i] : names[i]) > 0);
        cr_assert(has(text, wanted), "%.300s", wanted);
        free(wanted);
    }
}

Test(e2e_handmade_exports, names_of_all_kinds)
{
    static const char *const json[BAD_NAMES] = {
        [BAD_QUOTES] = "operator\\\"\\\"_s<'\\\\'>",
        [BAD_SEMICOLON] = "a;b::c;",
        [BAD_NEWLINE] = "two\\nlines\\r\\n",
        [BAD_UNICODE] = "größe::日本<😀>",
        [BAD_BYTES] = "bad\xef\xbf\xbd\xef\xbf\xbdname\xef\xbf\xbd\xef\xbf\xbd",
        [BAD_NUMBER] = "operator new 12",
        [BAD_CONTROLS] = "tab\\there\\u001b[0m\x7f",
        [BAD_MARKUP] = "</script><b>&amp;",
    };
    static const char *const python[BAD_NAMES] = {
        [BAD_QUOTES] = "'operator\"\"_s<\\'\\\\\\'>'",
        [BAD_SEMICOLON] = "'a;b::c;'",
        [BAD_NEWLINE] = "'two\\nlines\\r\\n'",
        [BAD_UNICODE] = "'größe::日本<😀>'",
        [BAD_BYTES] = "'bad\xef\xbf\xbd\xef\xbf\xbdname\xef\xbf\xbd\xef\xbf\xbd'",
        [BAD_NUMBER] = "'operator new 12'",
        [BAD_CONTROLS] = "'tab\\there\\x1b[0m\\x7f'",
        [BAD_MARKUP] = "'</script><b>&amp;'",
    };
    struct writer *w = bad_session();
    writer_save(w, test_path("dwell.data"));
    writer_free(w);
    char *text = run_well("$DWELL export chrome -o out.trace.json && python3 -B " DWELL_CONSUMERS
                          "/chrome.py print out.trace.json");
    handmade_check_names(text, " \"%s\" a;b\n", json);
    free(text);
    text = run_well(DWELL_CONSUMERS "/node " DWELL_CONSUMERS "/speedscope_import.mjs out.trace.json");
    cr_assert(has(text, "</script><b>&amp;"));
    free(text);
    text = run_well("$DWELL export firefox -o out.json && python3 -B " DWELL_CONSUMERS "/firefox.py print out.json");
    handmade_check_names(text, "function [\"%s\", \"/src/a \\\"b\\\".c\", ", json);
    cr_assert(has(text, "thread [\"a;b\", \"100\", \"th\\nread\", \"100\"]"));
    free(text);
    text = run_well("$DWELL export perfetto -o out && python3 -B " DWELL_CONSUMERS "/perfetto.py print out");
    for (int i = 0; i < BAD_NAMES; i++) {
        char *wanted = NULL;
        cr_assert(asprintf(&wanted, i == BAD_LONG ? "slice 2 '%s' ['a;b']\n" : "slice 2 %s ['a;b']\n",
                           i == BAD_LONG ? bad_names[i] : python[i]) > 0);
        cr_assert(has(text, wanted), "%.300s", wanted);
        free(wanted);
    }
    free(text);
    text = run_well("$DWELL export ctf -o trace && babeltrace2 trace | grep dwell:enter");
    static const char *const printed[BAD_NAMES] = {
        [BAD_QUOTES] = "operator\\\"\\\"_s<\\'\\\\\\'>",
        [BAD_SEMICOLON] = "a;b::c;",
        [BAD_NEWLINE] = "two\\nlines\\r\\n",
        [BAD_UNICODE] = "größe::日本<😀>",
        [BAD_BYTES] = "bad\xef\xbf\xbd\xef\xbf\xbdname\xef\xbf\xbd\xef\xbf\xbd",
        [BAD_NUMBER] = "operator new 12",
        [BAD_CONTROLS] = "tab\\there\\e[0m\\x7f",
        [BAD_MARKUP] = "</script><b>&amp;",
    };
    handmade_check_names(text, "{ function = ( \"%s\" : container = ", printed);
    free(text);
}
