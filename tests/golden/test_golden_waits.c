/* dwell waits, byte for byte, on a hand-written session: a lock with a holder, a condition variable with a waker,
 * sleeps, and calls without an object. Sessions of mode profile have sums. Older sessions have no causes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwell/format.h"
#include "support/example.h"
#include "support/golden.h"
#include "support/load.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/session_writer.h"
#include "support/viewed_report.h"
#include "tables/own_waits.h"

enum {
    US = 1000,
    MAIN = 0x401000,
    STORE = 0x401100,
    AWAIT = 0x401200,
    HOLD = 0x401300,
    SERVE = 0x401400,
    LOCK = 0x801000,
    WAIT = 0x801100,
    SIGNAL = 0x801200,
    SLEEP = 0x801300,
    READ = 0x801400,
    MODE = 96,
    ALSO = 176
};

static void waits_write_names(struct writer *w, const char *store)
{
    const char *const program[] = { "main", store, "await_work", "hold_lock", "serve" };
    static const char *const libc[] = { "pthread_mutex_lock", "pthread_cond_wait", "pthread_cond_signal", "nanosleep",
                                        "read" };
    write_symbol_module(w, 0, "/bin/program");
    write_symbol_module(w, 1, "/lib/libc.so.6");
    for (uint64_t i = 0; i < 5; i++) {
        write_symbol(w, 0, 0, 0, 0x1000 + i * 0x100, program[i]);
        write_symbol(w, 1, 0, 0, 0x1000 + i * 0x100, libc[i]);
    }
}

/* A call of the operating system that is blocked for all but 2 us. Without `kind` it has no object. */
static void waits_write_call(struct writer *w, uint64_t begin, uint64_t length, uint64_t function, unsigned kind,
                             uint64_t id, uint32_t holder)
{
    write_enter(w, begin, function);
    write_off_cpu(w, false, begin + US, length - 2 * US);
    if (kind)
        write_object(w, kind, false, id, holder);
    write_exit(w, begin + length);
}

static void waits_write_main(struct writer *w)
{
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10 * US, MAIN);
    for (uint64_t i = 0; i < 2; i++) {
        write_enter(w, (100 + 200 * i) * US, STORE);
        waits_write_call(w, (110 + 200 * i) * US, (50 + 30 * i) * US, LOCK, OBJECT_MUTEX, 0x404060, 101);
        write_exit(w, (200 + 200 * i) * US);
    }
    write_enter(w, 500 * US, AWAIT);
    waits_write_call(w, 510 * US, 100 * US, WAIT, OBJECT_CONDITION, 0x4040a0, 0);
    write_exit(w, 620 * US);
    waits_write_call(w, 700 * US, 102 * US, SLEEP, OBJECT_SLEEP, 100 * US, 0);
    waits_write_call(w, 810 * US, 42 * US, READ, 0, 0, 0);
    write_exit(w, 1000 * US);
    end_events(w, true);
}

static void waits_write_other(struct writer *w)
{
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    write_enter(w, 20 * US, SERVE);
    for (uint64_t i = 0; i < 2; i++) {
        write_enter(w, (90 + 200 * i) * US, HOLD);
        write_exit(w, (155 + 200 * i) * US);
    }
    write_enter(w, 600 * US, SIGNAL);
    write_os(w);
    write_object(w, OBJECT_CONDITION, true, 0x4040a0, 0);
    write_exit(w, 605 * US);
    write_exit(w, 900 * US);
    end_events(w, true);
}

static void waits_write_parts(struct writer *w, const char *store)
{
    write_process(w, 1, 100, "/bin/program");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/program");
    write_module(w, 1, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_thread(w, 1, 2, 101, SOURCE_PERF, "server");
    waits_write_names(w, store);
}

static void waits_write_program(struct writer *w)
{
    waits_write_parts(w, "store");
}

static void waits_save(const char *name, unsigned also)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, also, 4);
    waits_write_program(w);
    waits_write_main(w);
    waits_write_other(w);
    writer_save(w, test_path(name));
    writer_free(w);
}

Test(golden_waits, formats)
{
    waits_save("causes", 2);
    check_golden("waits causes", "waits.txt");
    check_golden("waits causes --format csv", "waits.csv");
    check_golden("waits causes --format json", "waits.json");
}

Test(golden_waits, other_rows)
{
    waits_save("causes", 2);
    check_golden("waits causes --by lock", "waits-lock.txt");
    check_golden("waits causes --by function", "waits-function.txt");
    check_golden("waits causes --by thread", "waits-thread.txt");
    check_golden("waits causes --by waker", "waits-waker.txt");
}

/* Causes are those of the whole session, whatever part of it is shown. */
/* In characters of UTF-8. */
static size_t waits_line_width(const char *line)
{
    size_t width = 0;
    for (; *line && *line != '\n'; line++)
        width += (*line & 0xc0) != 0x80;
    return width;
}

/* Names that are as long as those of C++. script(1) gives it a terminal. */
Test(golden_waits, narrow_terminals)
{
    static const int widths[] = { 80, 100, 120 };
    static const char *const by[] = { "path", "lock", "function", "thread", "waker" };
    struct writer *w = writer_new();
    write_header(w, ALSO, 2, 4);
    waits_write_parts(w, "session::journal::commit_of_all_that_was_changed_since_the_last_checkpoint");
    waits_write_main(w);
    waits_write_other(w);
    writer_save(w, test_path("long"));
    writer_free(w);
    for (size_t i = 0; i < 3 * 5; i++) {
        char name[32],
            *text = run_well("DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols %d; "
                             "$DWELL waits --by %s long\" /dev/null </dev/null | tr -d '\\r' | sed 's/ *$//'",
                             widths[i / 5], by[i % 5]);
        snprintf(name, sizeof name, "waits-%d.txt", widths[i / 5]);
        if (i % 5 == 0)
            check_text(text, name);
        for (const char *line = strstr(text, "\n\n") + 1; *line++; line = strchrnul(line, '\n'))
            cr_assert(le(sz, waits_line_width(line), (size_t)widths[i / 5]), "%s", line);
        free(text);
    }
}

/* Who asks again reads no events. */
static void waits_expect_found_once(const char *path)
{
    struct analysis analysis;
    uint64_t blocked = 0, count = 0;
    load_whole(&analysis, path, 1);
    const struct recording_waits first = recording_waits_find(&analysis), again = recording_waits_find(&analysis);
    for (size_t i = 0; i < analysis.profile->node_count; i++) {
        blocked += first.blocked[i];
        count += first.count[i];
    }
    cr_assert(all(eq(u64, blocked, 50 * US), eq(u64, count, 1)));
    cr_assert(all(eq(ptr, again.blocked, first.blocked), eq(ptr, again.count, first.count)));
    analysis_drop(&analysis);
}

/* The first wait of store ends as the levels of functions have changed, the second one does not. */
Test(golden_waits, changes_of_code)
{
    static const struct dwell_rec_level level = { .time = 80 * US + 500, .function = STORE, .level = 1 };
    struct writer *w = writer_new();
    write_header(w, ALSO, 2, 4);
    waits_write_program(w);
    write_record(w, 1, DWELL_REC_LEVEL, &level.time, sizeof level - sizeof level.record);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10 * US, MAIN);
    write_enter(w, 20 * US, STORE);
    write_off_cpu(w, false, 30 * US, 50 * US);
    write_faults(w, 2);
    write_exit(w, 100 * US);
    write_enter(w, 2000 * US, STORE);
    write_off_cpu(w, false, 2010 * US, 30 * US);
    write_exit(w, 2100 * US);
    write_exit(w, 3000 * US);
    end_events(w, true);
    writer_save(w, test_path("changed"));
    writer_free(w);
    waits_expect_found_once(test_path("changed"));
    check_golden("waits changed", "waits-changed.txt");
    check_golden("waits changed --by lock --format csv", "waits-changed.csv");
    check_golden("report changed", "report-changed.txt");
    check_golden("report --summary changed", "report-changed.md");
    check_golden("report --format json --columns cpu_exclusive changed", "report-changed.json");
    check_golden("tree changed", "tree-changed.txt");
    check_page("changed");
    struct viewed_page page = viewed_page(test_path("page.html")); /* the numbers of store and main */
    const char *waits = json_object_to_json_string_ext(viewed_get(viewed_session(&page, 0)->header, "recording_waits"),
                                                       JSON_C_TO_STRING_PLAIN);
    cr_assert(eq(str, (char *)waits, "[[1,0,50000,1]]"));
    viewed_page_drop(&page);
}

/* store is blocked twice without a call: by a page fault, and by something that is not recorded. A fault in a call of
 * the operating system is part of that. */
Test(golden_waits, page_faults)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, 2, 4);
    waits_write_program(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10 * US, MAIN);
    write_enter(w, 20 * US, STORE);
    write_off_cpu(w, false, 30 * US, 50 * US);
    write_faults(w, 2);
    write_exit(w, 100 * US);
    write_enter(w, 120 * US, STORE);
    write_off_cpu(w, false, 130 * US, 30 * US);
    write_exit(w, 200 * US);
    write_enter(w, 300 * US, READ);
    write_off_cpu(w, false, 310 * US, 20 * US);
    write_faults(w, 1);
    write_exit(w, 340 * US);
    write_exit(w, 1000 * US);
    end_events(w, true);
    writer_save(w, test_path("faults"));
    writer_free(w);
    check_golden("waits faults", "waits-faults.txt");
    check_golden("waits faults --by lock --format csv", "waits-faults.csv");
    char *recorded = run_well("$DWELL waits faults | sed '/^$/,$d'"), *summed;
    summed = run_well("$DWELL profile -o faults.sums faults >&2; $DWELL waits faults.sums | sed '/^$/,$d'");
    cr_assert(eq(str, summed, recorded));
    free(recorded);
    free(summed);
}

static void waits_save_alike(void)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, 2, 4);
    waits_write_program(w);
    write_process(w, 2, 200, "/bin/program");
    write_module(w, 2, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/program");
    write_module(w, 2, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    for (uint32_t i = 3; i <= 5; i++) {
        write_thread(w, 2, i, 198 + i, SOURCE_PERF, "program");
        begin_events(w, 2, i, 0, 0, NULL, 0);
        write_enter(w, 10 * US, i == 3 ? MAIN : SERVE);
        write_enter(w, 20 * US, i == 3 ? AWAIT : STORE);
        waits_write_call(w, 30 * US, i * 20 * US, LOCK, OBJECT_MUTEX, 0x404060, i == 3 ? 202 : 203);
        write_exit(w, 200 * US);
        write_exit(w, 300 * US);
        end_events(w, true);
    }
    writer_save(w, test_path("alike"));
    writer_free(w);
}

/* Three threads of one name: the first began with main, the others with serve. All wait for one lock. */
Test(golden_waits, threads_of_one_name)
{
    waits_save_alike();
    check_golden("waits alike", "waits-alike.txt");
    check_golden("waits alike --by thread", "waits-alike-thread.txt");
    check_golden("waits alike --by thread --format csv", "waits-alike-thread.csv");
    check_golden("report alike --by thread", "report-alike-thread.txt");
    char *text =
        run_well("$DWELL tree alike --by thread | grep -o 'thread .*)'; $DWELL info alike | sed '1,/^THREAD/d' | "
                 "cut -c1-12; $DWELL tree alike --by thread --format json | grep -o 'thread [^\"]*'");
    cr_assert(eq(str, text,
                 "thread main#1 (201)\nthread serve#2 (202)\nthread serve#3 (203)\n"
                 "main    100 \nserver  101 \nmain#1  201 \nserve#2 202 \nserve#3 203 \n"
                 "thread program (201)\nthread program (202)\nthread program (203)\n"));
    free(text);
}

/* Rows of data have a thread's name, and what text shows of it, in every view that names threads. */
Test(golden_waits, titles_in_data)
{
    static const struct {
        const char *command, *filter, *expected;
    } views[] = {
        { "waits alike", ".rows[] | [.thread,.thread_title,.tid,.cause_thread,.cause_thread_title,.cause_tid]",
          "[\"program\",\"serve#3\",203,null,null,null]\n"
          "[\"program\",\"serve#2\",202,\"program\",\"serve#3\",203]\n"
          "[\"program\",\"main#1\",201,\"program\",\"serve#2\",202]\n" },
        { "waits alike --by thread", ".rows[] | [.thread,.thread_title,.tid]",
          "[\"program\",\"serve#3\",203]\n"
          "[\"program\",\"serve#2\",202]\n"
          "[\"program\",\"main#1\",201]\n" },
        { "report alike", ".waits[] | [.threads,.thread_titles,.tid]",
          "[\"program (2 threads)\",\"serve (2 threads)\",null]\n"
          "[\"program\",\"main#1\",201]\n" },
        { "report alike --by thread", ".rows[] | [.thread,.thread_title,.tid]",
          "[\"program\",\"serve#3\",203]\n"
          "[\"program\",\"serve#2\",202]\n"
          "[\"program\",\"main#1\",201]\n" },
        { "slowest store alike", ".rows[] | [.thread,.thread_title,.tid]",
          "[\"program\",\"serve#2\",202]\n"
          "[\"program\",\"serve#3\",203]\n" },
        { "info alike", ".threads[] | [.name,.title,.tid]",
          "[\"main\",\"main\",100]\n"
          "[\"server\",\"server\",101]\n"
          "[\"program\",\"main#1\",201]\n"
          "[\"program\",\"serve#2\",202]\n"
          "[\"program\",\"serve#3\",203]\n" },
        { "why store alike --call 1", ".rows[] | [.cause_thread,.cause_thread_title,.cause_tid]",
          "[\"program\",\"serve\",null]\n"
          "[null,null,null]\n"
          "[null,null,null]\n"
          "[null,null,null]\n" },
        { "replay alike", "select(.kind == \"begin\") | [.thread,.thread_title,.tid,.function]",
          "[\"program\",\"main#1\",201,\"main\"]\n"
          "[\"program\",\"serve#2\",202,\"serve\"]\n"
          "[\"program\",\"serve#3\",203,\"serve\"]\n"
          "[\"program\",\"main#1\",201,\"await_work\"]\n"
          "[\"program\",\"serve#2\",202,\"store\"]\n"
          "[\"program\",\"serve#3\",203,\"store\"]\n"
          "[\"program\",\"main#1\",201,\"pthread_mutex_lock\"]\n"
          "[\"program\",\"serve#2\",202,\"pthread_mutex_lock\"]\n"
          "[\"program\",\"serve#3\",203,\"pthread_mutex_lock\"]\n" },
    };
    waits_save_alike();
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        char *text = run_well("$DWELL %s --format json | jq -c '%s'", views[i].command, views[i].filter);
        cr_expect(eq(str, text, (char *)views[i].expected), "%s", views[i].command);
        free(text);
    }
    char *text = run_well("$DWELL replay alike --format csv | tr -d '\\r' | cut -d, -f8,13 | grep ^serve | sort -u");
    cr_expect(eq(str, text, "serve,serve#2\nserve,serve#3\n"));
    free(text);
}

/* A row of several threads has what their titles have in common. Data has their name. */
Test(golden_waits, rows_of_several_threads_of_one_name)
{
    waits_save_alike();
    char *text = run_well("$DWELL report alike | sed -n '/^BLOCKED/,/^$/p'");
    cr_assert(has(text, " store      serve (2 threads) "), "%s", text);
    cr_assert(has(text, " await_work main#1 "), "%s", text);
    free(text);
    text = run_well("$DWELL waits alike --by function --filter thread=serve | tail -3 | head -1");
    cr_assert(has(text, " serve "), "%s", text);
    free(text);
    text = run_well("$DWELL report alike --format json | jq -c '[.waits[].threads]'");
    cr_assert(eq(str, text, "[\"program (2 threads)\",\"program\"]\n"));
    free(text);
}

/* What text shows of a thread selects it, with its number and without. */
Test(golden_waits, threads_by_what_text_shows)
{
    static const struct {
        const char *thread, *tids;
    } wanted[] = { { "serve#2", "202" }, { "serve", "202,203" }, { "main#1", "201" },
                   { "*#3", "203" },     { "203", "203" },       { "program", "201,202,203" } };
    waits_save_alike();
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char *text = run_well("$DWELL report alike --by thread --thread '%s' --format json | "
                              "jq -r '[.rows[].tid] | sort | map(tostring) | join(\",\")'",
                              wanted[i].thread);
        text[strcspn(text, "\n")] = 0;
        cr_assert(eq(str, text, (char *)wanted[i].tids), "%s", wanted[i].thread);
        free(text);
    }
    char *text = run_well("$DWELL replay alike --thread serve#2 --format json | jq -sc '[.[].tid] | unique'");
    cr_assert(eq(str, text, "[202]\n"));
    free(text);
    struct ran r = run("$DWELL report alike --thread serv");
    cr_assert(eq(int, r.status, 2));
    cr_assert(
        eq(str, r.err, "dwell: alike: no thread 'serv'; did you mean 'serve'? dwell report --by thread lists them\n"));
    ran_drop(&r);
    r = run("$DWELL report alike --thread serve#9");
    cr_assert(eq(int, r.status, 2));
    ran_drop(&r);
}

Test(golden_waits, parts)
{
    waits_save("causes", 2);
    check_golden(
        "waits causes --thread main --filter object.kind=mutex --columns waits,total,cause_thread --format csv",
        "waits-thread-main.csv");
    check_golden("waits causes --root store", "waits-root.txt");
    check_golden("waits causes --from 130us --to 350us", "waits-range.txt");
}

Test(golden_waits, sessions_without_causes)
{
    waits_save("old", 0);
    check_golden("waits old", "waits-old.txt");
}

/* The lock of the second half has the address of the first one. */
Test(golden_waits, objects_made)
{
    static const struct dwell_rec_made made[] = {
        { .time = 15 * US, .id = 0x404060, .function = MAIN, .kind = OBJECT_MUTEX },
        { .time = 250 * US, .id = 0x404060, .function = STORE, .kind = OBJECT_MUTEX },
        { .time = 5 * US, .id = 0x4040a0, .function = SERVE, .kind = OBJECT_CONDITION },
        { .time = 400 * US, .id = 0x4040a0, .kind = OBJECT_CONDITION },
    };
    struct writer *w = writer_new();
    write_header(w, ALSO, 2, 4);
    waits_write_program(w);
    for (size_t i = 0; i < 4; i++)
        write_record(w, 1, DWELL_REC_MADE, &made[i].time, sizeof made[i] - sizeof made[i].record);
    waits_write_main(w);
    waits_write_other(w);
    writer_save(w, test_path("made"));
    writer_free(w);
    check_golden("waits made", "waits-made.txt");
    check_golden("waits made --format json", "waits-made.json");
    check_golden("waits made --by lock", "waits-made-lock.txt");
}

/* The rows of "waits SESSION --by BY" on a terminal of that width. */
static void waits_expect_narrow(const char *session, const char *by, int width, const char *expected)
{
    char *text = run_well("DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols %d; $DWELL waits --by %s %s\" "
                          "/dev/null </dev/null | tr -d '\\r' | sed 's/ *$//; /^Waits, /d; /^$/,$d'",
                          width, by, session);
    cr_expect(eq(str, text, (char *)expected));
    free(text);
}

/* Where names are long, what is waited for has a third of the line. A maker says more than an address. */
Test(golden_waits, objects_on_narrow_terminals)
{
    static const struct dwell_rec_made made[] = {
        { .time = 15 * US, .id = 0x404060, .function = STORE, .kind = OBJECT_MUTEX },
        { .time = 250 * US, .id = 0x404060, .function = MAIN, .kind = OBJECT_MUTEX },
        { .time = 5 * US, .id = 0x4040a0, .function = STORE, .kind = OBJECT_CONDITION },
    };
    struct writer *w = writer_new();
    write_header(w, ALSO, 2, 4);
    waits_write_parts(w, "journal_commit_of_all_changes");
    for (size_t i = 0; i < 3; i++)
        write_record(w, 1, DWELL_REC_MADE, &made[i].time, sizeof made[i] - sizeof made[i].record);
    waits_write_main(w);
    waits_write_other(w);
    writer_save(w, test_path("narrow"));
    writer_free(w);
    waits_expect_narrow("narrow", "path", 80,
                        "WAITS TOTAL us WAITS FOR                  CAUSED BY WAITING FUNCTION\n"
                        "    1  100.000 nanosleep 100.000 us                 main\n"
                        "    1   98.000 condition of jour…_changes serve     await_work\n"
                        "    1   78.000 mutex …4060 made in main   hold_lock journal_c…mit_of_all_changes\n"
                        "    1   48.000 mutex of journ…all_changes hold_lock journal_c…mit_of_all_changes\n"
                        "    1   40.000 read                                 main\n");
    waits_expect_narrow("narrow", "lock", 80,
                        "WAITS TOTAL us WAITS FOR                  CAUSED BY WAITING FUNCTION\n"
                        "    1  100.000 nanosleep 100.000 us                 main\n"
                        "    1   98.000 condition of jour…_changes serve     await_work\n"
                        "    1   78.000 mutex …4060 made in main   hold_lock journal_c…mit_of_all_changes\n"
                        "    1   48.000 mutex of journ…all_changes hold_lock journal_c…mit_of_all_changes\n"
                        "    1   40.000 read                                 main\n");
    waits_expect_narrow(
        "narrow", "path", 100,
        "WAITS TOTAL us THREAD WAITS FOR                         CAUSED BY IN THREAD WAITING FUNCTION\n"
        "    1  100.000 main   nanosleep 100.000 us                                  main\n"
        "    1   98.000 main   condition of journa…f_all_changes serve     server    await_work\n"
        "    1   78.000 main   mutex 0x404060 made in main       hold_lock server    journal…t_of_all_changes\n"
        "    1   48.000 main   mutex of journal…t_of_all_changes hold_lock server    journal…t_of_all_changes\n"
        "    1   40.000 main   read                                                  main\n");
    waits_expect_narrow("narrow", "thread", 80,
                        "WAITS TOTAL us LONGEST us THREAD % THREAD WAITS FOR CAUSE WAITING FUNCTION\n"
                        "    5  364.000    100.000    36.77 main\n");
}

/* Columns in which no row has a text leave before texts are cut. */
Test(golden_waits, columns_without_texts)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, 2, 4);
    waits_write_parts(w, "journal_commit_of_all_that_was_changed");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10 * US, STORE);
    waits_write_call(w, 700 * US, 102 * US, SLEEP, OBJECT_SLEEP, 100 * US, 0);
    waits_write_call(w, 810 * US, 42 * US, READ, 0, 0, 0);
    write_exit(w, 1000 * US);
    end_events(w, true);
    writer_save(w, test_path("without"));
    writer_free(w);
    waits_expect_narrow("without", "path", 80,
                        "WAITS TOTAL us THREAD WAITS FOR            CAUSE WAITING FUNCTION\n"
                        "    1  100.000 main   nanosleep 100.000 us none  journal_co…all_that_was_changed\n"
                        "    1   40.000 main   read                 none  journal_co…all_that_was_changed\n");
    waits_expect_narrow(
        "without", "path", 140,
        "WAITS TOTAL us LONGEST us THREAD % THREAD WAITS FOR            CAUSE CAUSED BY IN THREAD WAITING FUNCTION\n"
        "    1  100.000    100.000    10.10 main   nanosleep 100.000 us none                      journal_commit_of_all_that_was_changed\n"
        "    1   40.000     40.000     4.04 main   read                 none                      journal_commit_of_all_that_was_changed\n");
}

/* Waits without an object that were in one call, or in the program's own code, have that in common. */
Test(golden_waits, calls_in_common)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, 2, 4);
    waits_write_parts(w, "store");
    for (uint32_t i = 0; i < 2; i++) {
        begin_events(w, 1, 1 + i, 0, 0, NULL, 0);
        write_enter(w, 10 * US, i ? SERVE : MAIN);
        waits_write_call(w, 100 * US, 42 * US, READ, 0, 0, 0);
        write_enter(w, 200 * US, i ? HOLD : STORE);
        write_off_cpu(w, false, 210 * US, 30 * US);
        write_exit(w, 300 * US);
        write_exit(w, 1000 * US);
        end_events(w, true);
    }
    writer_save(w, test_path("common"));
    writer_free(w);
    waits_expect_narrow(
        "common", "lock", 120,
        "WAITS TOTAL us LONGEST us THREAD % THREAD WAITS FOR       CAUSE CAUSED BY IN THREAD WAITING FUNCTION\n"
        "    2   80.000     40.000     4.04        read            none\n"
        "    1   30.000     30.000     3.03 main   in its own code none                      store\n"
        "    1   30.000     30.000     3.03 server in its own code none                      hold_lock\n");
}

/* A session of mode profile: the lock has a holder, the condition variable no waker. Of 130 us in waits of two
 * functions, 40 us are those of waits without rows. */
static void waits_save_sums(const char *name, unsigned also)
{
    static const struct tree_node main_nodes[] = {
        { .function = MAIN, .calls = 1, .elapsed = 300 * US },
        { .function = STORE, .parent = 1, .calls = 2, .elapsed = 90 * US },
        { .function = LOCK, .parent = 2, .calls = 2, .elapsed = 140 * US, .blocked = 130 * US },
        { .function = AWAIT, .parent = 1, .calls = 1, .elapsed = 20 * US },
        { .function = WAIT, .parent = 4, .calls = 1, .elapsed = 100 * US, .blocked = 98 * US },
        { .function = SLEEP, .parent = 1, .calls = 1, .elapsed = 102 * US, .blocked = 100 * US },
        { .function = READ, .parent = 1, .calls = 3, .elapsed = 42 * US, .blocked = 40 * US },
    };
    static const struct tree_node other_nodes[] = {
        { .function = SERVE, .calls = 1, .elapsed = 700 * US },
        { .function = HOLD, .parent = 1, .calls = 2, .elapsed = 130 * US },
    };
    static const struct wait_row rows[] = {
        { 3, OBJECT_MUTEX, 0, 0x404060, 101, 2, 2, 126 * US, 78 * US, 110 * US, 390 * US },
        { 5, OBJECT_CONDITION, 0, 0x4040a0, 0, 0, 1, 98 * US, 98 * US, 510 * US, 610 * US },
        { 6, OBJECT_SLEEP, 0, 100 * US, 0, 0, 1, 100 * US, 100 * US, 700 * US, 802 * US },
        { 3, OBJECT_MUTEX, 4, 0x404060, 101, 1, 1, 4 * US, 4 * US, 395 * US, 399 * US },
        { 0, 0, 0, 0, 0, 0, 3, 40 * US, 20 * US, 810 * US, 900 * US },
    };
    struct writer *w = writer_new();
    write_header(w, ALSO, also, 4);
    write_header(w, MODE, 1, 4);
    waits_write_program(w);
    write_tree(w, 1, 1, main_nodes, sizeof main_nodes / sizeof *main_nodes);
    write_tree_head(w, 1000 * US, 0);
    write_wait_rows(w, 1, 1, rows, sizeof rows / sizeof *rows);
    write_tree(w, 1, 2, other_nodes, sizeof other_nodes / sizeof *other_nodes);
    write_tree_head(w, 900 * US, 0);
    writer_save(w, test_path(name));
    writer_free(w);
}

Test(golden_waits, mode_profile)
{
    waits_save_sums("sums", 2);
    check_golden("waits sums", "waits-profile.txt");
    check_golden("waits sums --format json", "waits-profile.json");
    check_golden("waits sums --by lock", "waits-profile-lock.txt");
    check_golden("waits sums --root store --by function", "waits-profile-root.txt");
    check_golden(
        "waits sums --suppress pthread_mutex_lock --suppress hold_lock --by function --columns function,waits,cause_function",
        "waits-profile-filtered.txt");
    waits_save_sums("sums", 0);
    check_golden("waits sums", "waits-profile-old.txt");
}
