/* A session that grows: which time each look has, to the tick, and that no time is taken back. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "profile/follow.h"
#include "profile/rollup.h"
#include "support/scenario.h"

TestSuite(unit_follow, .timeout = 300);

enum { MAIN = 0x1000, LEAF = 0x2000 };
enum { CLOCK = 18, START_TICKS = 40, START_MONOTONIC = 48, STATE = 112, CLOCK_IS_MONOTONIC = 3 };

static const uint64_t most = (uint64_t)1 << 40, later = UINT64_C(1000000000000);

static uint64_t follow_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* This process records itself since `start`, on one thread in main. */
static struct writer *follow_begin(uint64_t start)
{
    struct writer *w = writer_new();
    write_header(w, CLOCK, CLOCK_IS_MONOTONIC, 2);
    write_header(w, START_TICKS, start, 8);
    write_header(w, START_MONOTONIC, start, 8);
    write_process(w, 1, (uint32_t)getpid(), "/bin/p");
    write_thread(w, 1, 1, (uint32_t)getpid(), SOURCE_NONE, "t");
    begin_events(w, 1, 1, 0, start, NULL, 0);
    write_enter(w, start, MAIN);
    return w;
}

/* Saves what has been written so far, as a session that is being recorded. */
static void follow_save(struct writer *w)
{
    const uint32_t recording = 1;
    writer_save(w, test_path("growing"));
    const int fd = open(test_path("growing"), O_WRONLY);
    cr_assert(eq(long, pwrite(fd, &recording, sizeof recording, STATE), (long)sizeof recording));
    close(fd);
}

/* The exclusive time of the function. */
static uint64_t follow_time(const struct profile *p, uint64_t function)
{
    struct rollup *r = rollup_new(p);
    struct times *sums = rollup_groups(r, BY_FUNCTION);
    uint64_t time = 0;
    for (size_t i = 0; i < p->function_count; i++)
        time += p->functions[i].offset == function ? sums[i].elapsed_exclusive : 0;
    free(sums);
    rollup_free(r);
    return time;
}

static void follow_expect(const struct profile *p, uint64_t in_main, uint64_t in_leaf)
{
    cr_assert(p != NULL);
    cr_assert(eq(u64, follow_time(p, MAIN), in_main));
    cr_assert(eq(u64, follow_time(p, LEAF), in_leaf));
}

static void follow_read_all(struct follow *f)
{
    cr_assert(eq(ptr, (void *)follow_read(f, most, 1), NULL));
    cr_assert(eq(u64, f->growth->left, 0));
}

/* The leaf was open when the events were read. It ends a moment later, while the analyzer is still at work. */
Test(unit_follow, open_calls_count_up_to_the_reading)
{
    const uint64_t start = follow_now() - 1000000;
    struct writer *w = follow_begin(start);
    const char *error;
    write_enter(w, start + 100, LEAF);
    follow_save(w);
    struct follow *f = follow_open(test_path("growing"), &error);
    const uint64_t before = follow_now();
    follow_read_all(f);
    follow_read_all(f); /* what a quiet chunk holds counts at the second reading */
    const uint64_t after = follow_now(), reading = f->reading;
    nanosleep(&(struct timespec){ 0, 50000000 }, NULL);
    follow_look(f);
    cr_assert(ge(u64, reading, before));
    cr_assert(le(u64, reading, after));
    follow_expect(f->whole, 100, reading - start - 100);

    const struct open_call open[] = { { MAIN, start }, { LEAF, start + 100 } };
    begin_events(w, 1, 1, 1, start + 100, open, 2);
    write_exit(w, reading + 1000);
    write_enter(w, reading + 4000, LEAF);
    write_exit(w, reading + 5000);
    write_exit(w, reading + later); /* later than any look of this test */
    follow_save(w);
    follow_read_all(f);
    follow_read_all(f);
    follow_look(f);
    follow_expect(f->whole, 100 + 3000 + later - 5000, reading - start - 100 + 2000);
    follow_expect(f->recent, 3000 + later - 5000, 2000);
    follow_close(f);
    writer_free(w);
}

/* Shares are those of the last seconds: the window has both steps, the recent part only the last one. */
Test(unit_follow, the_window_has_several_looks)
{
    const uint64_t start = follow_now() - 1000000, first = start + later;
    struct writer *w = follow_begin(start);
    const char *error;
    write_enter(w, first, LEAF);
    write_exit(w, first + 26);
    follow_save(w);
    struct follow *f = follow_open(test_path("growing"), &error);
    for (uint64_t i = 0; i < 4; i++) {
        follow_read_all(f);
        follow_read_all(f);
        follow_look(f);
        if (i)
            follow_expect(f->recent, 74, 26);
        if (i)
            follow_expect(f->window, 74 * i, 26 * i);
        begin_events(w, 1, 1, (uint32_t)i + 1, first + 100 * i + 26, &(struct open_call){ MAIN, start }, 1);
        write_enter(w, first + 100 * (i + 1), LEAF);
        write_exit(w, first + 100 * (i + 1) + 26);
        follow_save(w);
    }
    follow_expect(f->whole, later + 3 * 74, 4 * 26);
    follow_close(f);
    writer_free(w);
}
