/* Sums of recordings (dwell profile), and sums of these (dwell merge): they show what the recordings show, and do not
 * depend on how the work was split. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/copies_session.h"
#include "support/example.h"
#include "support/hostile.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/site_session.h"
#include "support/versions.h"
#include "support/waiting.h"
#include "support/wakes.h"

TestSuite(e2e_sums, .timeout = 600);

static const char *const recordings[] = {
    "trace:",
    "profile:--mode=profile",
    "ring:--mode=ring=64K",
    "sites:--call-sites",
    "samples:--sample=1000",
    "counted:--level=counted=fib",
    "sampled:--mode=profile --sample=1000",
};
enum { RECORDINGS = sizeof recordings / sizeof *recordings };

static const char *const views[] = {
    "report --format json",
    "report --format text",
    "report --raw --format csv",
    "report --by module --format csv",
    "report --by thread --format csv",
    "report --by process --format csv",
    "tree --min 0 --depth 99 --format csv",
    "tree --min 0 --depth 99 --raw --format json",
    "waits --format csv",
    "waits --raw --format json",
    "waits --by lock --format csv",
    "waits --by thread --format csv",
    "waits --by waker --format csv",
};

/* Records both samples in each way: one/NAME and two/NAME. */
static void record_all(void)
{
    free(run_well("mkdir one two sums"));
    for (int i = 0; i < RECORDINGS; i++) {
        char name[20];
        int options;
        cr_assert(sscanf(recordings[i], "%19[^:]:%n", name, &options) == 1);
        free(run_well("$DWELL record -q %s -o one/%s $SAMPLES/threads 3 2000 >/dev/null 2>&1 && "
                      "$DWELL record -q %s -o two/%s $SAMPLES/fib 18 >/dev/null 2>&1",
                      recordings[i] + options, name, recordings[i] + options, name));
    }
}

/* Leaves out the shortest and the longest call, in JSON and in CSV. Only a recording knows what its samples took of
 * these (docs/time-model.md). */
static const char without_limits[] =
    "cat >limits.awk <<'E'\n"
    "/^ *[{]/ { sub(/\"min_ns\":[^,]*,\"max_ns\":[^,]*,/, \"\") }\n"
    "/,min_ns,max_ns,/ { for (i = 1; i <= NF; i++) if ($i ~ /^(min|max)_ns$/) left[i] }\n"
    "{ for (i in left) $i = \"\"; print }\n"
    "E\n";

/* Each view is made of a file of the same name, so that its output has the same text. Sums have no single calls that
 * `dwell why` could explain. */
static void expect_same_views(const char *files, const char *view, const char *function)
{
    free(run_well("for f in %s; do "
                  "case $f in */samples|*/counted) left='awk -F, -v OFS=, -f limits.awk';; *) left=cat;; esac; "
                  "$DWELL %s $f %s >recorded 2>&1 && (cd sums && $DWELL %s $f %s) >summed 2>&1 && "
                  "sed -i 's/next: .*//' recorded summed && $left recorded >a && $left summed >b && cmp a b || "
                  "{ echo \"$f\" >&2; diff a b >&2; exit 1; }; done",
                  files, view, function, view, function));
}

Test(e2e_sums, views_are_those_of_the_recording)
{
    record_all();
    free(run_well(without_limits));
    free(run_well(
        "for f in one/* two/*; do mkdir -p sums/$(dirname $f) && $DWELL profile $f -o sums/$f || exit 1; done"));
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        expect_same_views("one/* two/*", views[i], "");
    expect_same_views("two/*", "callers --format csv", "fib");
}

static void save(struct writer *w, const char *name)
{
    writer_save(w, test_path(name));
    writer_free(w);
}

/* Threads wait for objects of many kinds; holders and wakers are known. */
static struct writer *waits_of_many_kinds(void)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 100, WAKES_MAIN);
    wakes_call(w, 1000, 2000, OBJECT_MUTEX, 0x5000, 101);
    wakes_call(w, 3000, 5000, OBJECT_CONDITION, 0x6000, 0);
    wakes_call(w, 6000, 7000, OBJECT_SLEEP, 1000, 0);
    wakes_call(w, 8000, 8500, 0, 0, 0);
    wakes_thread_ends(w, 1, 9000);
    wakes_thread_begins(w, 2, 100, WAKES_WORK);
    wakes_act(w, 1900, 1910, OBJECT_MUTEX, 0x5000);
    wakes_act(w, 4900, 4910, OBJECT_CONDITION, 0x6000);
    wakes_thread_ends(w, 2, 9000);
    return w;
}

Test(e2e_sums, views_are_those_of_sessions_written_by_hand)
{
    test_folder();
    free(run_well("mkdir sums"));
    hostile_save("'\"<\t\033");
    save(example_session(SOURCE_PERF), "example");
    save(example_session(SOURCE_NONE), "blind");
    save(waiting_server(), "server");
    save(waiting_preempted(), "preempted");
    save(waits_of_many_kinds(), "waits");
    save(copies_session(), "copies");
    save(site_session(SITES_SPLIT), "sites");
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        free(run_well(
            "for f in example blind server preempted waits copies sites hostile.data; do "
            "$DWELL profile $f -o sums/$f 2>/dev/null && $DWELL %s $f >recorded 2>&1 && (cd sums && $DWELL %s $f) "
            ">summed 2>&1 && sed -i 's/next: .*//' recorded summed && cmp recorded summed || { echo \"$f\" >&2; diff recorded summed >&2; exit 1; }; "
            "done",
            views[i], views[i]));
}

/* One function has other addresses in the second session, whose clock has three ticks a nanosecond. */
Test(e2e_sums, clocks_and_addresses_may_differ)
{
    test_folder();
    version_save(&(struct version){ .lookups = 3, .main_time = 100, .source = SOURCE_PERF }, test_path("one"));
    version_save(
        &(struct version){
            .lookups = 2, .main_time = 50, .noise = 7, .shift = 0x40, .source = SOURCE_PERF, .ticks_per_ns = 3 },
        test_path("two"));
    free(run_well(
        "$DWELL profile one -o a && $DWELL profile two -o b && $DWELL merge a b -o ab && $DWELL merge b a -o ba "
        "&& cmp ab ba && $DWELL report --format csv one two | sort >x && $DWELL report --format csv ab | sort >y "
        "&& cmp x y"));
    struct report *r = report_of("ab");
    cr_assert(eq(u64, report_sum(r, "function", "price::lookup(int)", "calls"), 5));
    cr_assert(eq(u64, report_sum(r, "function", "price::lookup(int)", "elapsed_exclusive_ns"), 300 + 2 * 107));
    report_drop(r);
}

Test(e2e_sums, shards_make_the_whole)
{
    record_all();
    free(run_well(
        "for f in one/* two/*; do $DWELL profile $f -o whole || exit 1; for n in 2 5; do parts=; "
        "for i in $(seq $n -1 1); do $DWELL profile --shard $i/$n -j $i $f -o part$i && "
        "parts=\"$parts part$i\" || exit 1; done; $DWELL merge $parts -o joined && cmp whole joined || exit 1; "
        "done; done"));
    char *remark = run_well("$DWELL profile --shard 2/5 one/trace -o part && $DWELL report part | grep '^!' | head -1");
    cr_assert(eq(str, remark, "! 4 of 5 shards of a session are missing: its sums are not whole\n"));
    free(remark);
}

/* Merges the files in a random tree: takes two at random, and puts their sum in their place. */
static const char random_merges[] = "import os, random, subprocess, sys\n"
                                    "dwell, files = os.environ['DWELL'], sys.argv[1:]\n"
                                    "for seed in range(12):\n"
                                    "    chance, todo, made = random.Random(seed), list(files), 0\n"
                                    "    while len(todo) > 1:\n"
                                    "        chance.shuffle(todo)\n"
                                    "        count = chance.randint(2, len(todo))\n"
                                    "        made += 1\n"
                                    "        out = 'merged.%d.%d' % (seed, made)\n"
                                    "        subprocess.run([dwell, 'merge', *todo[:count], '-o', out], check=True)\n"
                                    "        todo = todo[count:] + [out]\n"
                                    "    if seed and open(todo[0], 'rb').read() != open(first, 'rb').read():\n"
                                    "        sys.exit('%s differs from %s' % (todo[0], first))\n"
                                    "    first = first if seed else todo[0]\n"
                                    "print(first)\n";

Test(e2e_sums, any_split_order_and_nesting_has_the_same_bytes)
{
    record_all();
    char *first =
        run_well("cat >random.py <<'END'\n%sEND\n"
                 "for f in one/* two/ring two/trace two/samples; do $DWELL profile $f -o $(echo $f | tr / -).s || "
                 "exit 1; done; for i in 1 2 3; do $DWELL profile two/sites --shard $i/3 -o shard$i.s; done; "
                 "DWELL=\"$DWELL\" python3 random.py *.s",
                 random_merges);
    char *differences =
        run_well("$DWELL profile two/sites one/* two/ring two/trace two/samples -o all && cmp all %s", first);
    cr_assert(eq(str, differences, ""));
    free(differences);
    free(first);
}

Test(e2e_sums, several_recordings_are_added_as_in_a_report_of_all)
{
    record_all();
    free(run_well("$DWELL profile one/trace -o a && $DWELL profile two/sampled -o b && $DWELL profile one/ring -o c && "
                  "$DWELL merge a b c -o all"));
    static const char *const added[] = { "report", "report --raw", "report --by module", "tree --min 0 --depth 99" };
    for (size_t i = 0; i < sizeof added / sizeof *added; i++)
        free(run_well("$DWELL %s --format csv one/trace two/sampled one/ring >several && "
                      "$DWELL %s --format csv all >merged && sort several >x && sort merged >y && cmp x y",
                      added[i], added[i]));
}

/* The samples of fib estimate its time, and its calls took a part of that to be counted. The intervals of the estimates
 * are rounded, and so compared elsewhere. */
Test(e2e_sums, what_counting_took_is_subtracted_from_each_session)
{
    for (int i = 1; i <= 2; i++)
        free(run_well("$DWELL record -q --sample 2000 --level counted=fib -o %d.data $SAMPLES/fib %d >/dev/null && "
                      "$DWELL profile %d.data -o %d.sums",
                      i, 32 + i, i, i));
    free(run_well(
        "$DWELL merge 1.sums 2.sums -o all && $DWELL report --format csv 1.data 2.data >several && "
        "$DWELL report --format csv all >merged && sort several | cut -d, -f1-27 >x && sort merged | cut -d, -f1-27 >y && cmp x y"));
    char *info = run_well("$DWELL info 2.data");
    const bool known = strstr(info, "\na counted call  adds ");
    struct report *r = report_of("2.data"), *raw = report_of("--raw 2.data");
    const uint64_t took = report_sum(r, "function", "fib", "overhead_exclusive_ns");
    cr_assert(eq(int, took > 0, known), "%s", info);
    cr_assert(eq(u64, report_sum(raw, "function", "fib", "overhead_exclusive_ns"), 0));
    report_drop(raw);
    report_drop(r);
    free(info);
}

/* A session that calls one of two functions, and knows names of both. */
static void save_named(const char *name, uint64_t session, uint64_t called, const char *first, const char *second)
{
    enum { SESSION_ID = 24 };
    struct writer *w = writer_new();
    write_header(w, SESSION_ID, session, 8);
    write_process(w, 1, 100, "/bin/prog");
    write_module(w, 1, 1, 0, 0x1000, 0x3000, 0, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, called);
    write_exit(w, 20);
    write_symbol_module(w, 0, "/bin/prog");
    write_symbol(w, 0, 0, 0, 0x1000, first);
    write_symbol(w, 0, 0, 0, 0x2000, second);
    save(w, name);
}

/* Of several names, the last one in their order counts. */
Test(e2e_sums, names_are_those_of_sessions_with_the_function)
{
    test_folder();
    save_named("one", 1, 0x1000, "b", "b2");
    save_named("two", 2, 0x2000, "c", "c2");
    save_named("three", 3, 0x1000, "a", "d2");
    char *names =
        run_well("for f in one two three; do $DWELL profile $f -o $f.s; done; $DWELL merge *.s -o merged && "
                 "for all in 'one two three' 'three two one' 'two one three'; do $DWELL profile $all -o all && "
                 "cmp merged all || exit 1; done; $DWELL report --format csv -s name merged | cut -d, -f1,5");
    cr_assert(eq(str, names, "function,calls\nb,2\nc2,1\n"), "%s", names);
    free(names);
}

Test(e2e_sums, names_are_inside)
{
    free(run_well(
        "cp $SAMPLES/fib prog && $DWELL record -q -o recorded ./prog 12 >/dev/null && $DWELL profile recorded -o "
        "sums && $DWELL report --format csv sums >before && rm prog recorded && $DWELL report --format csv sums "
        ">after 2>&1 && cmp before after && grep -q '^fib,prog,.*fib.c,' after || { cat after >&2; exit 1; }"));
}

static void expect_error(const char *arguments, const char *message)
{
    struct ran r = run("$DWELL %s", arguments);
    cr_assert(eq(int, r.status, 2), "dwell %s", arguments);
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err, (char *)message), "dwell %s", arguments);
    ran_drop(&r);
}

Test(e2e_sums, what_cannot_be_added_is_refused)
{
    free(run_well("$DWELL record -q -o one $SAMPLES/fib 12 >/dev/null && $DWELL record -q -o two $SAMPLES/fib 12 "
                  ">/dev/null && $DWELL profile one -o a && $DWELL profile two -o b && $DWELL merge a b -o ab && "
                  "$DWELL profile one --shard 1/2 -o h && $DWELL profile one --shard 1/3 -o t"));
    expect_error("merge a ab -o x", "dwell: ab: has sums that another file has, too, so its calls would count twice\n");
    expect_error("merge ab h -o x", "dwell: h: has sums that another file has, too, so its calls would count twice\n");
    expect_error("merge h t -o x", "dwell: t: has shards of 3, and other files have shards of 2 of the same session\n");
    expect_error("merge a two -o x",
                 "dwell: two: was recorded, and a holds sums; make sums of both with dwell profile\n");
    expect_error("merge two a -o x",
                 "dwell: a: holds sums, and two was recorded; make sums of both with dwell profile\n");
    expect_error("profile a -o x", "dwell: a: holds sums already\n");
    expect_error("profile one", "dwell: profile: say which session file to write, with -o FILE\n");
    expect_error("profile one -o one", "dwell: one: is the session itself\n");
    expect_error("profile --shard 3/2 one -o x", "dwell: --shard: '3/2' is not a part such as 1/4, of at most 10000\n");
    expect_error("report --by line a", "dwell: a: holds sums, which have no call sites; read the recorded session\n");
    free(run_well("! ls x* 2>/dev/null"));
    expect_error("replay a", "dwell: a: holds sums, which keep no single calls; read the recorded session\n");
    expect_error("slowest fib a", "dwell: a: holds sums, which keep no single calls; read the recorded session\n");
    expect_error("critical a", "dwell: a: holds sums, which keep no order of events; read the recorded session\n");
    expect_error("report --from 1ms a",
                 "dwell: a: holds sums, which cannot be cut by --from and --to; read the recorded session\n");
}
