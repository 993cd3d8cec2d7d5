/* Why calls were slow, on hand-written sessions, to the tick: which calls count, and that rows add up. */
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
    EVICT = 0x401300,
    LOCK = 0x801000,
    UNLOCK = 0x801100,
    ALSO = 176,
    CAUSES = 2
};

static const struct why_choice slowest = { .slow = WHY_RANK, .number = 1 };

static struct writer *why_new(void)
{
    static const char *const names[] = { "main", "handle", "parse", "evict" };
    struct writer *w = writer_new();
    write_header(w, ALSO, CAUSES, 4);
    write_process(w, 1, 100, "/bin/p");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
    write_module(w, 1, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    write_symbol_module(w, 0, "/bin/p");
    write_symbol_module(w, 1, "/lib/libc.so.6");
    for (uint64_t i = 0; i < 4; i++)
        write_symbol(w, 0, 0, 0, 0x1000 + i * 0x100, names[i]);
    write_symbol(w, 1, 0, 0, 0x1000, "pthread_mutex_lock");
    write_symbol(w, 1, 0, 0, 0x1100, "pthread_mutex_unlock");
    write_thread_at(w, 1, 1, 100, SOURCE_PERF, 0, "first");
    return w;
}

static void why_write_call(struct writer *w, uint64_t begin, uint64_t end, uint64_t function)
{
    write_enter(w, begin, function);
    write_exit(w, end);
}

/* A call of handle with a call of parse that begins 10 ticks after it and ends 10 before it does. */
static void why_write_handle(struct writer *w, uint64_t begin, uint64_t end)
{
    write_enter(w, begin, HANDLE);
    why_write_call(w, begin + 10, end - 10, PARSE);
    write_exit(w, end);
}

/* The rows add up to each set, in ticks and as printed. */
static void why_check_sums(const struct why *why)
{
    for (int set = 0; set < WHY_SETS && why_has_sets(why); set++) {
        uint64_t ticks = 0, ns = 0;
        for (size_t i = 0; i < why->line_count; i++) {
            ticks += why->lines[i].ticks[set];
            ns += why->lines[i].ns[set];
        }
        cr_assert(eq(u64, ticks, why->sets[set].ticks));
        cr_assert(eq(u64, ns, why->sets[set].ns));
        cr_assert(eq(u64, why->scan.calls[set], why->sets[set].calls));
    }
}

/* Lines are "PATH KIND SLOW/USUAL", in ticks of all calls. Before them are the numbers of calls: "SLOW+USUAL of ALL,
 * CUT cut". */
static char *why_text(const struct why *why)
{
    static const char *const kinds[] = { "cpu", "blocked", "runnable", "fault", "file", "probe" };
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    fprintf(out, "%" PRIu64 "+%" PRIu64 " of %" PRIu64 ", %" PRIu64 " cut", why->sets[WHY_SLOW].calls,
            why->sets[WHY_USUAL].calls, why->calls, why->scan.cut);
    for (size_t i = 0; i < why->line_count; i++) {
        const struct why_line *line = &why->lines[i];
        fprintf(out, "\n%s %s %" PRIu64 "/%" PRIu64, line->path, kinds[line->kind], line->ticks[WHY_SLOW],
                line->ticks[WHY_USUAL]);
        if (line->wait)
            fprintf(out, " %s; %s %s", line->wait->text, line->wait->cause, line->wait->path);
    }
    need_stream_end(out);
    return text;
}

static uint32_t why_find_handle(const struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->profile->function_count; i++)
        if (strcmp(analysis->names[i].name, "handle") == 0)
            return i;
    cr_assert(false, "no handle");
    return PROFILE_NONE;
}

/* Saves the session. Checks the lines with one worker and with several. */
static void why_check(struct writer *w, const struct why_choice *choice, const struct analysis_options *options,
                      const char *expected)
{
    writer_save(w, test_path("why"));
    writer_free(w);
    for (unsigned jobs = 1; jobs <= 3; jobs += 2) {
        struct analysis_options with = *options;
        struct analysis analysis;
        struct why why;
        struct error error = { NULL };
        with.jobs = jobs;
        load_with(&analysis, test_path("why"), &with);
        if (!why_find(&why, &analysis, why_find_handle(&analysis), choice, &error)) {
            cr_assert(eq(str, error.text, (char *)expected));
            error_drop(&error);
            analysis_drop(&analysis);
            continue;
        }
        char *text = why_text(&why);
        why_check_sums(&why);
        cr_assert(eq(str, text, (char *)expected));
        free(text);
        why_drop(&why);
        analysis_drop(&analysis);
    }
}

static const struct analysis_options whole = { .jobs = 0 };

/* One call waits for a lock, another one computes longer, is preempted and has page faults: each is a row. */
Test(unit_why, kinds_of_time)
{
    struct writer *w = why_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    why_write_handle(w, 100, 200);
    why_write_handle(w, 300, 420);
    write_enter(w, 1000, HANDLE);
    write_enter(w, 1010, PARSE);
    write_enter(w, 1100, LOCK);
    write_off_cpu(w, false, 1105, 800);
    write_object(w, OBJECT_MUTEX, false, 0x5000, 101);
    write_exit(w, 1910);
    write_off_cpu(w, true, 1915, 50);
    write_exit(w, 2000);
    write_faults(w, 3);
    write_exit(w, 2100);
    write_exit(w, 3000);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 3000);
    write_thread_at(w, 1, 2, 101, SOURCE_PERF, 0, "second");
    begin_events(w, 1, 2, 0, 0, NULL, 0);
    write_enter(w, 0, EVICT);
    write_enter(w, 1890, UNLOCK);
    write_os(w);
    write_object(w, OBJECT_MUTEX, true, 0x5000, 0);
    write_exit(w, 1900);
    write_exit(w, 2500);
    end_events(w, true);
    write_thread_end(w, 1, 2, false, 2500);
    why_check(w, &slowest, &whole,
              "1+2 of 3, 0 cut\n"
              "handle;parse;pthread_mutex_lock blocked 800/0 mutex 0x5000; holder evict\n"
              "handle fault 100/0\n"
              "handle runnable 50/0\n"
              "handle;parse cpu 130/180\n"
              "handle;parse;pthread_mutex_lock cpu 10/0\n"
              "handle cpu 10/40");
}

/* Twenty usual calls of 100 ticks, each preempted for so many, and two slow ones. */
static struct writer *why_of_preempted(uint64_t usual, uint64_t longer, uint64_t slow)
{
    struct writer *w = why_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    for (uint64_t i = 0; i < 22; i++) {
        const uint64_t begin = 10000 * (i + 1), cpu = i % 11 == 5 ? longer : 100, off = i % 11 == 5 ? slow : usual;
        write_enter(w, begin, HANDLE);
        write_off_cpu(w, true, begin + 10, off);
        write_exit(w, begin + cpu + off);
    }
    write_exit(w, 300000);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 300000);
    return w;
}

/* Preempted time that grows as CPU time does comes after it, though it is longer. */
Test(unit_why, preempted_in_proportion)
{
    static const struct why_choice share = { .percent = 9 };
    why_check(why_of_preempted(300, 1000, 3000), &share, &whole,
              "2+20 of 22, 0 cut\nhandle cpu 2000/2000\nhandle runnable 6000/6000");
    why_check(why_of_preempted(300, 1000, 5700), &share, &whole, /* up to twice as much */
              "2+20 of 22, 0 cut\nhandle cpu 2000/2000\nhandle runnable 11400/6000");
    why_check(why_of_preempted(300, 1000, 5701), &share, &whole,
              "2+20 of 22, 0 cut\nhandle runnable 11402/6000\nhandle cpu 2000/2000");
    why_check(why_of_preempted(300, 100, 3000), &share, &whole, /* the same work */
              "2+20 of 22, 0 cut\nhandle runnable 6000/6000\nhandle cpu 200/2000");
}

/* A thread's counts may come before its events. */
Test(unit_why, a_thread_whose_first_chunk_has_no_events)
{
    struct writer *w = why_new();
    write_counts(w, 1, 1, 0, NULL, 0);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    why_write_handle(w, 100, 200);
    why_write_handle(w, 300, 420);
    why_write_handle(w, 500, 1000);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 1000);
    why_check(w, &slowest, &whole,
              "1+2 of 3, 0 cut\n"
              "handle;parse cpu 480/180\n"
              "handle cpu 20/40");
}

/* Calls of handle that have eight page faults each, of so many ticks a fault; `cheap` calls have faults of 5 us. Then a
 * call of 1 ms has one fault in 38 us, and one in 42 us. */
static void why_check_fault_limit(uint64_t cheap, uint64_t dear, uint64_t ticks, const char *expected)
{
    enum { FAULTS = 8, CHEAP = 5000, SLOW_CALL = 1000000 };
    struct writer *w = why_new();
    uint64_t now = 100;
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    for (uint64_t i = 0; i < cheap + dear; i++) {
        write_enter(w, now, HANDLE);
        write_faults(w, FAULTS);
        write_exit(w, now + FAULTS * (i < cheap ? CHEAP : ticks));
        now += SLOW_CALL;
    }
    write_enter(w, now, HANDLE);
    write_enter(w, now, PARSE);
    write_faults(w, 1);
    write_exit(w, now + 38000);
    write_enter(w, now + 38000, EVICT);
    write_faults(w, 1);
    write_exit(w, now + 80000);
    write_exit(w, now + SLOW_CALL);
    write_exit(w, now + 2 * SLOW_CALL);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, now + 2 * SLOW_CALL);
    why_check(w, &slowest, &whole, expected);
}

/* The cheapest tenth of the session's faults takes 5 us, so one of up to eight times that is a fault, and no work. */
Test(unit_why, fault_limit_from_the_session)
{
    why_check_fault_limit(20, 0, 0,
                          "1+20 of 21, 0 cut\n"
                          "handle cpu 920000/0\n"
                          "handle;evict cpu 42000/0\n"
                          "handle;parse fault 38000/0\n"
                          "handle fault 0/800000");
    why_check_fault_limit(2, 18, 15000,
                          "1+20 of 21, 0 cut\n"
                          "handle cpu 920000/0\n"
                          "handle;evict cpu 42000/0\n"
                          "handle;parse fault 38000/0\n"
                          "handle fault 0/2240000");
}

/* With too few intervals to measure faults, or if even the cheapest ones are no faults, the limit is 20 us. */
Test(unit_why, fault_limit_without_a_measure)
{
    why_check_fault_limit(19, 0, 0,
                          "1+19 of 20, 0 cut\n"
                          "handle cpu 920000/0\n"
                          "handle;evict cpu 42000/0\n"
                          "handle;parse cpu 38000/0\n"
                          "handle fault 0/760000");
    why_check_fault_limit(0, 20, 60000,
                          "1+20 of 21, 0 cut\n"
                          "handle cpu 920000/9600000\n"
                          "handle;evict cpu 42000/0\n"
                          "handle;parse cpu 38000/0");
}

/* A call of the function within another one is a part of that. */
Test(unit_why, recursion)
{
    struct writer *w = why_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    why_write_handle(w, 100, 200);
    write_enter(w, 300, HANDLE);
    why_write_handle(w, 310, 390);
    write_exit(w, 500);
    write_exit(w, 600);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 600);
    why_check(w, &slowest, &whole,
              "1+1 of 2, 0 cut\n"
              "handle cpu 120/20\n"
              "handle;handle;parse cpu 60/0\n"
              "handle;handle cpu 20/0\n"
              "handle;parse cpu 0/80");
}

/* Calls that the session has not as a whole are in no set: those open when it begins and ends, over a gap, at a change
 * of the stack, and those that ended in a pause. One that is set aside counts as cut when it ends. */
Test(unit_why, cut_calls)
{
    const struct open_call open[] = { { MAIN, 0 }, { HANDLE, 5 } };
    struct writer *w = why_new();
    begin_events(w, 1, 1, 3, 50, open, 2);
    write_exit(w, 90);
    why_write_handle(w, 100, 200);
    write_enter(w, 210, HANDLE);
    end_events(w, true);
    begin_events(w, 1, 1, 5, 300, open, 2);
    write_exit(w, 390);
    why_write_handle(w, 400, 550);
    write_enter(w, 560, HANDLE);
    write_pause(w, 570);
    write_resume(w, 600, 1);
    write_enter(w, 610, HANDLE);
    write_switch(w, 620, 1);
    write_open(w, HANDLE, 630);
    write_switch(w, 640, 2);
    write_exit(w, 650);
    write_enter(w, 700, HANDLE);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 800);
    why_check(w, &slowest, &whole,
              "1+1 of 2, 6 cut\n"
              "handle;parse cpu 130/80\n"
              "handle cpu 20/20");
}

/* A pause in a call is not of it. A call that is left without an exit ends where that is seen. */
Test(unit_why, pauses_and_frames_without_exit)
{
    struct writer *w = why_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_enter(w, 100, HANDLE);
    write_pause(w, 120);
    write_resume(w, 180, 0);
    write_exit(w, 200);
    write_enter(w, 300, HANDLE);
    write_enter(w, 310, PARSE);
    write_unwind(w, 2);
    write_enter(w, 400, EVICT);
    write_exit(w, 410);
    write_exit(w, 600);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 600);
    why_check(w, &slowest, &whole,
              "1+1 of 2, 0 cut\n"
              "handle;parse cpu 90/0\n"
              "handle cpu 10/40");
}

/* A call that goes on in the next chunk is whole. */
Test(unit_why, chunks)
{
    const struct open_call open[] = { { MAIN, 0 }, { HANDLE, 300 }, { PARSE, 310 } };
    struct writer *w = why_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    why_write_handle(w, 100, 200);
    write_enter(w, 300, HANDLE);
    write_enter(w, 310, PARSE);
    end_events(w, true);
    begin_events(w, 1, 1, 1, 310, open, 3);
    write_exit(w, 500);
    write_exit(w, 520);
    write_exit(w, 600);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 600);
    why_check(w, &slowest, &whole,
              "1+1 of 2, 0 cut\n"
              "handle;parse cpu 190/80\n"
              "handle cpu 30/20");
}

static struct writer *why_of_three(void)
{
    struct writer *w = why_new();
    write_probes(w, 1, 2 * 256, 3 * 256, 1 * 256);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    why_write_handle(w, 100, 200);
    why_write_handle(w, 300, 500);
    why_write_handle(w, 600, 900);
    write_exit(w, 1000);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 1000);
    return w;
}

/* What the probes take is a row: 2 ticks in each call, 3 in its caller, and 1 in a call that calls. */
Test(unit_why, probes)
{
    struct analysis_options raw = { .raw = true };
    why_check(why_of_three(), &slowest, &whole,
              "1+2 of 3, 0 cut\n"
              "handle;parse cpu 278/256\n"
              "handle cpu 14/28\n"
              "handle probe 8/16");
    why_check(why_of_three(), &slowest, &raw,
              "1+2 of 3, 0 cut\n"
              "handle;parse cpu 280/260\n"
              "handle cpu 20/40");
}

/* In a range of time, calls are those that end in it, and have their whole time. */
Test(unit_why, range)
{
    struct analysis_options range = { .raw = true };
    range.selection.from.given = range.selection.to.given = true;
    range.selection.from.ns = 400;
    range.selection.to.ns = 950;
    why_check(why_of_three(), &slowest, &range,
              "1+1 of 2, 0 cut\n"
              "handle;parse cpu 280/180\n"
              "handle cpu 20/20");
    range.selection.to.ns = 700;
    why_check(why_of_three(), &slowest, &range, "1+0 of 1, 0 cut");
}

static void why_check_sets(const struct why_choice *choice, const char *expected)
{
    struct analysis_options raw = { .raw = true };
    why_check(why_of_three(), choice, &raw, expected);
}

/* ---- what chance makes ---- */

static uint64_t why_random(uint64_t *state, uint64_t below)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (*state >> 33) % below;
}

/* Calls of four functions whose durations are random. `slow`: in each 100th call, one of them takes longer. */
struct why_random {
    const char *name;
    uint64_t calls;
    double percent; /* of slow calls */
    uint64_t (*time)(uint64_t *seed, uint64_t place, uint64_t speed);
    uint64_t (*speed)(uint64_t *seed); /* of a call */
    uint64_t longer;                   /* what the cause takes */
};

static uint64_t why_same_speed(uint64_t *seed)
{
    (void)seed;
    return 100;
}

/* Of a busy machine: most calls are fast, and few have half of the speed. In percent of the shortest time. */
static uint64_t why_any_speed(uint64_t *seed)
{
    uint64_t percent = 100;
    for (int i = 0; i < 4; i++)
        percent += why_random(seed, 3) == 0 ? why_random(seed, 25) : 0;
    return percent;
}

static uint64_t why_time_of_sums(uint64_t *seed, uint64_t place, uint64_t speed)
{
    (void)speed;
    return 100 * place + why_random(seed, 400) + why_random(seed, 400);
}

/* The longer a call is, the more its time varies. */
static uint64_t why_time_that_grows(uint64_t *seed, uint64_t place, uint64_t speed)
{
    const uint64_t time = 1000 * (place + 1) + why_random(seed, 4000);
    return time * speed / 100 + time * why_random(seed, 30) / 100;
}

/* One function works in rounds, of which there are 1 to 20. The others have one round each. */
static uint64_t why_time_of_rounds(uint64_t *seed, uint64_t place, uint64_t speed)
{
    uint64_t time = 0;
    for (uint64_t rounds = place == 1 ? 1 + why_random(seed, 20) : 1; rounds > 0; rounds--)
        time += 1000 * speed / 100 + why_random(seed, 30);
    return time;
}

/* Almost the same in all calls. */
static uint64_t why_time_that_is_even(uint64_t *seed, uint64_t place, uint64_t speed)
{
    return 1000 * (place + 1) * speed / 100 + why_random(seed, 20);
}

static const struct why_random why_randoms[] = {
    { "even", 200, 5, why_time_that_is_even, why_same_speed, 4000000 },
    { "even at any speed", 200, 5, why_time_that_is_even, why_any_speed, 4000000 },
    { "sums", 600, 1, why_time_of_sums, why_same_speed, 5000 },
    { "growing", 600, 1, why_time_that_grows, why_any_speed, 50000 },
    { "rounds", 200, 4, why_time_of_rounds, why_same_speed, 150000 },
    { "rounds at any speed", 200, 4, why_time_of_rounds, why_any_speed, 150000 },
};

static void why_write_random(struct writer *w, const struct why_random *r, uint64_t seed, uint64_t cause)
{
    static const uint64_t functions[] = { PARSE, EVICT, LOCK, UNLOCK };
    const uint64_t each = (uint64_t)(100 / r->percent);
    uint64_t now = 0;
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, now, MAIN);
    for (uint64_t i = 0; i < r->calls; i++) {
        const uint64_t speed = r->speed(&seed);
        write_enter(w, now += 10, HANDLE);
        for (uint64_t j = 0; j < 4; j++) {
            write_enter(w, now += 20, functions[j]);
            now += r->time(&seed, j, speed);
            write_exit(w, now += functions[j] == cause && i % each == each / 2 ? r->longer : 0);
        }
        write_exit(w, now += 50);
    }
    write_exit(w, now += 10);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, now);
}

/* Returns the number of sessions in which a line was found; the first one must be that of the cause. That share of the
 * calls with the cause is chosen as slow, and the others are usual ones. */
static size_t why_count_found(const struct why_random *r, double share, uint64_t cause, const char *path)
{
    enum { SESSIONS = 100 };
    size_t found = 0;
    for (uint64_t i = 0; i < SESSIONS; i++) {
        struct writer *w = why_new();
        struct analysis analysis;
        struct why why;
        struct error error = { NULL };
        const struct why_choice choice = { .percent = r->percent * share };
        why_write_random(w, r, i, cause);
        writer_save(w, test_path("random"));
        writer_free(w);
        load_whole(&analysis, test_path("random"), 1);
        cr_assert(why_find(&why, &analysis, why_find_handle(&analysis), &choice, &error));
        why_check_sums(&why);
        found += why.found && (!path || strcmp(why.lines[0].path, path) == 0);
        why_drop(&why);
        analysis_drop(&analysis);
    }
    return found;
}

/* Random work has slow calls, too: nothing separates them from the others. */
Test(unit_why, random_work, .timeout = 600)
{
    for (size_t i = 0; i < sizeof why_randoms / sizeof *why_randoms; i++)
        cr_expect(le(sz, why_count_found(&why_randoms[i], 1, 0, NULL), 5), "%s", why_randoms[i].name);
}

Test(unit_why, cause_in_random_work, .timeout = 600)
{
    for (size_t i = 0; i < sizeof why_randoms / sizeof *why_randoms; i++)
        cr_expect(eq(sz, why_count_found(&why_randoms[i], 1, EVICT, "handle;evict"), 100), "%s", why_randoms[i].name);
}

Test(unit_why, cause_in_usual_calls_too, .timeout = 600)
{
    static const double share = 0.8;
    for (size_t i = 0; i < sizeof why_randoms / sizeof *why_randoms; i++)
        cr_expect(eq(sz, why_count_found(&why_randoms[i], share, EVICT, "handle;evict"), 100), "%s",
                  why_randoms[i].name);
}

/* ---- sets ---- */

/* Which calls are slow, and which ones are usual. */
Test(unit_why, sets)
{
    why_check_sets(&(struct why_choice){ .slow = WHY_SHARE, .percent = 50 },
                   "2+1 of 3, 0 cut\nhandle;parse cpu 460/80\nhandle cpu 40/20");
    why_check_sets(&(struct why_choice){ .slow = WHY_ABOVE, .number = 199 },
                   "2+1 of 3, 0 cut\nhandle;parse cpu 460/80\nhandle cpu 40/20");
    why_check_sets(&(struct why_choice){ .slow = WHY_ABOVE, .number = 200 },
                   "1+2 of 3, 0 cut\nhandle;parse cpu 280/260\nhandle cpu 20/40");
    why_check_sets(&(struct why_choice){ .slow = WHY_PERCENTILE, .percent = 50 },
                   "1+2 of 3, 0 cut\nhandle;parse cpu 280/260\nhandle cpu 20/40");
    why_check_sets(&(struct why_choice){ .slow = WHY_MOMENT, .number = 350 },
                   "1+2 of 3, 0 cut\nhandle cpu 20/40\nhandle;parse cpu 180/360");
    why_check_sets(&(struct why_choice){ .slow = WHY_RANK, .number = 3 },
                   "1+2 of 3, 0 cut\nhandle;parse cpu 80/460\nhandle cpu 20/40");
    why_check_sets(&(struct why_choice){ .slow = WHY_SHARE, .percent = 1, .between = true, .from = 0, .to = 34 },
                   "1+2 of 3, 0 cut\nhandle;parse cpu 280/260\nhandle cpu 20/40");
    why_check_sets(&(struct why_choice){ .slow = WHY_SHARE, .percent = 1, .between = true, .from = 0, .to = 33 },
                   "1+1 of 3, 0 cut\nhandle;parse cpu 280/80\nhandle cpu 20/20");
    why_check_sets(&(struct why_choice){ .slow = WHY_RANK, .number = 4 },
                   "there are only 3 calls of the function that were recorded as a whole");
    why_check_sets(&(struct why_choice){ .slow = WHY_MOMENT, .number = 250 },
                   "no call of the function that was recorded as a whole was open at that time");
}
