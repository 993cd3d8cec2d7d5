/* Builds sessions in which threads wait or are preempted. */
#include "support/waiting.h"

#include <stdio.h>

static const char server[] = "/opt/server", libc[] = "/lib/libc.so.6";

enum { MAIN = 0x401000, COMPUTE = 0x401100, POLL = 0x401200, FLUSH = 0x401300, BACKGROUND = 0x401400 };
enum { EPOLL_WAIT = 0x801000, COND_WAIT = 0x801100 };
enum { MS = 1000000 };

static void waiting_write_symbols(struct writer *w)
{
    write_symbol_module(w, 0, server);
    write_symbol_module(w, 1, libc);
    write_symbol_file(w, 1, "/home/me/server/main.c");
    write_symbol(w, 0, 1, 10, 0x1000, "main");
    write_symbol(w, 0, 1, 20, 0x1100, "compute");
    write_symbol(w, 0, 1, 30, 0x1200, "poll_events");
    write_symbol(w, 0, 1, 40, 0x1300, "flush");
    write_symbol(w, 0, 1, 50, 0x1400, "background");
    write_symbol(w, 1, 0, 0, 0x1000, "epoll_wait");
    write_symbol(w, 1, 0, 0, 0x1100, "pthread_cond_wait");
}

static struct writer *waiting_new(void)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, server);
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, server);
    write_module(w, 1, 2, 0x800000, 0x801000, 0x802000, 0, libc);
    return w;
}

static void waiting_end(struct writer *w, uint64_t time)
{
    write_process_end(w, 1, 100, END_EXIT, 0, time);
    waiting_write_symbols(w);
}

struct writer *waiting_preempted(void)
{
    struct writer *w = waiting_new();
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    uint64_t t = 1 * MS;
    for (int i = 0; i < 10; i++, t += 26 * MS) {
        write_enter(w, t, COMPUTE);
        write_off_cpu(w, true, t + 10 * MS, 6 * MS);
        write_exit(w, t + 26 * MS);
    }
    write_exit(w, t);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, t);
    waiting_end(w, t);
    return w;
}

/* 10 rounds of 10 ms: 4 ms of work, and 6 ms in epoll_wait. Then flush is blocked for 5 of its 6 ms. */
static void waiting_write_main(struct writer *w)
{
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    for (uint64_t t = 0; t < 100 * MS; t += 10 * MS) {
        write_enter(w, t, COMPUTE);
        write_exit(w, t + 2 * MS);
        write_enter(w, t + 2 * MS, POLL);
        write_enter(w, t + 3 * MS, EPOLL_WAIT);
        write_off_cpu(w, false, t + 3 * MS, 6 * MS);
        write_exit(w, t + 9 * MS);
        write_exit(w, t + 10 * MS);
    }
    write_enter(w, 100 * MS, FLUSH);
    write_off_cpu(w, false, 101 * MS, 5 * MS);
    write_exit(w, 106 * MS);
    write_exit(w, 106 * MS);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 106 * MS);
}

static void waiting_write_background(struct writer *w, uint32_t thread)
{
    begin_events(w, 1, thread, 0, 0, NULL, 0);
    write_enter(w, 0, BACKGROUND);
    write_enter(w, 0, COND_WAIT);
    write_off_cpu(w, false, 0, 106 * MS);
    write_exit(w, 106 * MS);
    write_exit(w, 106 * MS);
    end_events(w, true);
    write_thread_end(w, 1, thread, false, 106 * MS);
}

struct writer *waiting_server(void)
{
    static const char *const names[] = { "main", "bio_close", "bio_aof", "bio_free" };
    struct writer *w = waiting_new();
    for (uint32_t i = 0; i < 4; i++)
        write_thread(w, 1, i + 1, 100 + i, SOURCE_PERF, names[i]);
    waiting_write_main(w);
    for (uint32_t i = 1; i < 4; i++)
        waiting_write_background(w, i + 1);
    waiting_end(w, 106 * MS);
    return w;
}

enum { WORKERS = 25, WAITERS = 12, FIRST_WORKER = 0x401500, FIRST_WAITER = 0x401800 };

static void waiting_write_many_symbols(struct writer *w)
{
    for (unsigned i = 0; i < WORKERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "compute_%u", i + 1);
        write_symbol(w, 0, 1, 100 + i, FIRST_WORKER - 0x400000 + i * 16, name);
    }
    for (unsigned i = 0; i < WAITERS; i++) {
        char name[32];
        snprintf(name, sizeof name, "wait_%u", i + 1);
        write_symbol(w, 0, 1, 200 + i, FIRST_WAITER - 0x400000 + i * 16, name);
    }
}

struct writer *waiting_many(void)
{
    struct writer *w = waiting_new();
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    uint64_t t = 0;
    for (unsigned i = 0; i < WORKERS; t += ++i * MS) {
        write_enter(w, t, FIRST_WORKER + i * 16);
        write_exit(w, t + (i + 1) * MS);
    }
    for (unsigned i = 0; i < WAITERS; t += ++i * MS) {
        write_enter(w, t, FIRST_WAITER + i * 16);
        write_enter(w, t, COND_WAIT);
        write_off_cpu(w, false, t, (i + 1) * MS);
        write_exit(w, t + (i + 1) * MS);
        write_exit(w, t + (i + 1) * MS);
    }
    write_exit(w, t);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, t);
    waiting_end(w, t);
    waiting_write_many_symbols(w);
    return w;
}
