/* dwell view of real recordings: the page's numbers equal the reports', and no existing file is lost. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"
#include "support/viewed_report.h"

TestSuite(e2e_view, .timeout = 300);

static struct json_object *view_read_timeline(const struct viewed_page *page)
{
    return viewed_get(viewed_session(page, 0)->header, "timeline");
}

Test(e2e_view, values_of_the_reports)
{
    static const char *const programs[] = { "fib 20", "cplusplus", "threads 4 1000", "processes 3 100", "sleeper" };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        free(run_well("$DWELL record -q $SAMPLES/%s", programs[i]));
        check_page("dwell.data");
    }
    check_page("--from 1ms --to 2ms dwell.data");
}

/* A session of mode profile has sums only, so the page has no single calls to show. */
Test(e2e_view, other_modes)
{
    free(run_well("$DWELL record -q --mode profile $SAMPLES/threads 4 1000"));
    check_page("dwell.data");
    struct viewed_page page = viewed_page(test_path("page.html"));
    cr_assert(view_read_timeline(&page) == NULL);
    cr_assert(eq(sz, page.count, 3)); /* the session, the amounts of its threads, and its waits */
    viewed_page_drop(&page);
    free(run_well("$DWELL record -q --mode ring=64K $SAMPLES/fib 24"));
    check_page("dwell.data");
    page = viewed_page(test_path("page.html"));
    cr_assert(view_read_timeline(&page) != NULL);
    viewed_page_drop(&page);
}

/* A timeline counts each call at each level. */
Test(e2e_view, the_timeline_has_all_calls)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 22 && $DWELL view --no-open -o page.html --detail 20M && "
                  "$DWELL view --no-open -o small.html --detail 30K && $DWELL view --no-open -o none.html --detail 0"));
    struct viewed_page page = viewed_page(test_path("page.html"));
    const struct viewed *first = viewed_block(&page, 0, 0);
    double calls = 0, blocks = 0;
    for (size_t row = 0; row < viewed_rows(first, "spans"); row++)
        calls += viewed_number(first, "spans", "count", row);
    struct json_object *totals = viewed_get(viewed_session(&page, 0)->header, "session");
    cr_assert(eq(dbl, calls, json_object_get_double(viewed_get(totals, "calls"))));
    cr_assert(json_object_get_boolean(viewed_get(view_read_timeline(&page), "complete")));
    for (size_t i = 0; i < page.count; i++)
        blocks += strcmp(page.parts[i].kind, "block") == 0;
    cr_assert(gt(dbl, blocks, 10));
    viewed_page_drop(&page);
    page = viewed_page(test_path("small.html"));
    cr_assert(eq(int, json_object_get_boolean(viewed_get(view_read_timeline(&page), "complete")), false));
    cr_assert(gt(sz, page.count, 1));
    viewed_page_drop(&page);
    page = viewed_page(test_path("none.html"));
    cr_assert(view_read_timeline(&page) == NULL);
    viewed_page_drop(&page);
    char *sizes = run_well("for f in page small none; do wc -c <$f.html; done");
    long large, small, none;
    cr_assert(eq(int, sscanf(sizes, "%ld %ld %ld", &large, &small, &none), 3));
    /* 30 KB, and a quarter of that each for the parts and the calls */
    cr_assert(small - none > 0 && small - none < 46000 && large > small, "%s", sizes);
    free(sizes);
}

/* Each completed call counts once. Where there is little room, several periods are one. */
Test(e2e_view, counts_of_calls_in_little_room)
{
    enum { FUNCTIONS = 40, THREADS = 4, CALLS = 3000 };
    static const char *const details[] = { "16M", "100K" };
    int periods[2];
    free(run_well(
        "(echo '#include <pthread.h>'; for i in $(seq %d); do echo \"__attribute__((noinline)) void f$i(void) { "
        "__asm__ volatile(\\\"\\\"); }\"; done\n"
        "echo 'static void *run(void *to) { for (int i = 0; i < %d; i++) {'; for i in $(seq %d); do echo \"f$i();\"; "
        "done; echo '} return to; }'\n"
        "echo 'int main(void) { pthread_t t[%d]; for (int i = 0; i < %d; i++) pthread_create(&t[i], 0, run, 0); "
        "for (int i = 0; i < %d; i++) pthread_join(t[i], 0); }') > many.c\n"
        "cc -O1 -g -finstrument-functions many.c -o many -pthread; $DWELL record -q ./many",
        FUNCTIONS, CALLS, FUNCTIONS, THREADS, THREADS, THREADS));
    for (int i = 0; i < 2; i++) {
        free(run_well("$DWELL view --no-open -o page.html --detail %s", details[i]));
        struct viewed_page page = viewed_page(test_path("page.html"));
        struct json_object *counts = viewed_get(viewed_session(&page, 0)->header, "calls");
        const struct viewed *block = viewed_block(&page, 0, (unsigned)json_object_get_int(viewed_get(counts, "block")));
        double sums[FUNCTIONS + 10] = { 0 };
        int whole = 0;
        for (size_t row = 0; row < viewed_rows(block, "calls"); row++) {
            const size_t function = (size_t)viewed_number(block, "calls", "function", row);
            cr_assert(lt(sz, function, sizeof sums / sizeof *sums));
            sums[function] += viewed_number(block, "calls", "calls", row);
        }
        for (size_t j = 0; j < sizeof sums / sizeof *sums; j++)
            whole += (int)sums[j] == THREADS * CALLS;
        cr_assert(eq(int, whole, FUNCTIONS), "%s", details[i]);
        periods[i] = json_object_get_int(viewed_get(counts, "periods"));
        viewed_page_drop(&page);
    }
    cr_assert(eq(int, periods[0], 1));
    cr_assert(gt(int, periods[1], 1));
}

static void view_refused(const char *command, const char *why)
{
    struct ran r = run("%s", command);
    cr_assert(eq(int, r.status, 2), "%s", command);
    cr_assert(has(r.err, why), "%s: %s", command, r.err);
    cr_assert(eq(str, r.out, ""));
    ran_drop(&r);
}

Test(e2e_view, other_files_are_not_replaced)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 5 && echo precious >notes && cp notes kept && : >empty && "
                  "mkdir folder && cp dwell.data other.data"));
    view_refused("$DWELL view -o notes", "dwell: notes: is not a page of dwell");
    view_refused("$DWELL view -o dwell.data", "dwell: dwell.data: is the session itself");
    view_refused("$DWELL view -o ./dwell.data --force", "dwell: ./dwell.data: is the session itself");
    view_refused("$DWELL view -o folder", "dwell: folder: is a directory");
    view_refused("$DWELL view -o nowhere/page.html", "dwell: nowhere/page.html: No such file or directory");
    free(run_well("cmp notes kept && cmp dwell.data other.data"));
    free(run_well(
        "$DWELL view -o notes --force && ! cmp -s notes kept && $DWELL view -o notes && $DWELL view -o empty && "
        "$DWELL view && $DWELL view && test -s dwell.html"));
    char *list = run_well("ls -A | tr '\\n' ' '"); /* no other file is left */
    cr_assert(eq(str, list, ".err .out dwell.data dwell.html empty folder kept notes other.data "));
    free(list);
}

/* A full disk leaves the existing file. */
Test(e2e_view, a_full_disk)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 5 && $DWELL view >said && cp dwell.html kept"));
    struct ran r = run("ulimit -f 1; trap '' XFSZ; $DWELL view");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "dwell: dwell.html: File too large"), "%s", r.err);
    ran_drop(&r);
    free(run_well("cmp dwell.html kept && ls | wc -l | grep -qx 4"));
    r = run("$DWELL view -o /dev/full");
    cr_assert(eq(int, r.status, 2));
    cr_assert(has(r.err, "dwell: /dev/full: No space left on device"), "%s", r.err);
    ran_drop(&r);
}

Test(e2e_view, mistakes)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 5"));
    view_refused("$DWELL view nothing.data", "dwell: nothing.data: No such file or directory");
    view_refused("$DWELL view $DWELL", "not a dwell session");
    view_refused("$DWELL view dwell.data dwell.data dwell.data", "dwell: a page compares two sessions at most");
    view_refused("$DWELL view --detail much", "dwell: --detail: 'much' is not a number of bytes up to 1G");
    view_refused("$DWELL view --detail 2G", "dwell: --detail: '2G' is not a number");
    view_refused("$DWELL view --detail -1", "dwell: --detail: '-1' is not a number");
    view_refused("$DWELL view --filter 'calls>1'", "dwell: view: no option '--filter'");
    view_refused("$DWELL view --thread nobody", "dwell: dwell.data: no thread 'nobody'");
    view_refused("$DWELL view --port 80", "dwell: --port: only with --live");
    view_refused("$DWELL view --live --port 0", "dwell: --port: must be from 1 to 65535");
    view_refused("$DWELL view --live --port 65536", "dwell: --port: must be from 1 to 65535");
    view_refused("$DWELL view --live -o page.html", "dwell: --live writes no file: leave out --output");
    view_refused("$DWELL view --live dwell.data dwell.data", "dwell: --live shows one session at a time");
    view_refused("$DWELL view --live nothing.data", "dwell: nothing.data: No such file or directory");
    free(run_well("test ! -e dwell.html && test ! -e page.html"));
}

/* With a terminal and a display, $BROWSER is started with the page. */
Test(e2e_view, the_browser)
{
    free(run_well(
        "$DWELL record -q $SAMPLES/fib 5 && mkdir bin && "
        "printf '#!/bin/sh\\necho \"$1\" >opened.part\\nmv opened.part opened\\n' >bin/surf && chmod +x bin/surf && "
        "ln bin/surf bin/xdg-open"));
#define IN_A_TERMINAL "env PATH=\"$PWD/bin:$PATH\" DISPLAY=:0 script -qec '%s $DWELL view %s' /dev/null </dev/null"
#define WAIT "i=0; until test -e opened || test $i = 300; do sleep 0.1; i=$((i + 1)); done; cat opened; rm opened"
    char *opened = run_well(IN_A_TERMINAL " >said; " WAIT, "BROWSER=nothing:surf", "");
    cr_assert(eq(str, opened, "dwell.html\n"));
    free(opened);
    opened = run_well(IN_A_TERMINAL " >said; " WAIT, "BROWSER=", "-o other.html");
    cr_assert(eq(str, opened, "other.html\n"));
    free(opened);
    opened = run_well(IN_A_TERMINAL " >said; rm bin/*; " IN_A_TERMINAL, "BROWSER=surf", "--no-open",
                      "BROWSER=nothing PATH=/nowhere", "-o third.html");
    cr_assert(has(opened, "third.html: found no browser to open it; set BROWSER"), "%s", opened);
    free(opened);
    free(run_well("test ! -e opened && test -s third.html"));
}
