/* One of anything has no plural, in any text: "1 event", never "1 events". */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "base/counted_text.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/session_writer.h"

enum { US = 1000, MAIN = 0x401000, WORK = 0x401100, READ = 0x801000 };
enum { LOST = 120, REPLACED = 128, MODE = 96 };

/* A number of one with a plural behind it, or behind one more word. Units, verbs and singular words end with s as well.
 */
#define PLURALS                                                                                                        \
    "grep -nP '(?<![0-9.,:/+-])\\b1 (?:(?!of|in|to|by|and)[a-z]+ )?"                                                   \
    "(?!(?:ns|us|ms|was|is|has|as|its|this|takes|counts)\\b)(?![a-z]*ss\\b)[a-z]+s\\b' || true"

static void one_write_names(struct writer *w)
{
    write_process(w, 1, 10, "/bin/one");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "one");
    write_module(w, 1, 0, 0x400000, 0x400000, 0x500000, 0, "/bin/one");
    write_module(w, 1, 1, 0x800000, 0x800000, 0x900000, 0, "/lib/libc.so.6");
    write_symbol_module(w, 0, "/bin/one");
    write_symbol(w, 0, 0, 0, 0x1000, "main");
    write_symbol(w, 0, 0, 0, 0x1100, "work");
    write_symbol_module(w, 1, "/lib/libc.so.6");
    write_symbol(w, 1, 0, 0, 0x1000, "read");
}

/* One event; and one call of each function, with one wait, one page fault, one counted call and one exit too many. */
static void one_write_sessions(void)
{
    static const uint64_t counts[][2] = { { WORK + 0x100, 1 } };
    struct writer *w = writer_new();
    one_write_names(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10 * US, MAIN);
    end_events(w, true);
    writer_save(w, test_path("event"));
    writer_free(w);
    w = writer_new();
    one_write_names(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10 * US, WORK);
    write_enter(w, 20 * US, READ);
    write_off_cpu(w, false, 25 * US, 50 * US);
    write_faults(w, 1);
    write_exit(w, 100 * US);
    write_exit(w, 110 * US);
    write_exit(w, 120 * US);
    end_events(w, true);
    write_counts(w, 1, 1, 0, counts, 1);
    write_thread_end(w, 1, 1, false, 200 * US);
    write_thread_switches(w, 1, 1, 1, 1, 1);
    writer_save(w, test_path("call"));
    writer_free(w);
}

Test(golden_one, no_view_has_a_plural)
{
    static const char *const views[] = {
        "report $FILE",
        "report --summary $FILE",
        "report --by thread $FILE",
        "report --by module $FILE",
        "report --by process $FILE",
        "report --by line $FILE",
        "report --columns +max $FILE",
        "tree $FILE",
        "tree --min 0 $FILE",
        "callers $FILE main; $DWELL callers $FILE work",
        "waits $FILE",
        "waits --by lock $FILE",
        "critical $FILE",
        "whatif $FILE work=0.5",
        "advise $FILE",
        "histogram $FILE work",
        "slowest $FILE work",
        "why $FILE work",
        "why --call 1 $FILE work",
        "replay $FILE",
        "marks $FILE",
        "events $FILE",
        "info $FILE",
        "top --once $FILE",
        "diff $FILE $FILE",
        "diff --by module event call",
        "diff --fail-if 'calls > +0' event call",
        "diff --format markdown event call; $DWELL diff --format github event call; $DWELL diff $FILE call --format github",
        "export -o out callgrind $FILE",
        "export -o - collapsed $FILE",
        "profile $FILE -o sums --force; $DWELL info sums; $DWELL report sums",
        "merge -o merged --force $FILE; $DWELL info merged; $DWELL report merged",
    };
    one_write_sessions();
    for (size_t i = 0; i < 2 * sizeof views / sizeof *views; i++) {
        char *text = run_well("FILE=%s; { $DWELL %s; } 2>&1 | " PLURALS, i % 2 ? "call" : "event", views[i / 2]);
        cr_expect(eq(str, text, ""), "%s: %s", views[i / 2], text);
        free(text);
    }
}

Test(golden_one, record_and_doctor)
{
    char *text = run_well("printf 'int main(void)\\n{\\n    return 0;\\n}\\n' >one.c; "
                          "$DWELL cc -O0 -g one.c -o one; { $DWELL record ./one; $DWELL info; $DWELL report; "
                          "$DWELL doctor ./one; } 2>&1 | " PLURALS);
    cr_assert(eq(str, text, ""), "%s", text);
    free(text);
}

Test(golden_one, plurals)
{
    static const struct {
        uint64_t count;
        const char *noun, *text;
    } cases[] = {
        { 1, "call", "1 call" },         { 0, "call", "0 calls" },
        { 2, "process", "2 processes" }, { 3, "activity", "3 activities" },
        { 1, "activity", "1 activity" }, { 2, "switch", "2 switches" },
        { 2, "day", "2 days" },          { 9, "call path", "9 call paths" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect(eq(str, COUNTED(cases[i].count, cases[i].noun), (char *)cases[i].text));
    cr_expect(eq(str, COUNTED_WAS(1, "event"), "1 event was"));
    cr_expect(eq(str, COUNTED_NOUN_WAS(2, "event"), "events were"));
}
