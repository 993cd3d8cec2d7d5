/*
 * A small session with every kind of record, damaged in every place. The result is a one-line error or a session that
 * can be read to its end. Complements test_garbage.c, which damages many bytes at once.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "report/table_formats.h"
#include "support/example.h"
#include "support/load.h"
#include "support/rows.h"
#include "support/scenario.h"
#include "support/swallow.h"
#include "tables/views.h"

enum { UNIT = 4096, NOBODY = 65534 };

static int fd;
static char path[64];
static uint8_t *whole;
static size_t length;
static size_t events; /* where the events chunk begins */

static void hostile_put_session(void)
{
    cr_assert(eq(int, ftruncate(fd, (off_t)length), 0));
    cr_assert(eq(sz, (size_t)pwrite(fd, whole, length, 0), length));
}

static void hostile_begin(void)
{
    cr_assert(freopen("/dev/null", "w", stderr) != NULL); /* each session that opens lacks the same files */
    struct writer *w = example_small();
    writer_save(w, test_path("small"));
    length = w->file.length;
    whole = malloc(length);
    memcpy(whole, w->file.at, length);
    writer_free(w);
    fd = open(test_path("small"), O_RDWR);
    strcpy(path, test_path("small"));
    for (size_t at = UNIT; at < length; at += UNIT)
        if (memcmp(whole + at, "DWCK\x01", 5) == 0)
            events = at;
    cr_assert(ne(sz, events, 0));
}

static void hostile_end(void)
{
    free(whole);
    close(fd);
}

/* Under AddressSanitizer a reading takes ten times as long. The other builds try every byte, length and word. */
#ifdef __SANITIZE_ADDRESS__
enum { STRIDE = 5 };
#else
enum { STRIDE = 1 };
#endif

TestSuite(unit_hostile, .init = hostile_begin, .fini = hostile_end, .timeout = 900);

/* Returns false if the file could not be opened and the error was one line. */
static bool hostile_try(void)
{
    const char *error = NULL;
    if (swallow_session(path, &error))
        return true;
    cr_assert(error != NULL && error[0] != '\0' && strchr(error, '\n') == NULL);
    return false;
}

static void hostile_put(size_t at, uint64_t value, size_t size)
{
    cr_assert(eq(sz, (size_t)pwrite(fd, &value, size, (off_t)at), size));
}

/* ---- every byte, every length ---- */

Test(unit_hostile, every_byte_changed)
{
    for (size_t at = 0; at < length; at += STRIDE) {
        const uint8_t values[] = { (uint8_t)~whole[at], (uint8_t)(whole[at] ^ 1u << at % 8) };
        for (int i = 0; i < 2; i++) {
            hostile_put(at, values[i], 1);
            const bool opened = hostile_try();
            cr_assert(opened || at < UNIT, "byte %zu", at);
        }
        hostile_put(at, whole[at], 1);
    }
}

Test(unit_hostile, cut_off_at_every_length)
{
    for (size_t cut = length; cut > 0;) {
        cut -= cut < STRIDE ? cut : STRIDE;
        cr_assert(eq(int, ftruncate(fd, (off_t)cut), 0));
        cr_assert(eq(int, hostile_try(), cut >= (int)sizeof(struct dwell_file_header)), "cut to %zu bytes", cut);
    }
}

/* The data before the cut is reported unchanged. */
Test(unit_hostile, what_is_before_the_cut_is_used)
{
    const char *error;
    cr_assert(eq(int, ftruncate(fd, (off_t)events + 64 + 2 * 16 + 6), 0)); /* after the first enter */
    struct session_file *file = session_file_open(path, &error);
    struct profile *profile = collect_profile(file, 1);
    cr_assert(eq(u64, profile->counts.enters, 1));
    cr_assert(eq(u64, profile->counts.exits, 0));
    cr_assert(eq(str, file->threads[0].name, "renamed"));
    profile_free(profile);
    session_file_close(file);
}

/* ---- numbers that no writer writes ---- */

static const uint32_t extremes[] = {
    0,    1,    63,         64,         65,         4094,       4095,       4096,
    4097, 8192, 0x3ffff000, 0x40000000, 0x7fffffff, 0x80000000, 0xfffff000, 0xffffffff,
};
enum { EXTREMES = sizeof extremes / sizeof *extremes };

Test(unit_hostile, extreme_chunk_headers)
{
    for (size_t at = UNIT; at < length; at += UNIT) {
        for (int i = 0; i < EXTREMES * EXTREMES * EXTREMES; i += STRIDE) {
            hostile_put(at + 8, extremes[i % EXTREMES], 4);             /* size */
            hostile_put(at + 12, extremes[i / EXTREMES % EXTREMES], 4); /* used */
            hostile_put(at + 28, extremes[i / EXTREMES / EXTREMES], 4); /* depth */
            cr_assert(hostile_try());
        }
        hostile_put_session();
    }
}

Test(unit_hostile, extreme_file_headers)
{
    static const size_t offsets[] = { 8, 12, 20, 40, 64, 72, 88, 112, 116, 120 };
    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++) {
        for (int value = 0; value < EXTREMES; value++) {
            hostile_put(offsets[i], extremes[value], 4);
            hostile_try();
            if (offsets[i] >= 40) {
                hostile_put(offsets[i], (uint64_t)extremes[value] << 32 | extremes[EXTREMES - 1 - value], 8);
                hostile_try();
            }
            hostile_put_session();
        }
    }
}

Test(unit_hostile, extreme_records)
{
    for (size_t at = UNIT; at < length; at += UNIT) {
        size_t record = at + 64, size;
        for (; at != events && whole[record]; record += size) {
            memcpy(&size, whole + record, sizeof size);
            size >>= 32;
            for (int i = 0; i < EXTREMES; i++) {
                hostile_put(record + 4, extremes[i], 4);
                cr_assert(hostile_try());
            }
            hostile_put(record + 4, size, 4);
            for (size_t part = 8; part + 4 <= size; part += 2) { /* numbers, lengths of strings, strings */
                hostile_put(record + part, 0xffffffff, 4);
                cr_assert(hostile_try());
                hostile_put_session();
            }
        }
    }
}

/* Any word anywhere. Extensions of every type and length occur, even if the chunk ends before they do. */
Test(unit_hostile, any_word_at_the_end_of_a_chunk)
{
    uint32_t used;
    memcpy(&used, whole + events + 12, sizeof used);
    for (uint32_t word = 0; word < 65536; word += word < 16384 ? STRIDE : 509) {
        hostile_put(events + used - 2, word, 2);
        cr_assert(hostile_try());
    }
    hostile_put(events + 12, 0, 4);
    for (uint32_t word = 0; word < 16384; word += 3) {
        hostile_put(events + UNIT - 2, word, 2);
        cr_assert(hostile_try());
    }
}

Test(unit_hostile, odd_ends)
{
    for (uint32_t used = 64; used < 400; used++) {
        hostile_put(events + 12, used, 4);
        cr_assert(hostile_try());
    }
}

/* ---- files that cannot be opened ---- */

/* Root may read everything, so the test uses another user. */
Test(unit_hostile, no_permission)
{
    cr_assert(eq(int, chmod(path, 0), 0));
    cr_assert(eq(int, chmod(test_folder(), 0755), 0));
    pid_t pid = fork();
    cr_assert(ge(int, pid, 0));
    if (pid == 0) {
        const char *error = NULL;
        if (getuid() == 0 && (setgid(NOBODY) < 0 || setuid(NOBODY) < 0))
            _exit(2);
        _exit(session_file_open(path, &error) == NULL && strcmp(error, "Permission denied") == 0 ? 0 : 1);
    }
    int status;
    cr_assert(eq(int, waitpid(pid, &status, 0), pid));
    cr_assert(eq(int, status, 0));
}

/* A large hole is made in an instant. It must not take the reader hours. */
Test(unit_hostile, a_file_that_is_mostly_a_hole, .timeout = 900)
{
    const off_t huge = (off_t)256 << 30;
    hostile_put(88, (uint64_t)huge, 8);
    cr_assert(eq(int, ftruncate(fd, huge), 0));
    cr_assert(hostile_try());
}

/* A program may load one of its two plugins for each of its jobs. */
Test(unit_hostile, libraries_that_came_and_went_ten_thousand_times, .timeout = 900)
{
    enum { TIMES = 10000 };
    struct writer *w = writer_new();
    for (uint32_t i = 0; i < TIMES; i++) {
        write_module(w, 1, i + 1, 0, 0x5000, 0x6000, i * 100, i % 2 ? "/lib/one.so" : "/lib/two.so");
        write_module_unload(w, 1, i + 1, i * 100 + 50);
    }
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    for (uint64_t i = 0; i < TIMES; i++) {
        write_enter(w, i * 100 + 10, 0x5000);
        write_exit(w, i * 100 + 12);
    }
    struct outcome o = outcome_of(w, 1);
    cr_assert(eq(sz, o.profile->module_count, 2));
    cr_assert(eq(u64, o.rollup->session.calls, TIMES));
    ASSERT_TIMES(function_times(&o, 0x5000), TIMES, TIMES, TIMES, TIMES, TIMES / 2); /* of the first one */
    outcome_drop(&o);
}

/* ---- all the way to the report ---- */

static void hostile_print_everything(FILE *out)
{
    static const struct sorting sorting = { .key = "elapsed_exclusive", .calls = true };
    table_printer *const printers[] = { table_print_text, table_print_csv, table_print_json };
    struct analysis analysis;
    load_whole(&analysis, path, 2);
    struct table tables[] = {
        sorted_rows(&analysis, BY_FUNCTION, &sorting),
        sorted_rows(&analysis, BY_MODULE, &sorting),
        sorted_rows(&analysis, BY_THREAD, &sorting),
        sorted_rows(&analysis, BY_PROCESS, &sorting),
        view_tree(&analysis, &(struct tree_options){ .min.percent = 1, .depth = 40, .by_thread = true }),
        view_tree(&analysis, &(struct tree_options){ .min.percent = 0, .depth = 40, .by_thread = false }),
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        for (int p = 0; p < 3; p++)
            printers[p](&tables[i], out);
        table_drop(&tables[i]);
    }
    if (analysis.profile->function_count) {
        struct table t = view_callers(&analysis, 0, false);
        table_print_text(&t, out);
        table_drop(&t);
    }
    analysis_drop(&analysis);
}

Test(unit_hostile, reports_of_damaged_sessions)
{
    FILE *out = fopen("/dev/null", "w");
    uint64_t state = 11;
    cr_assert(freopen("/dev/null", "w", stderr) !=
              NULL); /* discards a message for each of thousands of missing modules */
    for (int round = 0; round < 1500; round++) {
        for (int i = 0; i <= round % 6; i++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            const size_t unit = 1 + (state >> 33) % (length / UNIT - 1);
            hostile_put(unit * UNIT + (state >> 20) % 512, state >> 56, 1);
        }
        hostile_print_everything(out);
        hostile_put_session();
    }
    fclose(out);
}
