/* CPU times of processes compared with the kernel's: the figures, and when there is a remark. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "analysis/cpu_check.h"
#include "dwell/format.h"
#include "support/load.h"
#include "support/scenario.h"

TestSuite(unit_cpu_check);

enum { F = 0x1000, MS = 1000000, RATE_AT = 64, FILTERS_AT = 160 };

static void check_write_cpu(struct writer *w, uint32_t by, uint32_t process, uint64_t time, uint64_t clock,
                            uint64_t runtime)
{
    struct dwell_rec_process_cpu record = {
        .process = process, .pid = 100, .time = time, .usage = clock + 1, .clock = clock, .runtime = runtime
    };
    write_record(w, by, DWELL_REC_PROCESS_CPU, (char *)&record + sizeof record.record,
                 sizeof record - sizeof record.record);
}

/* F from 100 to 1100 ms, of which it is blocked for 300. The kernel has counted so many milliseconds since
 * the beginning, 20 of them of the runtime. */
static struct writer *check_session(uint32_t source, uint64_t kernel)
{
    struct writer *w = writer_new();
    write_header(w, RATE_AT, 1000, 8); /* a tick is a millisecond */
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, source, "main");
    check_write_cpu(w, 1, 1, 90, 7 * MS, 2 * MS);
    check_write_cpu(w, 1, 1, 1200, (7 + kernel) * MS, 20 * MS);
    write_process_end(w, 1, 100, DWELL_END_EXIT, 0, 1200);
    begin_events(w, 1, 1, 0, 100, NULL, 0);
    write_enter(w, 100, F);
    write_off_cpu(w, false, 200, 300);
    write_exit(w, 1100);
    write_enter(w, 1150, F);
    write_exit(w, 1150);
    return w;
}

static void check_load(struct analysis *analysis, struct writer *w)
{
    const char *path = test_path("session.dwell");
    writer_save(w, path);
    writer_free(w);
    load_whole(analysis, path, 1);
}

/* The only remark about CPU time, or NULL. */
static const char *check_remark(const struct analysis *analysis)
{
    const char *found = NULL;
    for (size_t i = 0; i < analysis->summary.remark_count; i++)
        if (strstr(analysis->summary.remarks[i], "by the kernel's count") ||
            strncmp(analysis->summary.remarks[i], "killed: ", strlen("killed: ")) == 0)
            found = analysis->summary.remarks[i];
    return found;
}

#define SWITCHES(number)                                                                                               \
    ": the rest (REST in dwell info) is code outside of recorded functions, and the kernel's work for " number         \
    " of threads, mostly 5 to 20 us each"
#define TOO_LONG " (recorded times are too long)"

static void check_has_remark(struct writer *w, const char *wanted)
{
    struct analysis analysis;
    check_load(&analysis, w);
    const char *remark = check_remark(&analysis);
    cr_assert(eq(str, (char *)(remark ? remark : "none"), (char *)wanted));
    analysis_drop(&analysis);
}

Test(unit_cpu_check, figures)
{
    struct analysis analysis;
    check_load(&analysis, check_session(SOURCE_PERF, 800));
    struct cpu_check *checks = cpu_checks(&analysis);
    cr_assert(checks[0].known);
    cr_assert(eq(u64, checks[0].kernel, 780 * MS));
    cr_assert(eq(u64, checks[0].usage, 780 * MS));
    cr_assert(eq(u64, checks[0].functions, 700 * MS));
    cr_assert(eq(u64, checks[0].outside, 0));
    cr_assert(eq(u64, checks[0].rest, 80 * MS));
    cr_assert(eq(u64, checks[0].runtime, 20 * MS));
    free(checks);
    analysis_drop(&analysis);
}

/* The kernel's figure is that of the functions, of what is known outside of them, and of the rest. */
static void check_parts(uint64_t kernel, uint64_t outside, uint64_t rest)
{
    struct analysis analysis;
    struct writer *w = check_session(SOURCE_PERF, kernel);
    write_probes(w, 1, 0, 19 * DWELL_PROBE_FRACTION, 0);
    check_load(&analysis, w);
    struct cpu_check *checks = cpu_checks(&analysis);
    cr_assert(eq(u64, checks[0].outside, outside * MS));
    cr_assert(eq(u64, checks[0].rest, rest * MS));
    free(checks);
    analysis_drop(&analysis);
}

Test(unit_cpu_check, parts_of_the_difference)
{
    check_parts(20 + 700 + 38 + 5, 38, 5);
    check_parts(20 + 700 + 38, 38, 0);
    check_parts(20 + 700 + 30, 30, 0);
    check_parts(20 + 700 - 9, 0, 0);
}

Test(unit_cpu_check, differences_of_less_than_five_percent)
{
    check_has_remark(check_session(SOURCE_PERF, 720), "none");
    check_has_remark(check_session(SOURCE_PERF, 720 + 36), "none");
    check_has_remark(check_session(SOURCE_PERF, 720 - 33), "none");
    check_has_remark(check_session(SOURCE_PERF, 720 + 38),
                     "process 100: 700.000 ms of CPU recorded, 738.000 ms by the kernel's count");
    check_has_remark(check_session(SOURCE_PERF, 720 - 35),
                     "process 100: 700.000 ms of CPU recorded, 665.000 ms by the kernel's count" TOO_LONG);
}

static void check_has_code(struct writer *w, const char *code, bool is_caveat)
{
    struct analysis analysis;
    check_load(&analysis, w);
    cr_assert(eq(sz, analysis.summary.remark_count, 1));
    cr_expect(eq(str, (char *)summary_code(&analysis.summary, 0), (char *)code));
    cr_expect(eq(int, summary_is_caveat(&analysis.summary, 0), is_caveat));
    cr_expect(eq(sz, summary_count_special(&analysis.summary), is_caveat ? 0 : 1));
    analysis_drop(&analysis);
}

static struct writer *check_switching(uint64_t kernel, uint32_t switches)
{
    struct writer *w = check_session(SOURCE_PERF, kernel);
    write_thread_switches(w, 1, 1, switches - 1, 1, 0);
    return w;
}

/* Each switch has some time that the kernel counts, and that lies outside of what is recorded: up to 20 us explain the
 * difference of 38 ms, which is then no remark for people. */
Test(unit_cpu_check, switches_explain_the_rest)
{
    check_has_remark(check_switching(720 + 38, 1901), "process 100: 700.000 ms of CPU recorded, 738.000 ms by the "
                                                      "kernel's count" SWITCHES("1901 switches"));
    check_has_code(check_switching(720 + 38, 1901), "cpu-time-of-switches", true);
    check_has_remark(check_switching(720 + 38, 1900),
                     "process 100: 700.000 ms of CPU recorded, 738.000 ms by the kernel's count");
    check_has_code(check_switching(720 + 38, 1900), "cpu-time-differs", false);
    check_has_remark(check_switching(720 - 35, 3234),
                     "process 100: 700.000 ms of CPU recorded, 665.000 ms by the kernel's count" TOO_LONG);
    check_has_code(check_switching(720 - 35, 3234), "cpu-time-differs", false);
}

/* What the host has taken explains that the recording has more, and not that the kernel has. */
Test(unit_cpu_check, stolen_time)
{
    static const uint32_t stolen = 30 * MS;
    const size_t at = sizeof(struct dwell_file_header) + offsetof(struct dwell_file_more, stolen_time);
    struct writer *w = check_session(SOURCE_PERF, 720 - 60);
    write_header(w, at, stolen, 8);
    check_has_remark(w, "none");
    w = check_session(SOURCE_PERF, 720 - 70);
    write_header(w, at, stolen, 8);
    check_has_remark(w, "process 100: 700.000 ms of CPU recorded, 630.000 ms by the kernel's count" TOO_LONG);
    w = check_session(SOURCE_PERF, 720 + 38);
    write_header(w, at, stolen, 8);
    check_has_remark(w, "process 100: 700.000 ms of CPU recorded, 738.000 ms by the kernel's count");
}

/* Each of the two outermost calls has cost 19 ms in its caller. */
Test(unit_cpu_check, probes_outside_of_functions)
{
    struct writer *w = check_session(SOURCE_PERF, 720 + 38);
    write_probes(w, 1, 0, 19 * DWELL_PROBE_FRACTION, 0);
    check_has_remark(w, "none");
    w = check_session(SOURCE_PERF, 720 + 80);
    write_probes(w, 1, 0, 19 * DWELL_PROBE_FRACTION, 0);
    check_has_remark(w, "process 100: 700.000 ms of CPU recorded, 780.000 ms by the kernel's count");
    w = check_session(SOURCE_PERF, 720 - 35);
    write_probes(w, 1, 0, 19 * DWELL_PROBE_FRACTION, 0);
    check_has_remark(w, "process 100: 700.000 ms of CPU recorded, 665.000 ms by the kernel's count" TOO_LONG);
}

static void check_has_word(struct writer *w, const char *wanted)
{
    struct analysis analysis;
    check_load(&analysis, w);
    struct cpu_check *checks = cpu_checks(&analysis);
    cr_expect(eq(str, (char *)cpu_check_word(&analysis, checks, 0), (char *)wanted));
    free(checks);
    analysis_drop(&analysis);
}

/* A ring has the last part only, so the kernel's count is larger. A smaller one is a fault in both modes. */
Test(unit_cpu_check, words)
{
    static const size_t mode_at = offsetof(struct dwell_file_header, mode);
    static const uint64_t kernel[] = { 720, 720 + 80, 720 - 60 };
    static const char *const in_trace[] = { "", "differs", "differs" }, *const in_ring[] = { "", "not all recorded",
                                                                                             "differs" };
    for (int i = 0; i < 3; i++) {
        check_has_word(check_session(SOURCE_PERF, kernel[i]), in_trace[i]);
        struct writer *w = check_session(SOURCE_PERF, kernel[i]);
        write_header(w, mode_at, DWELL_MODE_RING, sizeof((struct dwell_file_header *)0)->mode);
        check_has_word(w, in_ring[i]);
    }
}

Test(unit_cpu_check, threads_without_times)
{
    check_has_remark(check_session(SOURCE_NONE, 100), "none");
    check_has_remark(check_session(SOURCE_RSEQ, 100), "none");
}

/* Filters hide time of the program. They add none. */
Test(unit_cpu_check, gaps_of_the_recording)
{
    struct writer *w = check_session(SOURCE_PERF, 2000);
    write_header(w, FILTERS_AT, 4096, 8);
    check_has_remark(w, "none");
    w = check_session(SOURCE_PERF, 100);
    write_header(w, FILTERS_AT, 4096, 8);
    check_has_remark(w, "process 100: 700.000 ms of CPU recorded, 80.000 ms by the kernel's count" TOO_LONG);
}

/* The recorder knows the process by its PID. What a thread did before the kill is unknown. */
Test(unit_cpu_check, processes_that_were_killed)
{
    static const struct {
        uint64_t kernel;
        const char *remark;
    } cases[] = {
        { 702, "none" },
        { 100, "killed: 602.000 ms of the CPU time were waits, perhaps, after the threads' last events" },
        { 2000, "process 100: 700.000 ms of CPU recorded, 1.998 s by the kernel's count" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct writer *w = writer_new();
        write_header(w, RATE_AT, 1000, 8);
        write_process(w, 1, 100, "/bin/prog");
        write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
        check_write_cpu(w, 1, 1, 90, 7 * MS, 2 * MS);
        check_write_cpu(w, 0, 0, 1200, (7 + cases[i].kernel) * MS, 0);
        write_process_end_by(w, 0, 0, 100, DWELL_END_SIGNAL, 9, 1200);
        begin_events(w, 1, 1, 0, 100, NULL, 0);
        write_enter(w, 100, F);
        write_off_cpu(w, false, 200, 300);
        write_exit(w, 1100);
        write_enter(w, 1150, F);
        write_exit(w, 1150);
        check_has_remark(w, cases[i].remark);
    }
}

/* Without a record of its start or its end, nothing is known. */
Test(unit_cpu_check, one_record_alone)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    check_write_cpu(w, 1, 1, 90, 7 * MS, 2 * MS);
    begin_events(w, 1, 1, 0, 100, NULL, 0);
    write_enter(w, 100, F);
    write_exit(w, 200);
    struct analysis analysis;
    check_load(&analysis, w);
    struct cpu_check *checks = cpu_checks(&analysis);
    cr_assert(not(checks[0].known));
    free(checks);
    analysis_drop(&analysis);
}
