/*
 * Sessions of more than a gigabyte: reports are exact to the tick, and need no more memory than for small ones. A main
 * thread has consecutive chunks; 256 other threads take turns beside it. All make the same calls again and again.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/measured.h"
#include "support/repeat.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_scale, .timeout = 900);

enum {
    MAIN_CHUNKS = 32,
    MAIN_ROUNDS = 16000, /* in each of them */
    OTHERS = 256,
    ROUNDS = 2000, /* of each other thread */
    ALL_ROUNDS = MAIN_CHUNKS * MAIN_ROUNDS + OTHERS * ROUNDS,
    /* Ticks; one is a nanosecond. */
    ROUND = 20, /* from one to the next */
    OUTER = 10,
    INNER = 2,
    SMALL = 6,  /* times: 100 MB */
    LARGE = 72, /* 1.2 GB */
    MAX_MEMORY = 200 << 20,
    MAX_MORE = 12 << 20, /* for the index, and chance */
};

static const uint64_t outer = 0x1000, inner = 0x2000;

/* Calls of `outer`, each of which calls `inner`. */
static void write_rounds(struct writer *w, uint64_t start, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const uint64_t time = start + (uint64_t)i * ROUND;
        write_enter(w, time + 1, outer);
        write_enter(w, time + 4, inner);
        write_exit(w, time + 4 + INNER);
        write_exit(w, time + 1 + OUTER);
    }
    end_events(w, true);
}

static void write_once(const char *path)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_module(w, 1, 1, 0, 0x1000, 0x3000, 0, "/bin/prog");
    for (uint32_t thread = 1; thread <= 1 + OTHERS; thread++)
        write_thread(w, 1, thread, 99 + thread, SOURCE_PERF, thread == 1 ? "main" : "other");
    uint64_t last = 0;
    for (uint32_t i = 0; i < MAIN_CHUNKS; i++) {
        begin_events(w, 1, 1, i, last, NULL, 0);
        write_rounds(w, (uint64_t)i * MAIN_ROUNDS * ROUND, MAIN_ROUNDS);
        last = w->last;
    }
    for (uint32_t i = 0; i < OTHERS; i++) {
        const uint64_t start = (uint64_t)i * ROUNDS * ROUND;
        begin_events(w, 1, 2 + i, 0, start, NULL, 0);
        write_rounds(w, start, ROUNDS);
    }
    write_symbol_module(w, 0, "/bin/prog");
    write_symbol(w, 0, 0, 0, outer, "outer");
    write_symbol(w, 0, 0, 0, inner, "inner");
    writer_save(w, path);
    writer_free(w);
}

/* In a process of its own, because memory is measured over all children of a process. */
static void write_sessions(void)
{
    const char *folder = test_folder();
    const pid_t pid = fork();
    cr_assert(ge(int, pid, 0));
    if (pid == 0) {
        if (chdir(folder) < 0)
            _exit(1);
        write_once("once");
        _exit(repeat_session("once", "small", SMALL) || repeat_session("once", "large", LARGE));
    }
    int status;
    cr_assert(eq(int, waitpid(pid, &status, 0), pid));
    cr_assert(eq(int, status, 0));
    struct stat large;
    cr_assert(eq(int, stat(test_path("large"), &large), 0));
    cr_assert(gt(long, large.st_size, 1l << 30));
}

/* Runs `dwell COMMAND` with at most that much memory, into the file "out". Returns what measured_peak does. */
static long peak_of(const char *command, long most)
{
    char line[400];
    cr_assert(lt(int, snprintf(line, sizeof line, "%s >out", command), (int)sizeof line));
    return measured_peak(line, RLIMIT_DATA, MAX_MEMORY, most);
}

/* Runs the command on both sessions in turn. The output for the large one is in "out". */
static void run_bounded(const char *format)
{
    char small[256], large[256];
    snprintf(small, sizeof small, format, "small");
    snprintf(large, sizeof large, format, "large");
    const long most = peak_of(small, 0) + MAX_MORE, peak = peak_of(large, most);
    cr_assert(le(long, peak, (long)MAX_MEMORY), "dwell %s", large);
    cr_assert(le(long, peak, most), "dwell %s", large);
}

/* The columns of the last csv output, without titles. */
static void scale_expect_rows(const char *columns, const char *format, ...)
{
    char *expected;
    va_list arguments;
    va_start(arguments, format);
    cr_assert(ge(int, vasprintf(&expected, format, arguments), 0));
    va_end(arguments);
    char *out = run_well("tr -d '\\r' <out | sed 1d | cut -d, -f%s", columns);
    cr_assert(eq(str, out, expected));
    free(expected);
    free(out);
}

static const uint64_t all = (uint64_t)ALL_ROUNDS * LARGE;

static void check_sums_of_all(void)
{
    run_bounded("report --format csv %s");
    scale_expect_rows("1,5,6,8,14,15",
                      "outer,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",10,10\n"
                      "inner,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",2,2\n",
                      all, all * OUTER, all * (OUTER - INNER), all, all * INNER, all * INNER);
    run_bounded("report --by thread-name --jobs 3 --format csv %s");
    const uint64_t of_main = (uint64_t)LARGE * MAIN_CHUNKS * MAIN_ROUNDS, of_others = (uint64_t)LARGE * OTHERS * ROUNDS;
    scale_expect_rows("1,2,3,4", "main,1,%" PRIu64 ",%" PRIu64 "\nother,%d,%" PRIu64 ",%" PRIu64 "\n", 2 * of_main,
                      of_main * OUTER, OTHERS, 2 * of_others, of_others * OUTER);
}

Test(e2e_scale, memory_does_not_grow_with_the_session)
{
    write_sessions();
    check_sums_of_all();
    /* The second repetition only: it is 2^48 ticks after the first. */
    run_bounded("report --from 281474976710656ns --to 562949953421312ns --format csv %s");
    scale_expect_rows("1,5,8", "outer,%d,%d\ninner,%d,%d\n", ALL_ROUNDS, ALL_ROUNDS * (OUTER - INNER), ALL_ROUNDS,
                      ALL_ROUNDS * INNER);
    run_bounded("histogram --format csv %s inner");
    scale_expect_rows("1-3,6", "2,5,%" PRIu64 ",%" PRIu64 "\n", all, all * INNER);
    run_bounded("slowest --limit 3 --format csv %s outer");
    scale_expect_rows("1-3,8", "1,10,8,100\n1,10,8,101\n21,10,8,100\n");
    run_bounded("replay --from 281474976710656ns --limit 6 --format csv %s");
    scale_expect_rows("1,2,4,6-8", "281474976710657,,100,0,begin,outer\n"
                                   "281474976710657,,101,0,begin,outer\n"
                                   "281474976710660,2,100,1,call,inner\n"
                                   "281474976710660,2,101,1,call,inner\n"
                                   "281474976710667,10,100,0,end,outer\n"
                                   "281474976710667,10,101,0,end,outer\n");
}
