/* The causes of waits on hand-written sessions: holders, acts, ends of threads and processes, and what stays unknown.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "causes/wait_causes.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/session_writer.h"

enum { MAIN = 0x401000, WORK = 0x401100, LOCK = 0x801000, UNLOCK = 0x801100, ALSO = 176, CAUSES = 2 };

static struct writer *causes_program(void)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, CAUSES, 4);
    write_process(w, 1, 100, "/bin/p");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
    write_module(w, 1, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_thread(w, 1, 2, 101, SOURCE_PERF, "other");
    write_symbol_module(w, 0, "/bin/p");
    write_symbol_module(w, 1, "/lib/libc.so.6");
    write_symbol(w, 0, 0, 0, 0x1000, "main");
    write_symbol(w, 0, 0, 0, 0x1100, "work");
    write_symbol(w, 1, 0, 0, 0x1000, "pthread_mutex_lock");
    write_symbol(w, 1, 0, 0, 0x1100, "pthread_mutex_unlock");
    return w;
}

/* The first thread waits 80 ticks for an object in [110, 200], and then 50 ticks for nothing that is known. */
static void causes_write_wait(struct writer *w, unsigned kind, uint64_t id, uint32_t holder)
{
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 100, MAIN);
    write_enter(w, 110, LOCK);
    write_off_cpu(w, false, 115, 80);
    write_object(w, kind, false, id, holder);
    write_exit(w, 200);
    write_off_cpu(w, false, 210, 50);
    write_exit(w, 300);
    end_events(w, true);
}

/* The second thread is in work (unlock) at [begin, begin + 10], where it acts on the object. */
static void causes_write_act(struct writer *w, uint64_t begin, unsigned kind, uint64_t id)
{
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    write_enter(w, 50, MAIN);
    write_enter(w, 60, WORK);
    write_enter(w, begin, UNLOCK);
    write_os(w);
    write_object(w, kind, true, id, 0);
    write_exit(w, begin + 10);
    write_exit(w, begin + 20);
    write_exit(w, begin + 30);
    end_events(w, true);
}

static uint64_t causes_sum(const struct wait_causes *c)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < c->count; i++)
        sum += c->list[i].ticks;
    return sum;
}

static const char *causes_name(const struct wait_causes *c, const struct caused_wait *w)
{
    return w->node == PROFILE_NONE ? "" : c->acting_names[c->acting->nodes[w->node].function].name;
}

/* Checks the wait for an object in the saved file. `thread` is zero if no cause is known. */
static void causes_check_file(enum wait_cause cause, uint32_t thread, const char *function)
{
    struct analysis analysis;
    load_whole(&analysis, test_path("causes"), 2);
    struct wait_causes c = wait_causes_find(&analysis);
    const struct caused_wait *found = NULL;
    cr_assert(eq(u64, causes_sum(&c), analysis.rollup->session.blocked_inclusive));
    for (size_t i = 0; i < c.count; i++) {
        if (c.list[i].wait.kind)
            found = &c.list[i];
        else
            cr_assert(eq(int, (int)c.list[i].cause, CAUSE_NONE));
    }
    cr_assert(found != NULL);
    cr_assert(eq(u64, found->ticks, 80));
    cr_assert(eq(int, (int)found->cause, (int)cause));
    cr_assert(eq(u32, found->thread, thread));
    cr_assert(eq(str, (char *)causes_name(&c, found), (char *)function));
    wait_causes_drop(&c);
    analysis_drop(&analysis);
}

static void causes_check(struct writer *w, enum wait_cause cause, uint32_t thread, const char *function)
{
    writer_save(w, test_path("causes"));
    writer_free(w);
    causes_check_file(cause, thread, function);
}

Test(unit_wait_causes, holder)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_MUTEX, 0x5000, 101);
    causes_write_act(w, 190, OBJECT_MUTEX, 0x5000);
    causes_check(w, CAUSE_HOLDER, 2, "work");
}

Test(unit_wait_causes, holder_that_is_not_recorded)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_MUTEX, 0x5000, 999);
    causes_write_act(w, 190, OBJECT_MUTEX, 0x6000);
    causes_check(w, CAUSE_NONE, 0, "");
}

Test(unit_wait_causes, waker)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_CONDITION, 0x5000, 0);
    causes_write_act(w, 190, OBJECT_CONDITION, 0x5000);
    causes_check(w, CAUSE_WAKER, 2, "pthread_mutex_unlock");
}

/* An act ends no wait that began after it or ended before it, nor a wait for another kind of object. */
Test(unit_wait_causes, acts_at_other_times_and_on_other_objects)
{
    static const struct {
        uint64_t begin, id;
        unsigned kind;
    } others[] = {
        { 90, 0x5000, OBJECT_CONDITION },
        { 200, 0x5000, OBJECT_CONDITION },
        { 190, 0x5000, OBJECT_MUTEX },
        { 190, 0x5008, OBJECT_CONDITION },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        struct writer *w = causes_program();
        causes_write_wait(w, OBJECT_CONDITION, 0x5000, 0);
        causes_write_act(w, others[i].begin, others[i].kind, others[i].id);
        causes_check(w, CAUSE_NONE, 0, "");
    }
}

Test(unit_wait_causes, last_thread_at_a_barrier)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_BARRIER, 0x5000, 0);
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    write_enter(w, 60, WORK);
    write_enter(w, 190, LOCK);
    write_os(w);
    write_object(w, OBJECT_BARRIER, false, 0x5000, 0);
    write_exit(w, 195);
    write_exit(w, 210);
    end_events(w, true);
    causes_check(w, CAUSE_WAKER, 2, "pthread_mutex_lock");
}

Test(unit_wait_causes, joined_thread)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_THREAD, 101, 0);
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    write_enter(w, 120, WORK);
    end_events(w, true);
    write_thread_end(w, 1, 2, false, 180);
    causes_check(w, CAUSE_WAKER, 2, "work");
}

Test(unit_wait_causes, sleep_has_no_cause)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_SLEEP, 80, 0);
    causes_write_act(w, 190, OBJECT_SLEEP, 80);
    causes_check(w, CAUSE_NONE, 0, "");
}

/* The other end of a connection, which may be in another process. */
static struct writer *causes_two_processes(void)
{
    struct writer *w = causes_program();
    write_process(w, 2, 200, "/bin/p");
    write_module(w, 2, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
    write_module(w, 2, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    write_thread(w, 2, 3, 200, SOURCE_PERF, "child");
    return w;
}

static void causes_write_act_of(struct writer *w, uint32_t process, uint32_t thread, unsigned kind, uint64_t id)
{
    begin_events(w, process, thread, 0, 0, NULL, 0);
    write_enter(w, 60, WORK);
    write_enter(w, 190, UNLOCK);
    write_os(w);
    write_object(w, kind, true, id, 0);
    write_exit(w, 195);
    write_exit(w, 210);
    end_events(w, true);
}

Test(unit_wait_causes, descriptors_of_another_process)
{
    struct writer *w = causes_two_processes();
    write_descriptor(w, 1, OBJECT_PIPE, 7, 7, "pipe:[7]");
    causes_write_wait(w, OBJECT_PIPE, 7, 0);
    causes_write_act_of(w, 2, 3, OBJECT_PIPE, 7);
    causes_check(w, CAUSE_WAKER, 3, "pthread_mutex_unlock");
}

/* An address means another lock there. */
Test(unit_wait_causes, locks_of_another_process)
{
    struct writer *w = causes_two_processes();
    causes_write_wait(w, OBJECT_MUTEX, 7, 0);
    causes_write_act_of(w, 2, 3, OBJECT_MUTEX, 7);
    causes_check(w, CAUSE_NONE, 0, "");
}

Test(unit_wait_causes, ends_of_a_connection)
{
    struct writer *w = causes_two_processes();
    write_descriptor(w, 1, OBJECT_SOCKET, 7, 0, "socket:[7]");
    write_descriptor(w, 1, OBJECT_SOCKET, 7, 8, "socket:[7]");
    write_descriptor(w, 2, OBJECT_SOCKET, 8, 7, "socket:[8]");
    causes_write_wait(w, OBJECT_SOCKET, 7, 0);
    causes_write_act(w, 190, OBJECT_SOCKET, 7);
    causes_write_act_of(w, 2, 3, OBJECT_SOCKET, 8);
    causes_check(w, CAUSE_WAKER, 3, "pthread_mutex_unlock");
}

/* A socket whose other end is not known ends no wait that is known. */
Test(unit_wait_causes, unknown_end_of_a_connection)
{
    struct writer *w = causes_program();
    write_descriptor(w, 1, OBJECT_SOCKET, 7, 0, "socket:[7]");
    causes_write_wait(w, OBJECT_SOCKET, 7, 0);
    causes_write_act(w, 190, OBJECT_SOCKET, 7);
    causes_check(w, CAUSE_NONE, 0, "");
}

static void causes_write_room(struct writer *w, bool waits_for_room, bool makes_room)
{
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 110, LOCK);
    write_off_cpu(w, false, 115, 80);
    if (waits_for_room)
        write_object_room(w, OBJECT_PIPE, false, 7);
    else
        write_object(w, OBJECT_PIPE, false, 7, 0);
    write_exit(w, 200);
    end_events(w, true);
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    write_enter(w, 190, UNLOCK);
    write_os(w);
    if (makes_room)
        write_object_room(w, OBJECT_PIPE, true, 7);
    else
        write_object(w, OBJECT_PIPE, true, 7, 0);
    write_exit(w, 195);
    end_events(w, true);
}

/* A read ends waits of writers, and a write those of readers. */
Test(unit_wait_causes, room_in_a_pipe)
{
    for (int i = 0; i < 4; i++) {
        struct writer *w = causes_program();
        const bool waits_for_room = i & 1, makes_room = i & 2, ends = waits_for_room == makes_room;
        causes_write_room(w, waits_for_room, makes_room);
        causes_check(w, ends ? CAUSE_WAKER : CAUSE_NONE, ends ? 2 : 0, ends ? "pthread_mutex_unlock" : "");
    }
}

/* It is not known which one made the call go on. */
Test(unit_wait_causes, several_descriptors)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_SET, 0, 0);
    causes_write_act(w, 190, OBJECT_SET, 0);
    causes_check(w, CAUSE_NONE, 0, "");
}

/* ---- what stays unknown ---- */

/* The third thread acts at [begin, begin + 10]. */
static void causes_write_third(struct writer *w, uint64_t begin, unsigned kind, uint64_t id)
{
    write_thread(w, 1, 3, 102, SOURCE_PERF, "third");
    begin_events(w, 1, 3, 0, 0, NULL, 0);
    write_enter(w, begin, UNLOCK);
    write_os(w);
    write_object(w, kind, true, id, 0);
    write_exit(w, begin + 10);
    end_events(w, true);
}

/* The first thread waits from `begin` to `end`. */
static void causes_write_long_wait(struct writer *w, unsigned kind, uint64_t begin, uint64_t end)
{
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, begin, LOCK);
    write_off_cpu(w, false, end - 90, 80);
    write_object(w, kind, false, 0x5000, 0);
    write_exit(w, end);
    end_events(w, true);
}

enum { CLOSE = 50000 }; /* ticks */

/* Whichever of the two came last, the other one may have let the lock be free. */
Test(unit_wait_causes, two_threads_that_act_shortly_one_after_the_other)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_RWLOCK, 0x5000, 0);
    causes_write_act(w, 180, OBJECT_RWLOCK, 0x5000);
    causes_write_third(w, 150, OBJECT_RWLOCK, 0x5000);
    causes_check(w, CAUSE_NONE, 0, "");
}

Test(unit_wait_causes, an_act_long_before_has_ended_another_wait)
{
    for (int close = 0; close < 2; close++) {
        struct writer *w = causes_program();
        causes_write_long_wait(w, OBJECT_CONDITION, 1000, 3 * CLOSE);
        causes_write_act(w, 2 * CLOSE, OBJECT_CONDITION, 0x5000);
        causes_write_third(w, CLOSE - (close ? 10 : 11), OBJECT_CONDITION, 0x5000);
        causes_check(w, close ? CAUSE_NONE : CAUSE_WAKER, close ? 0 : 2, close ? "" : "pthread_mutex_unlock");
    }
}

/* One thread's acts are one cause. */
Test(unit_wait_causes, several_acts_of_one_thread)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_CONDITION, 0x5000, 0);
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    for (uint64_t time = 150; time < 190; time += 20) {
        write_enter(w, time, UNLOCK);
        write_os(w);
        write_object(w, OBJECT_CONDITION, true, 0x5000, 0);
        write_exit(w, time + 10);
    }
    end_events(w, true);
    causes_check(w, CAUSE_WAKER, 2, "pthread_mutex_unlock");
}

/* The thread could go on only after the last unlock. */
Test(unit_wait_causes, the_last_unlock_of_a_mutex)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_MUTEX, 0x5000, 0);
    causes_write_act(w, 180, OBJECT_MUTEX, 0x5000);
    causes_write_third(w, 150, OBJECT_MUTEX, 0x5000);
    causes_check(w, CAUSE_WAKER, 2, "pthread_mutex_unlock");
}

/* A thread that waits at a barrier itself was not the last one there. */
Test(unit_wait_causes, another_thread_that_waits_at_the_barrier)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_BARRIER, 0x5000, 0);
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    write_enter(w, 190, LOCK);
    write_off_cpu(w, false, 192, 50);
    write_object(w, OBJECT_BARRIER, false, 0x5000, 0);
    write_exit(w, 250);
    end_events(w, true);
    struct analysis analysis;
    writer_save(w, test_path("causes"));
    writer_free(w);
    load_whole(&analysis, test_path("causes"), 2);
    struct wait_causes c = wait_causes_find(&analysis);
    for (size_t i = 0; i < c.count; i++)
        cr_assert(eq(int, (int)c.list[i].cause, CAUSE_NONE));
    wait_causes_drop(&c);
    analysis_drop(&analysis);
}

/* Nobody ended a wait that came to the end of its time. */
Test(unit_wait_causes, waits_that_were_given_up)
{
    struct writer *w = causes_program();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 110, LOCK);
    write_off_cpu(w, false, 115, 80);
    write_object_given_up(w, OBJECT_CONDITION, 0x5000);
    write_exit(w, 200);
    end_events(w, true);
    causes_write_act(w, 190, OBJECT_CONDITION, 0x5000);
    causes_check(w, CAUSE_NONE, 0, "");
}

/* Events that had no room may have been acts. */
Test(unit_wait_causes, lost_events)
{
    enum { LOST_EVENTS = 120 };
    struct writer *w = causes_program();
    write_header(w, LOST_EVENTS, 1, 8);
    causes_write_wait(w, OBJECT_CONDITION, 0x5000, 0);
    causes_write_act(w, 190, OBJECT_CONDITION, 0x5000);
    causes_check(w, CAUSE_NONE, 0, "");
}

/* A chunk of the third thread is missing, which may have held an act. It had begun at 60, and the next one begins at
 * `end`. */
static void causes_write_missing_chunk(struct writer *w, uint64_t end)
{
    write_thread(w, 1, 3, 102, SOURCE_PERF, "third");
    begin_events(w, 1, 3, 0, 60, NULL, 0);
    write_enter(w, 70, WORK);
    end_events(w, true);
    begin_events(w, 1, 3, 2, end, &(struct open_call){ WORK, 70 }, 1);
    write_exit(w, end + 200);
    end_events(w, true);
}

Test(unit_wait_causes, missing_chunks)
{
    static const uint64_t ends[] = { 100, 150 };
    for (size_t i = 0; i < 2; i++) {
        struct writer *w = causes_program();
        causes_write_wait(w, OBJECT_CONDITION, 0x5000, 0);
        causes_write_act(w, 190, OBJECT_CONDITION, 0x5000);
        causes_write_missing_chunk(w, ends[i]);
        causes_check(w, i ? CAUSE_NONE : CAUSE_WAKER, i ? 0 : 2, i ? "" : "pthread_mutex_unlock");
    }
}

/* In mode ring, a thread has overwritten its first chunks. */
Test(unit_wait_causes, overwritten_chunks)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_CONDITION, 0x5000, 0);
    causes_write_act(w, 190, OBJECT_CONDITION, 0x5000);
    write_thread(w, 1, 3, 102, SOURCE_PERF, "third");
    begin_events(w, 1, 3, 5, 150, NULL, 0);
    write_enter(w, 170, WORK);
    write_exit(w, 180);
    end_events(w, true);
    causes_check(w, CAUSE_NONE, 0, "");
}

/* The end of the file is missing, and so is a chunk of the third thread. */
Test(unit_wait_causes, truncated_file)
{
    struct stat status;
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_CONDITION, 0x5000, 0);
    causes_write_act(w, 190, OBJECT_CONDITION, 0x5000);
    causes_write_third(w, 150, OBJECT_CONDITION, 0x6000);
    writer_save(w, test_path("causes"));
    writer_free(w);
    causes_check_file(CAUSE_WAKER, 2, "pthread_mutex_unlock");
    cr_assert(zero(int, stat(test_path("causes"), &status)));
    cr_assert(zero(int, truncate(test_path("causes"), status.st_size - 4096)));
    causes_check_file(CAUSE_NONE, 0, "");
}

/* The process was killed: the holder's thread has no end, and its chunk has no length. */
Test(unit_wait_causes, killed_process)
{
    struct writer *w = causes_program();
    causes_write_wait(w, OBJECT_MUTEX, 0x5000, 101);
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    write_enter(w, 60, WORK);
    end_events(w, false);
    write_process_end_by(w, 0, 1, 100, END_SIGNAL, 9, 400);
    causes_check(w, CAUSE_HOLDER, 2, "work");
}

/* A kind of a later version. */
Test(unit_wait_causes, unknown_kinds)
{
    struct writer *w = causes_program();
    causes_write_wait(w, 200, 80, 0);
    causes_check(w, CAUSE_NONE, 0, "");
}

Test(unit_wait_causes, sessions_without_causes)
{
    struct analysis analysis;
    struct writer *w = causes_program();
    write_header(w, ALSO, 0, 4);
    causes_write_wait(w, OBJECT_MUTEX, 0x5000, 101);
    writer_save(w, test_path("causes"));
    writer_free(w);
    load_whole(&analysis, test_path("causes"), 1);
    struct wait_causes c = wait_causes_find(&analysis);
    cr_assert(c.acting == NULL);
    cr_assert(eq(u64, causes_sum(&c), 130));
    wait_causes_drop(&c);
    analysis_drop(&analysis);
}
