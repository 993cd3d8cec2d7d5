/*
 * Sums of a session with very many call paths: how much memory they take, and that they are the same for all splits of
 * the work. Each call path has one call, as in two functions that call each other and themselves.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/measured.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_sums_memory, .timeout = 600);

enum {
    DEPTH = 17,
    PATHS = (1 << (DEPTH + 1)) - 1,
    CALLS_A_CHUNK = 4000,
    CALLS_A_WAIT = 1000, /* the last of so many waits for a lock */
    BLOCKED = 7,
    ALSO = 176, /* the header's place of what else was recorded */
    CAUSES = 2,
    /* What dwell may have in memory. A copy of all paths has 200 bytes for each. */
    BASE = 32 << 20,                  /* libraries and workers */
    MOST_TO_ADD = PATHS * 240 + BASE, /* or to make them of mode profile */
    MOST_TO_MAKE = PATHS * 320 + BASE,
};

static const uint64_t first_function = 0x1000, second_function = 0x2000;

struct many {
    struct writer *writer;
    struct open_call open[DEPTH + 1];
    uint32_t depth, chunks;
    unsigned calls;
    uint64_t time;
};

static void many_begin_chunk(struct many *m)
{
    if (m->chunks)
        end_events(m->writer, true);
    begin_events(m->writer, 1, 1, m->chunks++, m->time, m->open, m->depth);
}

/* Durations differ, so that no two paths have the same. */
static void many_call(struct many *m, uint64_t function, unsigned below)
{
    if (m->calls++ % CALLS_A_CHUNK == 0)
        many_begin_chunk(m);
    m->time += 1 + m->calls % 61;
    write_enter(m->writer, m->time, function);
    m->open[m->depth++] = (struct open_call){ function, m->time };
    if (below) {
        many_call(m, function, below - 1);
        many_call(m, first_function + second_function - function, below - 1);
    }
    m->time += BLOCKED + m->calls % 13;
    if (m->calls % CALLS_A_WAIT == 0) {
        write_off_cpu(m->writer, false, m->time - BLOCKED, BLOCKED);
        write_object(m->writer, OBJECT_MUTEX, false, 0x5000, 0);
    }
    m->depth--;
    write_exit(m->writer, m->time);
}

static void many_write(const char *path)
{
    struct many m = { .writer = writer_new() };
    write_header(m.writer, ALSO, CAUSES, 4);
    write_process(m.writer, 1, 100, "/bin/prog");
    write_probes(m.writer, 1, 300, 500, 100);
    write_module(m.writer, 1, 1, 0, 0x1000, 0x3000, 0, "/bin/prog");
    write_thread(m.writer, 1, 1, 100, SOURCE_PERF, "main");
    many_call(&m, first_function, DEPTH);
    end_events(m.writer, true);
    write_symbol_module(m.writer, 0, "/bin/prog");
    write_symbol(m.writer, 0, 0, 0, first_function, "first");
    write_symbol(m.writer, 0, 0, 0, second_function, "second");
    writer_save(m.writer, path);
    writer_free(m.writer);
}

/* In a process of its own, whose memory does not count. */
static void many_save(const char *name)
{
    const char *path = test_path(name);
    const pid_t pid = fork();
    cr_assert(ge(int, pid, 0));
    if (pid == 0) {
        many_write(path);
        _exit(0);
    }
    int status;
    cr_assert(eq(int, waitpid(pid, &status, 0), pid));
    cr_assert(eq(int, status, 0));
}

static void run_small(const char *command, long most)
{
    const long bytes = measured_peak(command, RLIMIT_CORE, 0, most);
    cr_assert(le(long, bytes, most), "dwell %s", command);
}

static void check_calls(const char *file)
{
    char *calls =
        run_well("$DWELL report --format csv %s | tr -d '\\r' | sed 1d | cut -d, -f1,5 | grep -v main | sort", file);
    cr_assert(eq(str, calls, "first,131072\nsecond,131071\n"));
    free(calls);
}

Test(e2e_sums_memory, a_call_path_takes_few_bytes)
{
    many_save("many");
    run_small("profile -j 2 many -o whole", MOST_TO_MAKE);
    check_calls("whole");
    free(run_well("for view in report 'report --raw' waits 'waits --raw' 'tree --depth 9 --min 0'; do "
                  "cp many x && $DWELL $view --format csv x >recorded && cp whole x && $DWELL $view --format csv x "
                  ">summed && cmp recorded summed || exit 1; done; rm x"));
    run_small("profile -j 2 --shard 1/2 many -o one", MOST_TO_MAKE);
    run_small("profile -j 1 --shard 2/2 many -o two", MOST_TO_MAKE);
    run_small("merge two one -o joined", MOST_TO_ADD);
    free(run_well("cmp whole joined && $DWELL profile -j 1 many -o again && cmp whole again"));
}

/* The waits of mode profile need the whole tree, too. */
Test(e2e_sums_memory, a_call_path_of_mode_profile_takes_few_bytes)
{
    free(run_well("$DWELL record -q --mode=profile -o many $PROGRAMS/many_paths %d", DEPTH));
    run_small("profile -j 2 many -o whole", MOST_TO_ADD);
    check_calls("whole");
}
