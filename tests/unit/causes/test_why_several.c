/* Why calls were slow, over several hand-written sessions with clocks of their own: times are nanoseconds, rows of one
 * name are one, and rows add up. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "causes/why.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/session_writer.h"

enum {
    MAIN = 0x401000,
    HANDLE = 0x401100,
    PARSE = 0x401200,
    LOCK = 0x801000,
    RATE = 64,
    ALSO = 176,
    CAUSES = 2,
    SESSIONS = 2
};

/* A session of a clock of so many GHz. */
static struct writer *several_new(uint64_t ghz)
{
    static const char *const names[] = { "main", "handle", "parse" };
    struct writer *w = writer_new();
    write_header(w, RATE, ghz * 1000000000, 8);
    write_header(w, ALSO, CAUSES, 4);
    write_process(w, 1, 100, "/bin/p");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
    write_module(w, 1, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    write_symbol_module(w, 0, "/bin/p");
    write_symbol_module(w, 1, "/lib/libc.so.6");
    for (uint64_t i = 0; i < 3; i++)
        write_symbol(w, 0, 0, 0, 0x1000 + i * 0x100, names[i]);
    write_symbol(w, 1, 0, 0, 0x1000, "pthread_mutex_lock");
    write_thread_at(w, 1, 1, 100, SOURCE_PERF, 0, "first");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    return w;
}

static void several_save(struct writer *w, const char *name, uint64_t end)
{
    write_exit(w, end);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, end);
    writer_save(w, test_path(name));
    writer_free(w);
}

/* A call of handle with a call of parse that begins 10 ticks after it and ends 10 before it does. */
static void several_write_handle(struct writer *w, uint64_t begin, uint64_t end)
{
    write_enter(w, begin, HANDLE);
    write_enter(w, begin + 10, PARSE);
    write_exit(w, end - 10);
    write_exit(w, end);
}

/* The same with a wait in parse. Another thread holds the lock, which was not recorded. */
static void several_write_wait(struct writer *w, uint64_t begin, uint64_t ticks)
{
    write_enter(w, begin, HANDLE);
    write_enter(w, begin + 10, PARSE);
    write_enter(w, begin + 100, LOCK);
    write_off_cpu(w, false, begin + 105, ticks);
    write_object(w, OBJECT_MUTEX, false, 0x5000, 101);
    write_exit(w, begin + 110 + ticks);
    write_exit(w, begin + 500 + ticks);
    write_exit(w, begin + 600 + ticks);
}

static uint32_t several_find_handle(const struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->profile->function_count; i++)
        if (strcmp(analysis->names[i].name, "handle") == 0)
            return i;
    cr_assert(false, "no handle");
    return PROFILE_NONE;
}

static void several_load(struct analysis *loaded, struct why_session *sessions, const char *const *names)
{
    for (size_t i = 0; i < SESSIONS; i++) {
        load_whole(&loaded[i], test_path(names[i]), 1);
        sessions[i] = (struct why_session){ .analysis = &loaded[i], .function = several_find_handle(&loaded[i]) };
    }
}

/* Lines are "PATH KIND SLOW/USUAL", in nanoseconds of all calls, and then that of each set: calls, the shortest and all
 * of them. */
static char *several_text(const struct why *why)
{
    static const char *const kinds[] = { "cpu", "blocked", "runnable", "fault", "file", "probe" };
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    for (size_t i = 0; i < why->line_count; i++) {
        const struct why_line *line = &why->lines[i];
        fprintf(out, "%s %s %" PRIu64 "/%" PRIu64 "%s%s\n", line->path, kinds[line->kind], line->ticks[WHY_SLOW],
                line->ticks[WHY_USUAL], line->wait ? " " : "", line->wait ? line->wait->text : "");
    }
    for (int set = 0; set < WHY_SETS; set++)
        fprintf(out, "%" PRIu64 " calls from %" PRIu64 ": %" PRIu64 "\n", why->sets[set].calls, why->sets[set].least,
                why->sets[set].ticks);
    need_stream_end(out);
    return text;
}

static void several_drop(struct why *why, struct analysis *loaded)
{
    why_drop(why);
    for (size_t i = 0; i < SESSIONS; i++)
        analysis_drop(&loaded[i]);
}

static void several_check(const struct why_choice *choice, const char *expected)
{
    static const char *const names[] = { "one", "three" };
    struct analysis loaded[SESSIONS];
    struct why_session sessions[SESSIONS];
    struct why why;
    struct error error = { NULL };
    several_load(loaded, sessions, names);
    cr_assert(why_find_several(&why, sessions, SESSIONS, choice, &error));
    char *text = several_text(&why);
    cr_assert(eq(str, text, (char *)expected));
    free(text);
    several_drop(&why, loaded);
}

/* 1 GHz: two usual calls, and one that waits for 50 ns. 3 GHz: a usual one of 101 ns, and one that waits for 800 ns. */
static void several_write_sessions(void)
{
    struct writer *w = several_new(1);
    several_write_handle(w, 100, 200);
    several_write_handle(w, 300, 420);
    several_write_wait(w, 1000, 50);
    several_save(w, "one", 3000);
    w = several_new(3);
    several_write_handle(w, 300, 603);
    several_write_wait(w, 1000, 2400);
    several_save(w, "three", 9000);
}

/* A thread waits for the same lock in both sessions. */
Test(unit_why_several, rows_in_nanoseconds)
{
    several_write_sessions();
    several_check(&(struct why_choice){ .slow = WHY_RANK, .number = 1 },
                  "handle;parse;pthread_mutex_lock blocked 800/50 mutex 0x5000\n"
                  "handle;parse;pthread_mutex_lock cpu 3/10\n"
                  "handle cpu 37/157\n"
                  "handle;parse cpu 160/754\n"
                  "1 calls from 1000: 1000\n"
                  "4 calls from 100: 971\n");
}

/* A limit is a time, whatever the clock: 300 ticks of 3 GHz are below 101 ns. */
Test(unit_why_several, limit_in_nanoseconds)
{
    several_write_sessions();
    several_check(&(struct why_choice){ .slow = WHY_ABOVE, .number = 101 },
                  "handle;parse;pthread_mutex_lock blocked 850/0 mutex 0x5000\n"
                  "handle;parse cpu 740/174\n"
                  "handle cpu 167/27\n"
                  "handle;parse;pthread_mutex_lock cpu 13/0\n"
                  "3 calls from 120: 1770\n"
                  "2 calls from 100: 201\n");
}

/* Calls of equal times in two sessions: the slowest one is that of the first session. */
Test(unit_why_several, one_call_of_equal_ones)
{
    struct writer *w = several_new(1);
    several_write_handle(w, 100, 200);
    several_write_handle(w, 300, 800);
    several_save(w, "one", 1000);
    w = several_new(3);
    several_write_handle(w, 30, 1530);
    several_save(w, "three", 3000);
    several_check(&(struct why_choice){ .slow = WHY_RANK, .number = 1 }, "handle;parse cpu 480/573\n"
                                                                         "handle cpu 20/27\n"
                                                                         "1 calls from 500: 500\n"
                                                                         "2 calls from 100: 600\n");
}

/* One session has all slow calls: that is a factor. Where they were in their sessions is none. */
Test(unit_why_several, session_as_factor)
{
    static const char *const names[] = { "usual", "slow" };
    struct analysis loaded[SESSIONS];
    struct why_session sessions[SESSIONS];
    struct why why;
    struct error error = { NULL };
    for (size_t i = 0; i < SESSIONS; i++) {
        struct writer *w = several_new(1 + i);
        for (uint64_t j = 0; j < 100; j++)
            several_write_handle(w, 1000 * (1 + i) * (1 + j),
                                 (1 + i) * (1000 * (1 + j) + (i && j % 10 == 5 ? 500 : 100) + j % 7));
        several_save(w, names[i], (1 + i) * 200000);
    }
    several_load(loaded, sessions, names);
    cr_assert(why_find_several(&why, sessions, SESSIONS, &(struct why_choice){ .percent = 5 }, &error));
    cr_assert(eq(sz, why.factors.count, 1));
    cr_assert(eq(str, (char *)why.factors.list[0].name, "session"));
    cr_assert(eq(str, why.factors.list[0].value, loaded[1].file->path));
    cr_assert(epsilon_eq(dbl, why.factors.list[0].shares[WHY_SLOW], 1, 1e-9));
    cr_assert(epsilon_eq(dbl, why.factors.list[0].shares[WHY_USUAL], 90. / 190, 1e-9));
    several_drop(&why, loaded);
}

/* Waits that differ in their thread alone are one, with what the threads have in common. */
Test(unit_why_several, threads_of_one_wait)
{
    struct why_waits waits = { .count = 0 };
    struct why_wait wait = { .thread = "zstd", .title = "POOL_thread#4", .tid = 4 };
    why_waits_join_threads(&waits, &wait, &(struct why_wait){ .thread = "zstd", .title = "POOL_thread#4", .tid = 4 });
    cr_expect(eq(str, (char *)wait.title, "POOL_thread#4"));
    cr_expect(eq(u32, wait.tid, 4));
    why_waits_join_threads(&waits, &wait, &(struct why_wait){ .thread = "zstd", .title = "POOL_thread#5", .tid = 5 });
    cr_expect(eq(str, (char *)wait.title, "POOL_thread"));
    cr_expect(eq(u32, wait.tid, 0));
    why_waits_join_threads(&waits, &wait, &(struct why_wait){ .thread = "zstd", .title = "main#1", .tid = 1 });
    cr_expect(eq(str, (char *)wait.title, "zstd"));
    why_waits_drop(&waits);
}
