/* Which act has ended a wait, if several may have: by the kind of object, and the order in which threads slept. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "causes/wait_causes.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/wakes.h"

enum { ID = 0x5000, OTHER_ID = 0x6000, FAR = 100000 };

/* Checks the wakers of all waits, by waiting thread: "WAITER<WAKER@TIME". */
static void acts_check(struct writer *w, const char *wanted)
{
    struct analysis analysis;
    char *text;
    size_t length;
    writer_save(w, test_path("acts"));
    writer_free(w);
    load_whole(&analysis, test_path("acts"), 2);
    struct wait_causes c = wait_causes_find_wakers(&analysis);
    FILE *out = need_stream(&text, &length);
    for (uint32_t thread = 1; thread < 10; thread++)
        for (size_t i = 0; i < c.all_count; i++)
            if (c.list[i].wait.place.thread == thread)
                fprintf(out, "%" PRIu32 "<%" PRIu32 "@%" PRIu64 " ", thread, c.list[i].waker, c.list[i].woken);
    need_stream_end(out);
    cr_assert(eq(str, text, (char *)wanted));
    free(text);
    wait_causes_drop(&c);
    analysis_drop(&analysis);
}

/* A thread that waits for the object, and one that acts on it once. */
static void acts_write_waiter(struct writer *w, uint32_t thread, unsigned kind, uint64_t begin, uint64_t end)
{
    wakes_thread_begins(w, thread, 10, WAKES_MAIN);
    wakes_call(w, begin, end, kind, ID, 0);
    wakes_thread_ends(w, thread, 9 * FAR);
}

static void acts_write_actor(struct writer *w, uint32_t thread, unsigned kind, uint64_t begin, uint64_t end)
{
    wakes_thread_begins(w, thread, 20, WAKES_WORK);
    wakes_act(w, begin, end, kind, ID);
    wakes_thread_ends(w, thread, 9 * FAR);
}

/* The first thread could go on after the first act, but had no CPU until the second one had come, too. */
Test(unit_wait_acts, the_first_act_that_satisfies)
{
    static const struct {
        unsigned kind;
        const char *wanted;
    } kinds[] = {
        { OBJECT_SEMAPHORE, "1<2@160 " }, { OBJECT_CONDITION, "1<2@160 " }, { OBJECT_PIPE, "1<2@160 " },
        { OBJECT_SOCKET, "1<2@160 " },    { OBJECT_EVENTFD, "1<2@160 " },   { OBJECT_FUTEX, "1<2@160 " },
        { OBJECT_MUTEX, "1<3@300010 " },  { OBJECT_RWLOCK, "1<3@300010 " }, { OBJECT_BARRIER, "1<3@300010 " },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct writer *w = wakes_new();
        acts_write_waiter(w, 1, kinds[i].kind, 100, 4 * FAR);
        acts_write_actor(w, 2, kinds[i].kind, 150, 160);
        acts_write_actor(w, 3, kinds[i].kind, 3 * FAR, 3 * FAR + 10);
        acts_check(w, kinds[i].wanted);
    }
}

static void acts_write_spinner(struct writer *w, uint32_t thread, uint64_t begin, uint64_t end, bool preempted)
{
    wakes_thread_begins(w, thread, 10, WAKES_WORK);
    write_enter(w, begin, WAKES_ACT);
    if (preempted)
        write_off_cpu(w, true, begin + 5, begin + 15);
    write_os(w);
    write_object(w, OBJECT_BARRIER, false, ID, 0);
    write_exit(w, end);
    wakes_thread_ends(w, thread, 9 * FAR);
}

/* Threads that stay on the CPU at a barrier wait for the one that comes last, and needs little time itself. */
Test(unit_wait_acts, threads_that_do_not_sleep_at_a_barrier)
{
    struct writer *w = wakes_new();
    acts_write_spinner(w, 1, 100, 4 * FAR, false);
    acts_write_spinner(w, 2, FAR, 4 * FAR + 10, true);
    acts_write_spinner(w, 3, 3 * FAR, 3 * FAR + 10, false);
    acts_check(w, "1<3@300010 2<3@300010 ");
}

/* How much room a writer needs is not known. */
Test(unit_wait_acts, the_last_one_that_makes_room)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    write_enter(w, 100, WAKES_WAIT);
    write_off_cpu(w, false, 105, 4 * FAR);
    write_object_room(w, OBJECT_PIPE, false, ID);
    write_exit(w, 5 * FAR);
    wakes_thread_ends(w, 1, 9 * FAR);
    for (uint32_t thread = 2; thread < 4; thread++) {
        wakes_thread_begins(w, thread, 20, WAKES_WORK);
        write_enter(w, thread * FAR, WAKES_ACT);
        write_os(w);
        write_object_room(w, OBJECT_PIPE, true, ID);
        write_exit(w, thread * FAR + 10);
        wakes_thread_ends(w, thread, 9 * FAR);
    }
    acts_check(w, "1<3@300010 ");
}

/* Each act wakes one thread: the one that has slept longest, even if the other one runs first. */
Test(unit_wait_acts, threads_that_sleep_in_a_queue)
{
    static const uint64_t ends[] = { 1 * FAR + 100, 3 * FAR + 100 };
    for (size_t i = 0; i < 2; i++) {
        struct writer *w = wakes_new();
        acts_write_waiter(w, 1, OBJECT_SEMAPHORE, 100, ends[i]);
        acts_write_waiter(w, 2, OBJECT_SEMAPHORE, 200, 2 * FAR + 100);
        wakes_thread_begins(w, 3, 20, WAKES_WORK);
        wakes_act(w, FAR, FAR + 10, OBJECT_SEMAPHORE, ID);
        wakes_act(w, 2 * FAR, 2 * FAR + 10, OBJECT_SEMAPHORE, ID);
        wakes_thread_ends(w, 3, 9 * FAR);
        acts_check(w, "1<3@100010 2<3@200010 ");
    }
}

/* The one that had slept shorter went on before the second act: it has a higher priority. */
Test(unit_wait_acts, a_thread_that_passes_the_queue)
{
    struct writer *w = wakes_new();
    acts_write_waiter(w, 1, OBJECT_SEMAPHORE, 100, 3 * FAR);
    acts_write_waiter(w, 2, OBJECT_SEMAPHORE, 200, FAR + 100);
    acts_write_actor(w, 3, OBJECT_SEMAPHORE, FAR, FAR + 10);
    acts_write_actor(w, 4, OBJECT_SEMAPHORE, 2 * FAR, 2 * FAR + 10);
    acts_check(w, "1<4@200010 2<3@100010 ");
}

/* A broadcast, or the end of a connection. What comes after it wakes nobody. */
Test(unit_wait_acts, an_act_for_all)
{
    struct writer *w = wakes_new();
    acts_write_waiter(w, 1, OBJECT_CONDITION, 100, 3 * FAR);
    acts_write_waiter(w, 2, OBJECT_CONDITION, 200, 3 * FAR);
    wakes_thread_begins(w, 3, 20, WAKES_WORK);
    write_enter(w, FAR, WAKES_ACT);
    write_os(w);
    write_object_on_all(w, OBJECT_CONDITION, ID);
    write_exit(w, FAR + 10);
    wakes_thread_ends(w, 3, 9 * FAR);
    acts_write_actor(w, 4, OBJECT_CONDITION, 2 * FAR, 2 * FAR + 10);
    acts_check(w, "1<3@100010 2<3@100010 ");
}

/* Threads that poll are all woken by what is written for one of them. */
Test(unit_wait_acts, threads_that_wake_together)
{
    struct writer *w = wakes_new();
    acts_write_waiter(w, 1, OBJECT_EVENTFD, 100, FAR + 100);
    acts_write_waiter(w, 2, OBJECT_EVENTFD, 200, FAR + 200);
    acts_write_actor(w, 3, OBJECT_EVENTFD, FAR, FAR + 10);
    acts_check(w, "1<3@100010 2<3@100010 ");
}

/* It is not known which of the two came first. */
Test(unit_wait_acts, acts_at_the_same_time)
{
    for (int i = 0; i < 2; i++) {
        struct writer *w = wakes_new();
        acts_write_waiter(w, 1, OBJECT_SEMAPHORE, 100, 3 * FAR);
        acts_write_actor(w, 2 + i, OBJECT_SEMAPHORE, FAR, FAR + 10);
        acts_write_actor(w, 3 - i, OBJECT_SEMAPHORE, FAR + 9, FAR + 20);
        acts_check(w, "1<0@0 ");
    }
}

/* The token of the first act was taken by somebody else before the thread slept again. */
Test(unit_wait_acts, a_thread_that_sleeps_again)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    write_enter(w, 100, WAKES_WAIT);
    write_off_cpu(w, false, 105, FAR);
    write_off_cpu(w, false, 2 * FAR, 3 * FAR);
    write_object(w, OBJECT_SEMAPHORE, false, ID, 0);
    write_exit(w, 6 * FAR);
    wakes_thread_ends(w, 1, 9 * FAR);
    acts_write_actor(w, 2, OBJECT_SEMAPHORE, FAR, FAR + 10);
    acts_write_actor(w, 3, OBJECT_SEMAPHORE, 3 * FAR, 3 * FAR + 10);
    acts_write_actor(w, 4, OBJECT_SEMAPHORE, 4 * FAR, 4 * FAR + 10);
    acts_check(w, "1<3@300010 ");
}

/* The signal came before the thread waited for the mutex. Later signals are for others. */
Test(unit_wait_acts, a_signal_before_the_mutex)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    write_enter(w, 100, WAKES_WAIT);
    write_off_cpu(w, false, 105, FAR);
    write_off_cpu(w, false, 2 * FAR, 3 * FAR);
    write_object(w, OBJECT_CONDITION, false, ID, 0);
    write_object(w, OBJECT_MUTEX, true, OTHER_ID, 0);
    write_exit(w, 6 * FAR);
    wakes_thread_ends(w, 1, 9 * FAR);
    wakes_thread_begins(w, 2, 20, WAKES_WORK);
    wakes_act(w, FAR, FAR + 10, OBJECT_CONDITION, ID);
    wakes_act(w, 4 * FAR, 4 * FAR + 10, OBJECT_MUTEX, OTHER_ID);
    wakes_thread_ends(w, 2, 9 * FAR);
    acts_write_actor(w, 3, OBJECT_CONDITION, 3 * FAR, 3 * FAR + 10);
    struct analysis analysis;
    writer_save(w, test_path("acts"));
    writer_free(w);
    load_whole(&analysis, test_path("acts"), 1);
    struct wait_causes c = wait_causes_find(&analysis);
    const struct caused_wait *found = NULL;
    for (size_t i = 0; i < c.count; i++)
        if (c.list[i].wait.kind == OBJECT_CONDITION)
            found = &c.list[i];
    cr_assert(found != NULL);
    cr_assert(eq(u32, found->thread, 2));
    cr_assert(eq(u32, found->waker, 2));
    cr_assert(eq(u64, found->woken, 4 * FAR + 10));
    wait_causes_drop(&c);
    analysis_drop(&analysis);
}

/* A signal is for the waiting thread, or for its process. Those for others end no wait of it. */
Test(unit_wait_acts, signals)
{
    static const struct {
        uint64_t id;
        const char *wanted;
    } signals[] = {
        { UINT64_C(100) << 32, "1<2@300010 " },
        { 100, "1<2@300010 " },
        { 102, "1<0@0 " },
        { UINT64_C(101) << 32, "1<0@0 " },
    };
    static const struct {
        uint16_t kind;
        uint64_t id;
    } objects[] = { { OBJECT_SIGNAL, UINT64_C(100) << 32 | 100 }, { OBJECT_SIGNALFD, 7 } };
    for (size_t i = 0; i < 2 * sizeof signals / sizeof *signals; i++) {
        struct writer *w = wakes_new();
        wakes_thread_begins(w, 1, 10, WAKES_MAIN);
        wakes_call(w, 100, 4 * FAR, objects[i % 2].kind, objects[i % 2].id, 0);
        wakes_thread_ends(w, 1, 9 * FAR);
        wakes_thread_begins(w, 2, 20, WAKES_WORK);
        wakes_act(w, 3 * FAR, 3 * FAR + 10, OBJECT_SIGNAL, signals[i / 2].id);
        wakes_thread_ends(w, 2, 9 * FAR);
        acts_check(w, signals[i / 2].wanted);
    }
}

/* A lock in memory that processes share has one number in all of them. An address is one of a process. */
Test(unit_wait_acts, another_process)
{
    enum { OTHER = 2 };
    static const uint64_t shared = UINT64_C(1) << 63;
    static const unsigned kinds[] = { OBJECT_SEMAPHORE, OBJECT_CONDITION, OBJECT_FUTEX, OBJECT_MUTEX };
    for (size_t i = 0; i < 2 * sizeof kinds / sizeof *kinds; i++) {
        const uint64_t id = ID | (i % 2 ? shared : 0);
        struct writer *w = wakes_new();
        write_process(w, OTHER, 200, "/bin/p");
        write_module(w, OTHER, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
        write_module(w, OTHER, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
        wakes_thread_begins(w, 1, 10, WAKES_MAIN);
        wakes_call(w, 100, 4 * FAR, kinds[i / 2], id, 0);
        wakes_thread_ends(w, 1, 9 * FAR);
        write_thread_at(w, OTHER, 2, 200, SOURCE_PERF, 20, "t");
        begin_events(w, OTHER, 2, 0, 20, NULL, 0);
        write_enter(w, 20, WAKES_WORK);
        wakes_act(w, 3 * FAR, 3 * FAR + 10, kinds[i / 2], id);
        write_exit(w, 9 * FAR);
        end_events(w, true);
        acts_check(w, i % 2 ? "1<2@300010 " : "1<0@0 ");
    }
}

/* An unlock of a file wakes all threads that wait for it. */
Test(unit_wait_acts, locks_of_files)
{
    struct writer *w = wakes_new();
    acts_write_waiter(w, 1, OBJECT_FILE_LOCK, 100, 3 * FAR);
    acts_write_waiter(w, 2, OBJECT_FILE_LOCK, 200, 3 * FAR);
    wakes_thread_begins(w, 3, 20, WAKES_WORK);
    write_enter(w, FAR, WAKES_ACT);
    write_os(w);
    write_object_on_all(w, OBJECT_FILE_LOCK, ID);
    write_exit(w, FAR + 10);
    wakes_thread_ends(w, 3, 9 * FAR);
    acts_check(w, "1<3@100010 2<3@100010 ");
}

/* A message makes room for one, so the first receiver ends the first sender's wait. */
Test(unit_wait_acts, room_in_a_queue)
{
    struct writer *w = wakes_new();
    wakes_thread_begins(w, 1, 10, WAKES_MAIN);
    write_enter(w, 100, WAKES_WAIT);
    write_off_cpu(w, false, 105, 4 * FAR);
    write_object_room(w, OBJECT_QUEUE, false, ID);
    write_exit(w, 5 * FAR);
    wakes_thread_ends(w, 1, 9 * FAR);
    for (uint32_t thread = 2; thread < 4; thread++) {
        wakes_thread_begins(w, thread, 20, WAKES_WORK);
        write_enter(w, thread * FAR, WAKES_ACT);
        write_os(w);
        write_object_room(w, OBJECT_QUEUE, true, ID);
        write_exit(w, thread * FAR + 10);
        wakes_thread_ends(w, thread, 9 * FAR);
    }
    acts_check(w, "1<2@200010 ");
}
