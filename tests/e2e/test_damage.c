/* Sessions that were cut or overwritten after they were recorded: nothing of them lies. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwell/format.h"
#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_damage, .timeout = 600, .init = without_os_calls);

/* The line of `dwell info` about checksums. */
static void expect_checksums(const char *session, const char *line)
{
    char *out = run_well("$DWELL info %s | sed -n 's/^checksums  *//p'", session);
    cr_assert(eq(str, out, (char *)line), "%s", session);
    free(out);
}

Test(e2e_damage, every_writer_seals)
{
    need_features("vsperf");
    free(
        run_well("$DWELL record -q -o trace $SAMPLES/fib 12 && $DWELL record -q --mode profile -o tree $SAMPLES/fib 12 "
                 "&& $DWELL record -q --mode ring=64K -o ring $SAMPLES/fib 18 && $DWELL record -q --sample 200 -o "
                 "samples $SAMPLES/fib 22 && $DWELL record -q --level counted=fib -o counted $SAMPLES/fib 12 && "
                 "$DWELL merge trace counted -o merged && $DWELL profile trace -o sums && "
                 "$DWELL profile ring -o others && $DWELL merge sums others -o all && "
                 "$DWELL export vsperf -o report trace && $DWELL import -o imported vsperf report_*.csv"));
    static const char *const sessions[] = { "trace",  "tree", "ring", "samples", "counted",
                                            "merged", "sums", "all",  "imported" };
    for (size_t i = 0; i < sizeof sessions / sizeof *sessions; i++)
        expect_checksums(sessions[i], "all chunks are whole\n");
}

/* Its one thread has one chunk, and the process one of metadata, to which it may append. */
Test(e2e_damage, sessions_without_a_recorder_say_so)
{
    free(run_well("unset DWELL_RANDOM_LEVELS; LD_PRELOAD=$RUNTIME DWELL_OUTPUT=alone $SAMPLES/fib 12; "
                  "LD_PRELOAD=$RUNTIME DWELL_MODE=profile DWELL_OUTPUT=tree $SAMPLES/fib 12"));
    expect_checksums("alone",
                     "1 of 2 chunks have one, with 100 % of the events: damage to the others may go unnoticed\n");
    expect_checksums("tree", "none: damage may go unnoticed\n");
}

/* `view` has %s in place of the session. */
static struct ran run_view(const char *view, const char *options)
{
    char command[200];
    snprintf(command, sizeof command, view, options);
    return run("$DWELL %s", command);
}

static void expect_remark(const char *view, const char *file, const char *remark)
{
    struct ran r = run_view(view, file);
    cr_assert(eq(int, r.status, 0), "%s: %s", view, r.err);
    cr_assert(has(r.out, remark) || has(r.err, remark), "%s: %s%s", view, r.out, r.err);
    ran_drop(&r);
}

Test(e2e_damage, a_session_that_was_cut)
{
    static const char *const views[] = {
        "report %s",        "report --by thread %s", "report --hot %s", "report --format json %s",
        "tree %s",          "tree --format json %s", "callers %s fib",  "waits %s",
        "histogram %s fib", "slowest %s fib",        "info %s",         "export collapsed -o /dev/null %s"
    };
    free(run_well("$DWELL record -q $SAMPLES/fib 20 && head -c 100000 dwell.data >cut"));
    char *remark = run_well("printf 'the file was cut: the last %%d of its %%d bytes are missing' "
                            "$(($(stat -c %%s dwell.data) - 100000)) $(stat -c %%s dwell.data)");
    for (size_t i = 0; i < sizeof views / sizeof *views; i++) {
        expect_remark(views[i], "cut", remark);
        struct ran r = run_view(views[i], "--strict cut");
        char *expected = run_well("printf 'dwell: cut: %s\\n'", remark);
        cr_assert(eq(int, r.status, 2), "%s", views[i]);
        if (has(views[i], "json"))
            cr_assert(has(r.out, "{\"schema\": \"dwell-error-1\",\n"), "%s: %s", views[i], r.out);
        else
            cr_assert(eq(str, r.out, ""), "%s", views[i]);
        cr_assert(eq(str, r.err, expected), "%s", views[i]);
        ran_drop(&r);
        r = run_view(views[i], "--strict dwell.data");
        cr_assert(eq(int, r.status, 0), "%s: %s", views[i], r.err);
        ran_drop(&r);
        free(expected);
    }
    free(remark);
    struct report *whole = report_of("dwell.data"), *cut = report_of("cut");
    cr_assert(report_session(cut, "elapsed_inclusive_ns") < report_session(whole, "elapsed_inclusive_ns"));
    cr_assert(report_sum(cut, "function", "fib", "calls") < report_sum(whole, "function", "fib", "calls"));
    report_drop(whole);
    report_drop(cut);
}

/* Noise over all but the first quarter. In mode profile, the middle is free, and the last part is in use. */
Test(e2e_damage, a_session_with_noise)
{
    static const char *const modes[] = { "trace", "profile", "ring" };
    for (int i = 0; i < 3; i++) {
        free(
            run_well("rm -f noise; $DWELL record -q --mode %s $SAMPLES/fib 22 && cp dwell.data noise && "
                     "size=$(($(stat -c %%s noise) / 4096)) && "
                     "dd if=/dev/urandom of=noise bs=4096 seek=$((size / 4)) count=$((size * 3 / 4)) conv=notrunc 2>&1",
                     modes[i]));
        struct report *whole = report_of("dwell.data"), *rest = report_of("noise");
        cr_assert(report_session(rest, "elapsed_inclusive_ns") <= report_session(whole, "elapsed_inclusive_ns"));
        cr_assert(report_session(rest, "os_events") <= report_session(whole, "os_events"));
        cr_assert(report_sum(rest, "function", NULL, "calls") <= report_sum(whole, "function", NULL, "calls"));
        report_drop(whole);
        report_drop(rest);
        struct ran r = run("$DWELL report --strict noise");
        cr_assert(eq(int, r.status, 2), "%s", modes[i]);
        ran_drop(&r);
        r = run("$DWELL info noise | grep -c '^checksums  *all'; $DWELL info noise | grep -q '^state  *damaged'");
        cr_assert(eq(int, r.status, 0), "%s", modes[i]);
        cr_assert(eq(str, r.out, "0\n"), "%s", modes[i]);
        ran_drop(&r);
    }
}

/* ---- sessions that no recorder has ended ---- */

struct sealed_chunk {
    uint64_t at;
    uint32_t used, events;
};

enum { MOST_CHUNKS = 1000 };

/* Finds the chunks of events that have checksums. */
static int find_sealed(const char *session, struct sealed_chunk chunks[MOST_CHUNKS])
{
    struct dwell_chunk_header head;
    int count = 0;
    const int fd = open(test_path(session), O_RDONLY);
    for (uint64_t at = DWELL_UNIT; pread(fd, &head, sizeof head, (off_t)at) == (ssize_t)sizeof head;) {
        const bool whole = head.magic == DWELL_CHUNK_MAGIC && head.size;
        if (whole && head.kind == DWELL_CHUNK_EVENTS && head.sealed == 1 && count < MOST_CHUNKS)
            chunks[count++] = (struct sealed_chunk){ at, head.used, head.enters + head.exits };
        at += whole ? head.size : DWELL_UNIT;
    }
    close(fd);
    return count;
}

/* Changes a hundred bytes of records in the middle of the session. Returns the number of events in that chunk. */
static uint64_t put_noise(const char *session, int least)
{
    struct sealed_chunk chunks[MOST_CHUNKS];
    uint8_t noise[100];
    const int count = find_sealed(session, chunks);
    cr_assert(ge(int, count, least), "%s", session);
    const struct sealed_chunk *chunk = &chunks[count / 2];
    const off_t at = (off_t)(chunk->at + chunk->used / 2);
    const int fd = open(test_path(session), O_RDWR);
    cr_assert(pread(fd, noise, sizeof noise, at) == (ssize_t)sizeof noise);
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] ^= 0x5a;
    cr_assert(pwrite(fd, noise, sizeof noise, at) == (ssize_t)sizeof noise);
    close(fd);
    return chunk->events;
}

static uint64_t events_of(const char *session)
{
    char *out = run_well("$DWELL info %s | sed -n 's/^events  *\\([0-9]*\\) .*/\\1/p'", session);
    const uint64_t events = strtoull(out, NULL, 10);
    free(out);
    return events;
}

static void expect_noise_to_be_seen(const char *session, int least)
{
    static const char remark[] = "1 damaged chunk was left out, wholly or in part";
    static const char *const views[] = { "report %s", "report --format json %s", "tree %s", "callers %s fib",
                                         "info %s" };
    struct ran r = run("$DWELL report --strict %s", session);
    cr_assert(eq(int, r.status, 0), "%s: %s", session, r.err);
    ran_drop(&r);
    const uint64_t before = events_of(session), lost = put_noise(session, least);
    cr_assert(eq(u64, events_of(session), before - lost), "%s", session);
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        expect_remark(views[i], session, remark);
    r = run("$DWELL report --strict %s", session);
    cr_assert(eq(int, r.status, 2), "%s", session);
    cr_assert(has(r.err, remark), "%s: %s", session, r.err);
    ran_drop(&r);
}

/* All full chunks have checksums, and the thread's last one, too, if the process has ended by itself. */
static void expect_all_events(const char *session)
{
    char *out = run_well("$DWELL info %s | sed -n 's/^checksums .*with \\(.*\\) of the events.*/\\1/p'", session);
    cr_assert(eq(str, out, "100 %\n"), "%s", session);
    free(out);
}

Test(e2e_damage, noise_in_a_session_without_a_recorder)
{
    free(run_well("unset DWELL_RANDOM_LEVELS; export LD_PRELOAD=$RUNTIME; DWELL_OUTPUT=trace $SAMPLES/fib 25; "
                  "DWELL_MODE=ring=1M DWELL_OUTPUT=ring $SAMPLES/fib 27; "
                  "DWELL_MODE=ring=64K DWELL_OUTPUT=small $SAMPLES/fib 27"));
    static const char *const sessions[] = { "trace", "ring", "small" };
    for (int i = 0; i < 3; i++) {
        expect_all_events(sessions[i]);
        expect_noise_to_be_seen(sessions[i], 5);
    }
}

Test(e2e_damage, noise_in_a_session_whose_recorder_was_killed)
{
    static const char *const modes[] = { "trace", "ring=1M" };
    for (int i = 0; i < 2; i++) {
        free(run_well("unset DWELL_RANDOM_LEVELS; rm -f done; $DWELL record -q -o killed --mode %s sh -c "
                      "'exec >/dev/null; $SAMPLES/fib 22; kill -9 $PPID; $SAMPLES/fib 25; : >done'; "
                      "until test -e done; do sleep 0.05; done",
                      modes[i]));
        expect_all_events("killed");
        expect_noise_to_be_seen("killed", 5);
        free(run_well("rm killed"));
    }
}

static bool is_full(const char *session)
{
    struct dwell_file_header head = { 0 };
    const int fd = open(test_path(session), O_RDONLY);
    cr_assert(pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head);
    close(fd);
    return head.trouble & DWELL_TROUBLE_MAX_SIZE;
}

/* Kills a program without a recorder when three of its chunks of events have checksums, and before its session has its
 * maximum size, from where on events are lost. */
static void record_killed(void)
{
    struct sealed_chunk chunks[MOST_CHUNKS];
    do {
        unlink(test_path("dead")); /* its chunks are not those of the next program */
        char *pid = run_well("unset DWELL_RANDOM_LEVELS; LD_PRELOAD=$RUNTIME DWELL_OUTPUT=dead "
                             "DWELL_MAX_SIZE=64000000 $SAMPLES/fib 60 >/dev/null 2>&1 & printf %%d $!");
        while (find_sealed("dead", chunks) < 3)
            usleep(10000);
        kill(atoi(pid), SIGKILL);
        free(run_well("while kill -0 %s 2>/dev/null; do sleep 0.01; done", pid));
        free(pid);
    } while (is_full("dead"));
}

/* What had a checksum at that moment keeps it. */
Test(e2e_damage, noise_in_a_session_whose_program_was_killed)
{
    record_killed();
    expect_noise_to_be_seen("dead", 3);
}

static uint64_t change_number(const char *session, size_t at, int64_t by)
{
    uint64_t number = 0;
    const int fd = open(test_path(session), O_RDWR);
    cr_assert(pread(fd, &number, sizeof number, (off_t)at) == (ssize_t)sizeof number);
    number += (uint64_t)by;
    cr_assert(pwrite(fd, &number, sizeof number, (off_t)at) == (ssize_t)sizeof number);
    close(fd);
    return number;
}

static uint64_t file_size(const char *session)
{
    struct stat status;
    cr_assert(eq(int, stat(test_path(session), &status), 0));
    return (uint64_t)status.st_size;
}

/* A thread has claimed space, and the file is not longer yet: nothing is missing. */
Test(e2e_damage, a_program_that_was_killed_while_it_claimed_space)
{
    const size_t cursor = offsetof(struct dwell_file_header, cursor);
    const size_t filled = sizeof(struct dwell_file_header) + offsetof(struct dwell_file_more, filled);
    uint64_t length;
    do { /* until it was not killed between the file's growth and the note of that */
        record_killed();
        length = change_number("dead", filled, 0);
    } while (file_size("dead") != length);
    change_number("dead", cursor, (int64_t)(length + (256 << 10) - change_number("dead", cursor, 0)));
    struct ran r = run("$DWELL report --strict dead");
    cr_assert(eq(int, r.status, 0), "%s", r.err);
    ran_drop(&r);

    free(run_well("truncate -s -4096 dead"));
    char *remark = run_well("printf 'the file was cut: the last 4096 of its %%s bytes are missing' %" PRIu64, length);
    expect_remark("report %s", "dead", remark);
    free(remark);

    change_number("dead", filled, -(int64_t)length); /* a file of an older runtime */
    remark = run_well("printf 'the file was cut: the last %%s of its %%s bytes are missing' %d %" PRIu64,
                      (256 << 10) + 4096, length + (256 << 10));
    expect_remark("report %s", "dead", remark);
    free(remark);
}

/* Merged sessions are sealed as a whole, without what was damaged. */
Test(e2e_damage, merges_of_sessions_without_a_recorder)
{
    free(run_well("unset DWELL_RANDOM_LEVELS; export LD_PRELOAD=$RUNTIME; DWELL_OUTPUT=one $SAMPLES/fib 22; "
                  "DWELL_OUTPUT=other $SAMPLES/fib 12; unset LD_PRELOAD; $DWELL merge -o merged one other"));
    expect_checksums("merged", "all chunks are whole\n");
    const uint64_t before = events_of("merged"), lost = put_noise("one", 1);
    free(run_well("$DWELL merge -o rest one other"));
    expect_checksums("rest", "all chunks are whole\n");
    cr_assert(eq(u64, events_of("rest"), before - lost));
}
