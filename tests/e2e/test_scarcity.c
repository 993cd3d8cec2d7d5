/*
 * Programs that lack something: descriptors, memory, disk, permission. Their output and status stay the same as without
 * the runtime. Each call that they count is in the report or counted as lost, to the last one.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_scarcity, .timeout = 900, .init = without_os_calls);

/* The last lines of `dwell record`. */
#define FULL "events were lost: the disk is full, or a limit on file sizes was reached\n"
#define MEMORY "events were lost: the system refused memory\n"
#define UNOPENED "events were lost: a process could not open the session file\n"
#define REFUSED "events were lost: the system refused a call that recording needs (a sandbox?)\n"

/* Each function's calls and their exits. A function may have fewer calls in the report, but not more. Those of `open`
 * calls that the program never left are not lost. */
static void check_account(const char *out, const char *file, int open, bool lossless)
{
    struct report *r = report_of(file);
    uint64_t sum = 0;
    char *copy = strdup(out), *rest = copy;
    for (char *line; (line = strsep(&rest, "\n"));) {
        char *blank = strrchr(line, ' ');
        if (strncmp(line, "calls ", 6) != 0)
            continue;
        *blank = '\0';
        uint64_t calls = strtoull(blank + 1, NULL, 10);
        uint64_t reported = report_sum(r, "function", line + 6, "calls");
        cr_assert(le(u64, reported, calls), "%s", line + 6);
        cr_assert(reported == calls || !lossless, "%s", line + 6);
        sum += calls;
    }
    cr_assert(gt(u64, sum, 0), "%s", out);
    const uint64_t lost = report_session(r, "lost_events");
    cr_assert(eq(u64, report_session(r, "events") + lost + (uint64_t)open, 2 * sum));
    cr_assert(eq(int, lost == 0, lossless));
    free(copy);
    report_drop(r);
}

static const char *recorder = "$DWELL";

/* The modes, and the probes with call sites and with filters. All take other paths when something is missing. The rings
 * are larger than what is recorded, and the filter lets all calls pass. It is the last kind, as it would hide a deep
 * recursion. */
static const char *const kinds[] = {
    "", "--mode profile", "--mode ring=64M", "--call-sites", "--mode profile --call-sites", "--depth 8000",
};
enum { MODES = 3, KINDS = 6 };
static const char *kind = "";

/* `prefix` is shell text before both `dwell record` and the program alone. If `message` is NULL, nothing is lost. */
static void scarcity_check_kind(const char *prefix, const char *command, const char *message, const char *remark,
                                int open)
{
    struct ran alone = run("%s %s", prefix, command);
    struct ran r = run("%s timeout 300 %s record -q %s %s", prefix, recorder, kind, command);
    cr_assert(eq(int, alone.status, 0), "%s: %s", command, alone.err);
    cr_assert(eq(int, r.status, alone.status), "%s: %s", command, r.err);
    cr_assert(eq(str, r.out, alone.out), "%s", command);
    if (message)
        cr_assert(has(r.err, message), "%s: %s", command, r.err);
    else
        cr_assert(eq(str, r.err, ""), "%s", command);
    check_account(r.out, "", open, message == NULL);
    char *info = run_well("$DWELL info");
    cr_assert(remark == NULL || has(info, remark), "%s: %s", command, info);
    free(info);
    ran_drop(&alone);
    ran_drop(&r);
}

static void scarcity_check_first(int count, const char *prefix, const char *command, const char *message,
                                 const char *remark, int open)
{
    for (int i = 0; i < count; i++) {
        kind = kinds[i];
        scarcity_check_kind(prefix, command, message, remark, open);
    }
}

static void scarcity_check(const char *prefix, const char *command, const char *message, const char *remark, int open)
{
    scarcity_check_first(KINDS, prefix, command, message, remark, open);
}

/* Skips the test if the command fails. */
static void scarcity_need(const char *needs, const char *why)
{
    struct ran r = run("%s", needs);
    const bool missing = r.status != 0;
    ran_drop(&r);
    if (missing)
        cr_skip_test("%s", why);
}

static void need_root(void)
{
    if (geteuid() != 0)
        cr_skip_test("only root may do this");
}

Test(e2e_scarcity, descriptors)
{
    scarcity_check("", "$PROGRAMS/scarcity/descriptors 3", UNOPENED, "a process could not open the session file", 0);
    scarcity_check("", "$PROGRAMS/scarcity/descriptors 0", UNOPENED, "a process could not open the session file", 0);
}

Test(e2e_scarcity, address_space_lowered_in_the_middle)
{
    scarcity_check_first(KINDS - 1, "", "$PROGRAMS/scarcity/memory", MEMORY, "1 thread could not be recorded", 0);
}

/* What the loader says before the program begins, by the size of what it could not have. */
static bool scarcity_is_loaders(const char *message)
{
    static const char *const messages[] = { "error while loading shared libraries: ",
                                            "cannot allocate TLS data structures",
                                            "cannot set up thread-local storage: ", "Cannot allocate memory" };
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        if (has(message, messages[i]))
            return true;
    return false;
}

/* Memory grows from too little for the loader to enough for all. Only the loader's own failure may be seen. */
Test(e2e_scarcity, address_space_from_the_start)
{
    for (int kilobytes = 3000; kilobytes < 9000; kilobytes += 100) {
        struct ran r = run(
            "rm -f plain.data; sh -c 'ulimit -v %d; DWELL_OUTPUT=$PWD/plain.data LD_PRELOAD=$RUNTIME exec $SAMPLES/fib 22'",
            kilobytes);
        if (r.status == 127) { /* the dynamic loader's */
            cr_assert(scarcity_is_loaders(r.err), "%s", r.err);
        } else {
            cr_assert(eq(int, r.status, 0), "%d: %s", kilobytes, r.err);
            cr_assert(has(r.out, "fib(22) = 17711\n"));
            if (access(test_path("plain.data"), F_OK) == 0) {
                struct report *report = report_of("plain.data");
                uint64_t all = report_session(report, "events") + report_session(report, "lost_events");
                cr_assert(eq(u64, all, 2 * (truth(r.out, "fib") + 1)), "%d", kilobytes);
                report_drop(report);
            }
        }
        ran_drop(&r);
    }
}

Test(e2e_scarcity, file_sizes_limited_in_the_middle)
{
    scarcity_check("", "$PROGRAMS/scarcity/filesize", FULL, "the disk was full", 0);
}

#define AS_NOBODY "setpriv --reuid=54321 --regid=54321 --clear-groups"

/* The build may be in a folder that only its owner can enter. */
static void move_to_where_all_may_look(const char *programs)
{
    free(run_well(
        "mkdir analyzer runtime && cp $DWELL analyzer/dwell && cp -L $RUNTIME runtime/libdwell.so.0 && cp %s . && "
        "chmod -R a+rX . && chmod 777 .",
        programs));
    recorder = "./analyzer/dwell";
}

/* Without privilege, the memory of rings is limited. Threads beyond the limit lack this source only. */
Test(e2e_scarcity, locked_memory)
{
    need_root();
    move_to_where_all_may_look("$PROGRAMS/scarcity/crowd");
    scarcity_check(AS_NOBODY " sh -c 'ulimit -l 0; exec \"$@\"' sh", "./crowd 300 65536 100", NULL, NULL, 0);
}

Test(e2e_scarcity, processes)
{
    need_root();
    move_to_where_all_may_look("$SAMPLES/fib");
    scarcity_check(AS_NOBODY, "prlimit --nproc=1 ./fib 24", NULL, "no helper thread could be started", 0);
}

Test(e2e_scarcity, a_disk_that_is_filled_in_the_middle)
{
    scarcity_need("unshare -m true", "no mount namespaces here");
    struct ran alone =
        run("mkdir small; unshare -m sh -c 'mount -t tmpfs -o size=4m none small; $PROGRAMS/scarcity/fulldisk small'");
    for (int i = 0; i < KINDS; i++) {
        struct ran r = run(
            "unshare -m sh -c 'mount -t tmpfs -o size=4m none small; timeout 300 $DWELL record -q --keep-free 0 %s -o "
            "small/x $PROGRAMS/scarcity/fulldisk small; s=$?; cp small/x x; exit $s'",
            kinds[i]);
        cr_assert(eq(int, r.status, 0), "%s: %s", kinds[i], r.err);
        cr_assert(eq(str, r.out, alone.out), "%s", kinds[i]);
        cr_assert(has(r.err, FULL), "%s: %s", kinds[i], r.err);
        check_account(r.out, "x", 0, false);
        ran_drop(&r);
    }
    ran_drop(&alone);
}

/* 4 KiB hold the session's header only. */
Test(e2e_scarcity, a_disk_that_is_full_at_once)
{
    scarcity_need("unshare -m true", "no mount namespaces here");
    for (int i = 0; i < KINDS; i++) {
        struct ran r =
            run("mkdir -p small; unshare -m sh -c 'mount -t tmpfs -o size=%s none small; timeout 300 $DWELL record -q "
                "--keep-free 0 %s -o small/x $SAMPLES/fib 20; s=$?; cp small/x x; exit $s'",
                strncmp(kinds[i], "--depth", 7) == 0 ? "8k" : "4k", kinds[i]); /* the filters take 4 KiB, too */
        cr_assert(eq(int, r.status, 0), "%s: %s", kinds[i], r.err);
        cr_assert(has(r.err, FULL), "%s: %s", kinds[i], r.err);
        cr_assert(has(r.out, "fib(20) = 6765\n"));
        struct report *report = report_of("x");
        cr_assert(eq(u64, report_session(report, "lost_events"), 2 * (truth(r.out, "fib") + 1)), "%s", kinds[i]);
        report_drop(report);
        char *info = run_well("$DWELL info x");
        cr_assert(has(info, "1 thread could not be recorded"), "%s: %s", kinds[i], info);
        free(info);
        ran_drop(&r);
    }
}

Test(e2e_scarcity, a_full_shared_memory)
{
    scarcity_need("unshare -m sh -c 'mount -t tmpfs -o size=1m none /dev/shm'", "no mount namespaces here");
    for (int i = 0; i < KINDS; i++) {
        struct ran r = run(
            "unshare -m sh -c 'mount -t tmpfs -o size=1m none /dev/shm; dd if=/dev/zero of=/dev/shm/full bs=4k 2>/dev/null; "
            "exec timeout 300 $DWELL record -q %s $SAMPLES/threads 8 10000'",
            kinds[i]);
        cr_assert(eq(int, r.status, 0), "%s", r.err);
        check_account(r.out, "", 0, true);
        ran_drop(&r);
    }
}

Test(e2e_scarcity, a_read_only_file_system)
{
    scarcity_need("unshare -m true", "no mount namespaces here");
    struct ran r = run(
        "mkdir fixed; unshare -m sh -c 'mount -t tmpfs -o ro none fixed; $DWELL record -o fixed/x $SAMPLES/fib 10'");
    cr_assert(eq(int, r.status, 125));
    cr_assert(eq(str, r.err, "dwell: fixed/x: Read-only file system\n"));
    cr_assert(eq(str, r.out, ""));
    ran_drop(&r);
    r = run(
        "unshare -m sh -c 'mount -t tmpfs -o ro none fixed; DWELL_LOG=stderr DWELL_OUTPUT=$PWD/fixed/x LD_PRELOAD=$RUNTIME exec "
        "$SAMPLES/fib 10'");
    cr_assert(eq(int, r.status, 0));
    cr_assert(eq(str, r.err, "dwell: the session file of DWELL_OUTPUT cannot be written; nothing is recorded\n"));
    cr_assert(has(r.out, "fib(10) = 55\n"));
    ran_drop(&r);
}

/* The recorder can only report that the file is gone. Under another name it still exists, as after a kill. */
Test(e2e_scarcity, a_folder_that_vanishes)
{
    struct ran alone = run("mkdir gone; touch gone/x; $PROGRAMS/scarcity/vanish gone gone/x link");
    for (int i = 0; i < MODES; i++) {
        struct ran r = run(
            "rm -f kept; mkdir gone; timeout 300 $DWELL record -q %s -o gone/x $PROGRAMS/scarcity/vanish gone gone/x kept; s=$?; "
            "test ! -e gone || s=1; exit $s",
            kinds[i]);
        cr_assert(eq(int, alone.status, 0), "%s", alone.err);
        cr_assert(eq(int, r.status, 0), "%s", r.err);
        cr_assert(eq(str, r.out, alone.out));
        cr_assert(has(r.err, "gone/x: No such file or directory\n"), "%s", r.err);
        check_account(r.out, "kept", 0, false);
        char *info = run_well("$DWELL info kept");
        cr_assert(has(info, "a process could not open the session file"), "%s", info);
        free(info);
        ran_drop(&r);
    }
    ran_drop(&alone);
}

Test(e2e_scarcity, perf_events_forbidden)
{
    static const int errors[] = { 1, 38 }; /* EPERM, as Docker answers; ENOSYS, as others do */
    for (int i = 0; i < 2; i++) {
        char command[256];
        snprintf(command, sizeof command, "$PROGRAMS/scarcity/refuse %d %d $SAMPLES/threads 4 10000",
                 (int)SYS_perf_event_open, errors[i]);
        scarcity_check("", command, NULL, NULL, 0);
        char *info = run_well("$DWELL info");
        cr_assert(not(has(info, " perf\n")), "%s", info);
        free(info);
    }
}

Test(e2e_scarcity, an_allowlist_of_system_calls)
{
    scarcity_check("", "$PROGRAMS/scarcity/allowlist prctl", REFUSED, "the system refused a call", 0);
    scarcity_check_first(MODES, "", "$PROGRAMS/scarcity/allowlist seccomp", REFUSED, "the system refused a call", 0);
    scarcity_check_first(MODES, "", "$PROGRAMS/scarcity/allowlist tsync", REFUSED, "the system refused a call", 0);
    scarcity_check("", "$PROGRAMS/scarcity/allowlist tsync all", REFUSED, "the system refused a call", 0);
    scarcity_check_first(MODES, "", "$PROGRAMS/scarcity/allowlist prctl all", NULL, NULL,
                         0); /* the helper may do what the program may not */
    scarcity_check_first(MODES, "", "$PROGRAMS/scarcity/allowlist seccomp all", NULL, NULL, 0);
}

Test(e2e_scarcity, strict_mode)
{
    scarcity_check("", "$PROGRAMS/scarcity/allowlist strict", REFUSED, "the system refused a call", 1);
}

/* A counted call in place reads no clock and makes no system call, so none is lost. */
Test(e2e_scarcity, strict_mode_before_the_first_call)
{
    scarcity_check("", "$PROGRAMS/scarcity/strict", REFUSED, "the system refused a call", 0);
    struct ran r = run("timeout 300 $DWELL record -q --level counted=step $PROGRAMS/scarcity/strict");
    cr_assert(eq(int, r.status, 0), "%s%s", r.out, r.err);
    cr_assert(eq(u64, truth(r.out, "step"), 4000));
    ran_drop(&r);
}

/* The runtime's memory is neither locked nor in the way. The limit is less than program and runtime have together, then
 * more. */
Test(e2e_scarcity, a_program_that_locks_its_memory)
{
    struct ran r = run("test \"$(ulimit -Hl)\" = unlimited || test \"$(ulimit -Hl)\" -ge 8192 || test $(id -u) = 0");
    const bool may = r.status == 0;
    ran_drop(&r);
    if (!may)
        cr_skip_test("no memory may be locked here");
    scarcity_check("", "$PROGRAMS/scarcity/locked 4096", NULL, NULL, 0);
    scarcity_check_first(MODES, "", "$PROGRAMS/scarcity/locked 8192", NULL, NULL, 0);
    char *out = run_well("$PROGRAMS/scarcity/locked 4096");
    cr_assert(has(out, "all: locked\n768 KiB: mine\n64 KiB: mine\nlocked enough\n"), "%s", out);
    free(out);
}

Test(e2e_scarcity, a_program_that_changes_its_root)
{
    need_root();
    scarcity_check("mkdir -p empty;", "$PROGRAMS/scarcity/chrooted empty", UNOPENED,
                   "a process could not open the session file", 0);
}

Test(e2e_scarcity, a_program_that_changes_its_user)
{
    need_root();
    scarcity_check("umask 077;", "$PROGRAMS/scarcity/dropped", UNOPENED, "a process could not open the session file",
                   0);
}

Test(e2e_scarcity, ten_thousand_threads)
{
    struct ran most = run("$PROGRAMS/scarcity/crowd 10000 16384 10");
    const int threads = most.status == 0 ? 10000 : 1000;
    ran_drop(&most);
    if (threads < 10000)
        printf("10,000 threads at once are not allowed here: %d\n", threads);
    char command[64];
    snprintf(command, sizeof command, "$PROGRAMS/scarcity/crowd %d 16384 10", threads);
    struct ran r = run("timeout 800 $DWELL record -q %s", command);
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    cr_assert(eq(u64, truth(r.out, "member"), (uint64_t)threads));
    check_account(r.out, "", 0, r.err[0] == '\0');
    struct report *report = report_of("");
    cr_assert(r.err[0] != '\0' || report_session(report, "threads") == (uint64_t)threads + 1);
    report_drop(report);
    ran_drop(&r);
}

/* The program ends 100 calls by longjmp, without an exit. */
Test(e2e_scarcity, small_stacks)
{
    scarcity_check("", "$PROGRAMS/scarcity/smallstack 8192", NULL, NULL, 100);
    scarcity_check("", "$PROGRAMS/scarcity/smallstack 6000", NULL, NULL, 100);
}

/* LD_BIND_NOW, because the loader's lazy binding would hide how much stack the runtime needs. */
Test(e2e_scarcity, the_stack_that_the_runtime_needs)
{
    static const char *const helpers[] = { "on", "off" };
    for (int i = 0; i < 2; i++) {
        char *out =
            run_well("DWELL_HELPER=%s LD_BIND_NOW=1 $DWELL record -q $PROGRAMS/scarcity/stackdepth", helpers[i]);
        struct report *r = report_of("");
        cr_assert(eq(u64, report_sum(r, "function", "step", "calls"), truth(out, "step")));
        cr_assert(le(u64, truth(out, "bytes"), 2048));
        report_drop(r);
        free(out);
    }
}
