/*
 * Small files must not cost minutes or gigabytes. For each kind of hostile session, dwell reads one of n parts and one
 * of 4 n parts. The larger one may take at most MAX_RATIO times the processor time and memory of the smaller one. Work
 * that grows with the square takes 16 times as much. The time of day is not measured, since the machine can be busy.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/features.h"
#include "support/measured.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_hostile, .timeout = 600);

enum {
    MAX_RATIO = 8,
    RUNS = 3,               /* the best of them counts */
    FLOOR_US = 100000,      /* less is within the noise of starting a program */
    FLOOR_BYTES = 48 << 20, /* the same of memory */
    MAX_SECONDS = 100,
};

struct hostile_cost {
    long us, bytes; /* of processor and memory */
};

/* Runs `dwell COMMAND FILE` without its output. */
static struct hostile_cost hostile_run(const char *command, const char *file)
{
    char line[200];
    snprintf(line, sizeof line, "%s %s >/dev/null 2>&1", command, file);
    const struct rusage use = measured_run(line, RLIMIT_CPU, MAX_SECONDS);
    return (struct hostile_cost){
        (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * 1000000 + use.ru_utime.tv_usec + use.ru_stime.tv_usec,
        use.ru_maxrss * 1024,
    };
}

static long hostile_least(long a, long b)
{
    return a < b ? a : b;
}

static long hostile_most(long a, long b)
{
    return a > b ? a : b;
}

static struct hostile_cost hostile_measure(const char *command, const char *file)
{
    struct hostile_cost best = hostile_run(command, file);
    for (int i = 1; i < RUNS; i++) {
        const struct hostile_cost cost = hostile_run(command, file);
        best.us = hostile_least(best.us, cost.us);
        best.bytes = hostile_least(best.bytes, cost.bytes);
    }
    return best;
}

/* Compares the files "small" and "large". */
static void hostile_compare(const char *command)
{
    const struct hostile_cost small = hostile_measure(command, "small"), large = hostile_measure(command, "large");
    cr_expect(le(long, large.us, MAX_RATIO *hostile_most(small.us, FLOOR_US)), "dwell %s: %ld and %ld us", command,
              small.us, large.us);
    cr_expect(le(long, large.bytes, MAX_RATIO *hostile_most(small.bytes, FLOOR_BYTES)), "dwell %s: %ld and %ld bytes",
              command, small.bytes, large.bytes);
}

typedef void hostile_maker(struct writer *w, uint32_t parts);

/* Writes the two files in a process of its own, whose memory then does not count. */
static void hostile_write(hostile_maker *make, uint32_t parts)
{
    test_folder();
    const pid_t pid = fork();
    cr_assert(ge(int, pid, 0));
    if (pid == 0) {
        for (int large = 0; large < 2; large++) {
            struct writer *w = writer_new();
            write_process(w, 1, 100, "/bin/prog");
            make(w, large ? 4 * parts : parts);
            writer_save(w, test_path(large ? "large" : "small"));
        }
        _exit(0);
    }
    int status;
    cr_assert(eq(int, waitpid(pid, &status, 0), pid));
    cr_assert(eq(int, status, 0));
}

/* ---- lists in an unusual order ---- */

static void hostile_make_threads(struct writer *w, uint32_t parts)
{
    for (uint32_t i = parts; i > 0; i--)
        write_thread(w, 1, i, i, SOURCE_PERF, "thread");
    for (uint32_t i = parts; i > 0; i--)
        write_thread_end(w, 1, i, false, i);
}

Test(e2e_hostile, threads_in_descending_order)
{
    hostile_write(hostile_make_threads, 20000);
    hostile_compare("report");
    hostile_compare("info");
}

static void hostile_make_trees(struct writer *w, uint32_t parts)
{
    for (uint32_t i = 1; i <= parts; i++) {
        write_thread(w, 1, i, i, SOURCE_PERF, "thread");
        begin_events(w, 1, i, 0, 0, NULL, 0);
        write_enter(w, 10, 0x1000);
        write_exit(w, 20);
        end_events(w, true);
    }
}

/* Of 24 MB, the larger one. */
Test(e2e_hostile, sums_of_many_threads)
{
    hostile_write(hostile_make_trees, 1500);
    hostile_compare("profile -o sums");
}

/* Each chunk takes a unit of the file. */
static void hostile_make_processes(struct writer *w, uint32_t parts)
{
    for (uint32_t i = parts; i > 0; i--)
        write_process(w, i, i, "/bin/prog");
    for (uint32_t i = parts; i > 0; i--)
        write_process_end(w, 0, i, END_EXIT, 0, i);
}

Test(e2e_hostile, processes_and_ends_in_descending_order)
{
    need_features("perflog");
    hostile_write(hostile_make_processes, 4000);
    hostile_compare("info");
    hostile_compare("export perfetto -o /dev/null");
    hostile_compare("export perflog -o /dev/null");
}

static void hostile_make_calls(struct writer *w, uint32_t parts, uint64_t distance)
{
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint32_t i = 0; i < parts; i++) {
        write_enter(w, 4 * i + 1, 0x1000 + i * distance);
        write_exit(w, 4 * i + 2);
    }
    end_events(w, true);
}

static void hostile_make_unloads(struct writer *w, uint32_t parts)
{
    for (uint32_t i = 0; i < parts; i++)
        write_module(w, 1, i + 1, 0, 0x1000, 0x2000, i, "/bin/prog");
    for (uint32_t i = parts; i > 0; i--)
        write_module_unload(w, 1, i, 100000000);
    hostile_make_calls(w, parts, 0);
}

Test(e2e_hostile, unloads_in_descending_order)
{
    hostile_write(hostile_make_unloads, 20000);
    hostile_compare("report");
}

/* ---- many of a kind ---- */

static void hostile_make_modules(struct writer *w, uint32_t parts)
{
    char path[32];
    for (uint32_t i = 0; i < parts; i++) {
        snprintf(path, sizeof path, "/none/%u", i);
        write_module(w, 1, i + 1, 0, 0x1000 * (uint64_t)(i + 1), 0x1000 * (uint64_t)(i + 2), 0, path);
    }
    hostile_make_calls(w, parts, 0x1000);
}

/* They have the same begin, so that each covers the functions of those before. */
static void hostile_make_nested_modules(struct writer *w, uint32_t parts)
{
    for (uint32_t i = 0; i < parts; i++)
        write_module(w, 1, i + 1, 0, 0x1000, 0x2000 + 16 * (uint64_t)i, i, i % 2 ? "/none/a" : "/none/b");
    hostile_make_calls(w, parts, 16);
}

Test(e2e_hostile, many_modules)
{
    hostile_write(hostile_make_modules, 6000);
    hostile_compare("report");
    hostile_compare("export firefox");
    hostile_write(hostile_make_nested_modules, 10000);
    hostile_compare("report");
}

/* The symbols are of the last module and the last files. */
static void hostile_make_symbols(struct writer *w, uint32_t parts)
{
    char name[32];
    write_module(w, 1, 1, 0, 0x1000, 0x10000000, 0, "/none/prog");
    hostile_make_calls(w, parts, 16);
    for (uint32_t i = 0; i < parts; i++)
        write_symbol_module(w, i, "/none/prog");
    for (uint32_t i = 0; i < parts; i++) {
        snprintf(name, sizeof name, "/src/%u.c", i);
        write_symbol_file(w, i + 1, name);
    }
    for (uint32_t i = 0; i < parts; i++) {
        snprintf(name, sizeof name, "f%u", i);
        write_symbol(w, parts - 1, parts - i, 1, 0x1000 + 16 * (uint64_t)i, name);
    }
}

Test(e2e_hostile, many_modules_and_files_of_symbols)
{
    hostile_write(hostile_make_symbols, 6000);
    hostile_compare("report");
}

/* ---- keys of one place in a hash table ---- */

/* The inverse of a factor modulo 2^64, by Newton's method. */
static uint64_t hostile_inverse(uint64_t factor)
{
    uint64_t inverse = factor;
    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    return inverse;
}

/* A hash that multiplies by 2^64 divided by the golden ratio, without seeds, gives all these one place. */
static void hostile_make_collisions(struct writer *w, uint32_t parts)
{
    const uint64_t inverse = hostile_inverse(0x9e3779b97f4a7c15u);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint32_t i = 0; i < parts; i++) {
        const uint64_t product = (uint64_t)(i >> 15) << 52 | (i & 0x7fff);
        write_enter(w, 4 * i + 1, (product * inverse) ^ 0x100000001);
        write_exit(w, 4 * i + 2);
    }
    end_events(w, true);
}

Test(e2e_hostile, keys_that_collide)
{
    hostile_write(hostile_make_collisions, 15000);
    hostile_compare("report");
}

/* ---- deep stacks ---- */

static void hostile_make_deep_stack(struct writer *w, uint32_t parts)
{
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint32_t i = 0; i < parts; i++)
        write_enter(w, 2 * i + 1, 0x1000 + 16 * (i % 7));
    for (uint32_t i = 0; i < parts; i++)
        write_exit(w, 2 * (parts + i));
    end_events(w, true);
}

Test(e2e_hostile, deep_stacks)
{
    static const char *const commands[] = {
        "tree --min 0 --depth 100000000",
        "tree --min 0 --depth 100000000 --format csv",
        "tree --min 0 --fold-recursion",
        "export collapsed",
        "export speedscope",
        "export pprof",
        "export callgrind",
        "export sqlite -o database",
        "export perfetto",
        "view -o page.html",
        "replay",
        "diff small",
    };
    hostile_write(hostile_make_deep_stack, 8000);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        hostile_compare(commands[i]);
}

/* The frames in the middle are left out, and the sums stay the same. */
Test(e2e_hostile, stacks_beyond_the_limit_of_exports)
{
    hostile_write(hostile_make_deep_stack, 10000);
    char *out = run_well("$DWELL export collapsed large 2>/dev/null | awk '"
                         "/;\\[frames left out\\];/ { cut++ } length($0) > most { most = length($0) } { sum += $NF }"
                         "END { print (cut > 30000), (most < 10000), NR, sum }'");
    cr_assert(eq(str, out, "1 1 40000 159997\n"));
    free(out);
    out = run_well("$DWELL export speedscope large 2>/dev/null | grep -c 'frames left out'; "
                   "$DWELL export pprof large 2>/dev/null | zcat | grep -c 'frames left out'");
    cr_assert(eq(str, out, "1\n1\n"));
    free(out);
    hostile_write(hostile_make_deep_stack, 1000);
    out = run_well("for format in collapsed speedscope; do"
                   "  $DWELL export $format small 2>/dev/null | grep -c 'frames left out'; done; :");
    cr_assert(eq(str, out, "0\n0\n"));
    free(out);
}

static void hostile_make_deep_sites(struct writer *w, uint32_t parts)
{
    write_header(w, 176, 1, 4); /* call sites are recorded */
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint32_t i = 0; i < parts; i++) {
        const uint16_t site[] = { 0x1001, (uint16_t)(i % 60000 + 1) };
        write_words(w, site, 2);
        write_enter(w, 2 * i + 1, 0x1000 + 16 * (i % 7));
    }
    for (uint32_t i = 0; i < parts; i++)
        write_exit(w, 2 * (parts + i));
    end_events(w, true);
}

Test(e2e_hostile, deep_stacks_with_call_sites)
{
    hostile_write(hostile_make_deep_sites, 15000);
    hostile_compare("report --by line");
    hostile_compare("tree --by line");
}

/* ---- names ---- */

/* Each template has twice the one before as its arguments. */
static void hostile_make_names(struct writer *w, uint32_t parts)
{
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    char name[1024] = "_Z1f1aIiiE", last[8] = "0";
    for (unsigned i = 1; strlen(name) < parts; i++) {
        sprintf(name + strlen(name), "S_IS%s_S%s_E", last, last);
        if (i < 36)
            snprintf(last, sizeof last, "%c", digits[i]);
        else
            snprintf(last, sizeof last, "%c%c", digits[i / 36], digits[i % 36]);
    }
    write_module(w, 1, 1, 0, 0x1000, 0x2000, 0, "/none/prog");
    hostile_make_calls(w, 1, 0);
    write_symbol_module(w, 0, "/none/prog");
    write_symbol(w, 0, 0, 0, 0x1000, name);
}

Test(e2e_hostile, names_of_endless_text)
{
    hostile_write(hostile_make_names, 240);
    hostile_compare("report");
    char *out = run_well("$DWELL report --format csv large 2>/dev/null | grep -c '^_Z1f1aIiiE'");
    cr_assert(eq(str, out, "1\n"));
    free(out);
}

/* ---- holes ---- */

/* A file with chunks of a gigabyte, of which only the first page was written, or the first and the last. */
static void hostile_write_holes(const char *path, uint16_t kind, uint32_t used, bool last_page)
{
    enum { CHUNKS = 4, HEADER = 4096 };
    const uint64_t size = 1 << 30;
    struct writer *w = writer_new();
    write_header(w, 112, 2, 4);
    writer_save(w, path);
    writer_free(w);
    const int fd = open(path, O_RDWR);
    const uint64_t end = HEADER + CHUNKS * size;
    cr_assert(ge(int, fd, 0));
    cr_assert(eq(long, pwrite(fd, &end, 8, 88), 8));
    for (uint32_t i = 0; i < CHUNKS; i++) {
        uint32_t head[16] = { 0x4b435744, kind, (uint32_t)size, used, 1, 1, i };
        cr_assert(eq(long, pwrite(fd, head, sizeof head, (off_t)(HEADER + i * size)), sizeof head));
        cr_assert(eq(long, pwrite(fd, "", last_page, (off_t)(HEADER + (i + 1) * size - 1)), last_page));
    }
    cr_assert(eq(int, ftruncate(fd, (off_t)end), 0));
    close(fd);
}

Test(e2e_hostile, chunks_that_are_holes)
{
    static const uint16_t kinds[] = { 2, 3, 4, 7 };
    static const uint32_t used[] = { 0, 64, 1 << 30 };
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++) {
        for (size_t i = 0; i < 2 * sizeof used / sizeof *used; i++) {
            hostile_write_holes(test_path("holes"), kinds[kind], used[i / 2], i % 2);
            static const char *const commands[] = { "events", "info", "report" };
            for (size_t c = 0; c < sizeof commands / sizeof *commands; c++) {
                struct hostile_cost cost = hostile_run(commands[c], "holes");
                if (cost.us > 4 * FLOOR_US) /* a host may have taken the processor away */
                    cost = hostile_measure(commands[c], "holes");
                cr_expect(le(long, cost.bytes, FLOOR_BYTES), "kind %u, %s", kinds[kind], commands[c]);
                cr_expect(le(long, cost.us, 4 * FLOOR_US), "kind %u, %s", kinds[kind], commands[c]);
            }
        }
    }
}
