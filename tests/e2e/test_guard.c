/* A session that is truncated or overwritten while it is recorded, disks that are full, and programs with faults and
 * handlers of their own for SIGBUS. The program's output and status stay the same as without the runtime. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_guard, .timeout = 300, .init = without_os_calls);

#define REPLACED                                                                                                       \
    "dwell: x: the session file was truncated or overwritten while it was recorded; the recording is lost\n"
#define TRUNCATED "events were lost: the session file was truncated or overwritten, or its device failed\n"
#define FULL "events were lost: the disk is full, or a limit on file sizes was reached\n"

static int guard_lines(const char *text)
{
    int lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* ---- truncated sessions ---- */

static const struct {
    const char *before, *options, *program;
} guard_ways[] = {
    { "", "", "cut" },
    { "", "--mode profile", "cut" },
    { "", "--mode ring=1M", "cut" },
    { "", "--call-sites", "cut" },
    { "", "--mode profile --call-sites", "cut" },
    { "", "--suppress step", "cut" },
    { "", "--mode profile --ignore dive", "cut" },
    { "DWELL_HELPER=off", "", "cut" },
    { "", "", "cut-dwell" },
};

/* The report reads what is left, or says in one line why not. */
static void guard_check_report(const char *what)
{
    struct ran r = run("timeout 300 $DWELL report x");
    cr_assert(r.status == 0 || guard_lines(r.err) == 1, "%s: %s", what, r.err);
    cr_assert(ge(int, r.status, 0), "%s", what);
    ran_drop(&r);
}

static void guard_check_info(void)
{
    char *info = run_well("$DWELL info x");
    cr_assert(has(info, "the file was truncated or overwritten, or its device failed"), "%s", info);
    free(info);
}

/* `message` may be NULL: it depends on what the program does at that moment. */
static void guard_check_cut(const char *how, const char *message)
{
    struct ran alone = run("$PROGRAMS/guarded/cut %s", how);
    cr_assert(eq(int, alone.status, 3), "%s", alone.err);
    for (size_t i = 0; i < sizeof guard_ways / sizeof *guard_ways; i++) {
        struct ran r = run("rm -f x x.* copy; %s timeout 300 $DWELL record -q %s -o x $PROGRAMS/guarded/%s %s x",
                           guard_ways[i].before, guard_ways[i].options, guard_ways[i].program, how);
        char what[128];
        snprintf(what, sizeof what, "%s %s %s %s", how, guard_ways[i].before, guard_ways[i].options,
                 guard_ways[i].program);
        cr_assert(eq(int, r.status, 3), "%s: %s", what, r.err);
        cr_assert(eq(str, r.out, alone.out), "%s", what);
        cr_assert(message == NULL || has(r.err, message), "%s: %s", what, r.err);
        cr_assert(le(int, guard_lines(r.err), 1), "%s: %s", what, r.err);
        guard_check_report(what);
        ran_drop(&r);
    }
    ran_drop(&alone);
}

/* Another thread may be about to make the file longer when it is cut. */
Test(e2e_guard, an_empty_session)
{
    guard_check_cut("empty", REPLACED);
    char *info = run_well("! $DWELL info x 2>&1");
    const bool empty = strcmp(info, "dwell: x: the file is empty\n") == 0;
    cr_assert(empty || strcmp(info, "dwell: x: not a dwell session\n") == 0, "%s", info);
    free(info);
}

Test(e2e_guard, a_session_cut_behind_its_header)
{
    guard_check_cut("header", TRUNCATED);
    guard_check_info();
}

/* Two reasons at once. More room would not have helped, so the first one is the only line. */
Test(e2e_guard, a_full_session_cut_behind_its_header)
{
    struct ran r = run("bash -c 'ulimit -f 800; exec $DWELL record -q -o x $PROGRAMS/guarded/cut header x'");
    cr_assert(eq(int, r.status, 3), "%s", r.err);
    cr_assert(has(r.err, TRUNCATED), "%s", r.err);
    cr_assert(eq(int, guard_lines(r.err), 1), "%s", r.err);
    ran_drop(&r);
    guard_check_info();
}

Test(e2e_guard, a_session_cut_that_grows_again)
{
    guard_check_cut("grown", TRUNCATED);
    guard_check_info();
}

Test(e2e_guard, a_session_cut_in_the_middle)
{
    guard_check_cut("middle", NULL); /* a call tree may lie before it */
}

Test(e2e_guard, an_overwritten_session)
{
    guard_check_cut("text", REPLACED);
    guard_check_cut("program", REPLACED);
    guard_check_cut("random", REPLACED);
}

Test(e2e_guard, a_session_overwritten_by_its_own_copy)
{
    guard_check_cut("earlier", NULL);
}

/* By another process, at any moment. */
Test(e2e_guard, sessions_cut_from_outside)
{
    static const char *const cuts[] = { ": > x", "truncate -s 300K x", "cp $DWELL x" };
    for (int i = 0; i < 9; i++) {
        struct ran r = run("rm -f x x.*; (until [ -s x ] || [ -e ended ]; do sleep 0.01; done; sleep 0.%d; %s) & "
                           "timeout 300 $DWELL record -q %s -o x sh -c "
                           "'$SAMPLES/fib 27 & $SAMPLES/threads 4 200000 & $SAMPLES/processes 3 100000; wait'; "
                           "s=$?; touch ended; wait; rm ended; exit $s",
                           1 + i, cuts[i % 3],
                           i / 3 == 0   ? ""
                           : i / 3 == 1 ? "--mode profile"
                                        : "--mode ring=1M");
        cr_assert(eq(int, r.status, 0), "%d: %s", i, r.err);
        cr_assert(has(r.out, "fib(27) = 196418\n"), "%d", i);
        cr_assert(le(int, guard_lines(r.err), 1), "%d: %s", i, r.err);
        guard_check_report(cuts[i % 3]);
        ran_drop(&r);
    }
}

/* ---- the program's own faults ---- */

/* Compares the program alone with it recorded, and with it recorded into a session that it truncates. */
static void guard_check_faults_of(const char *program, const char *how, int status)
{
    static const char *const options[] = { "", "--mode profile", "--mode ring=1M", "--suppress step" };
    struct ran alone = run("exec $PROGRAMS/guarded/%s %s 2>&1", program, how);
    cr_assert(eq(int, alone.status, status), "%s %s: %s", program, how, alone.out);
    for (int i = 0; i < 8; i++) {
        const bool profile = i / 2 == 1;
        struct ran r = run("rm -f x x.*; exec timeout 300 $DWELL record -q %s %s -o x $PROGRAMS/guarded/%s %s %s",
                           options[i / 2], profile ? "" : "--values 'glance:*at'", program, how, i % 2 ? "x" : "");
        cr_assert(r.status == status || r.status == 128 - status, "%s %s %s: %d %s", program, how, options[i / 2],
                  r.status, r.err);
        cr_assert(eq(str, r.out, alone.out), "%s %s %s", program, how, options[i / 2]);
        ran_drop(&r);
    }
    ran_drop(&alone);
}

/* SIGSEGV has a handler of the runtime if values in memory are recorded. */
static void guard_check_faults(const char *how, int status)
{
    guard_check_faults_of("faults", how, status);
    guard_check_faults_of("faults-segv", how, status == -SIGBUS ? -SIGSEGV : status);
}

Test(e2e_guard, handlers_of_the_program)
{
    guard_check_faults("siginfo", 0);
    guard_check_faults("alternate", 0);
    guard_check_faults("ordinary", 0);
    guard_check_faults("jump", 0);
    guard_check_faults("thread", 0);
}

/* Its probes store into a session that is truncated after the fault. */
Test(e2e_guard, handlers_that_are_recorded)
{
    guard_check_faults("inside", 0);
}

Test(e2e_guard, handlers_that_leave_for_another_context)
{
    guard_check_faults("leave", 0);
}

Test(e2e_guard, signals_that_are_sent)
{
    guard_check_faults("sent", 0);
    guard_check_faults("sent-default", -SIGBUS);
}

Test(e2e_guard, programs_that_die_by_their_fault)
{
    guard_check_faults("default", -SIGBUS);
    guard_check_faults("ignored", -SIGBUS);
    guard_check_faults("blocked", -SIGBUS);
    guard_check_faults("once", -SIGBUS);
}

Test(e2e_guard, what_the_program_asks)
{
    guard_check_faults("ask", 0);
    guard_check_faults("inherit", 0);
}

/* The session has a header of zeros when a child enters it. */
Test(e2e_guard, children_of_an_emptied_session)
{
    guard_check_faults("children", 0);
}

/* ---- full disks ---- */

static const struct {
    const char *name, *make;
    bool clones;
} guard_disks[] = {
    { "btrfs", "truncate -s 128M disk && mkfs.btrfs -q disk", false },
    { "xfs", "truncate -s 320M disk && mkfs.xfs -q -m reflink=1 disk", true },
    { "ext4", "truncate -s 24M disk && mkfs.ext4 -q disk", false },
    { "tmpfs", NULL, false },
};

#define IN_DISK "mkdir -p folder; unshare -m sh -c 'export PATH=$PATH:/sbin:/usr/sbin; "

static void guard_mount(char *text, size_t size, int disk)
{
    if (guard_disks[disk].make)
        snprintf(text, size, "rm -f disk; { %s; } >/dev/null 2>&1 && mount -o loop disk folder 2>/dev/null || exit 77",
                 guard_disks[disk].make);
    else
        snprintf(text, size, "mount -t tmpfs -o size=8m none folder || exit 77");
}

/* Each call is in the report or counted as lost. */
static void guard_check_account(const char *what, const char *out)
{
    uint64_t calls = 0;
    for (const char *at = out; (at = strstr(at, "calls ")) != NULL; at++)
        calls += strtoull(strchr(at + 6, ' '), NULL, 10);
    struct report *r = report_of("x");
    const uint64_t lost = report_session(r, "lost_events");
    cr_assert(gt(u64, lost, 0), "%s", what);
    cr_assert(eq(u64, report_session(r, "events") + lost, 2 * calls), "%s", what);
    report_drop(r);
    char *info = run_well("$DWELL info x");
    cr_assert(has(info, "the disk was full: recording stopped early"), "%s: %s", what, info);
    free(info);
}

static void guard_check_disk(int disk, const char *options)
{
    char mount[512], what[64];
    guard_mount(mount, sizeof mount, disk);
    snprintf(what, sizeof what, "%s %s", guard_disks[disk].name, options);
    struct ran r = run(IN_DISK "%s; timeout 300 $DWELL record -q --keep-free 0 %s -o folder/x "
                               "$PROGRAMS/scarcity/fillup folder %s; s=$?; cp folder/x x; exit $s'",
                       mount, options, guard_disks[disk].clones ? "folder/x" : "");
    if (r.status == 77 || has(r.err, "unshare"))
        cr_skip_test("no %s images can be mounted (root, with its tools and loop devices, may)",
                     guard_disks[disk].name);
    cr_assert(eq(int, r.status, 0), "%s: %s", what, r.err);
    cr_assert(has(r.err, FULL), "%s: %s", what, r.err);
    cr_assert(eq(int, guard_lines(r.err), 1), "%s: %s", what, r.err);
    guard_check_account(what, r.out);
    ran_drop(&r);
}

static void guard_check_full_disk(int disk)
{
    static const char *const options[] = { "", "--mode profile", "--mode ring=64M", "--call-sites",
                                           "--mode profile --call-sites" };
    for (int i = 0; i < 5; i++)
        guard_check_disk(disk, options[i]);
}

Test(e2e_guard, a_full_btrfs)
{
    guard_check_full_disk(0);
}

Test(e2e_guard, a_full_xfs_whose_session_was_cloned)
{
    guard_check_full_disk(1);
}

Test(e2e_guard, a_full_ext4)
{
    guard_check_full_disk(2);
}

Test(e2e_guard, a_full_tmpfs)
{
    guard_check_full_disk(3);
}
