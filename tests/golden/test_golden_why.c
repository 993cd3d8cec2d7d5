/* dwell why, byte for byte, on a hand-written session: 200 calls, of which three wait for a lock that is held by
 * another thread, and one parses far more. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/session_writer.h"
#include "support/viewed.h"

enum {
    US = 1000,
    CALLS = 200,
    MAIN = 0x401000,
    HANDLE = 0x401100,
    PARSE = 0x401200,
    ITEM = 0x401300,
    LOOKUP = 0x401400,
    SHRINK = 0x401500,
    EVICT = 0x401600,
    LOCK = 0x801000,
    UNLOCK = 0x801100,
    SLEEP = 0x801200,
    ALSO = 176,
    CAUSES = 2
};

static void why_write_names(struct writer *w)
{
    static const char *const program[] = { "main", "handle", "parse", "parse_item", "lookup", "shrink", "evict" };
    static const char *const libc[] = { "pthread_mutex_lock", "pthread_mutex_unlock", "nanosleep" };
    write_symbol_module(w, 0, "/bin/program");
    write_symbol_module(w, 1, "/lib/libc.so.6");
    for (uint64_t i = 0; i < sizeof program / sizeof *program; i++)
        write_symbol(w, 0, 0, 0, 0x1000 + i * 0x100, program[i]);
    for (uint64_t i = 0; i < sizeof libc / sizeof *libc; i++)
        write_symbol(w, 1, 0, 0, 0x1000 + i * 0x100, libc[i]);
}

/* Every 70th call waits for the lock until the other thread lets it go. */
static bool why_waits(uint64_t call)
{
    return call % 70 == 30;
}

static uint64_t why_begin_of(uint64_t call)
{
    return (1000 + call * 10000) * US;
}

enum why_session { SLOW, EQUAL, MARKED };

static void why_write_handle(struct writer *w, uint64_t call, enum why_session session)
{
    uint64_t now = why_begin_of(call), items = session != EQUAL && call == 150 ? 28 : 2;
    write_enter(w, now, HANDLE);
    if (session == MARKED)
        write_mark(w, now, now, 1, why_waits(call) ? "large order" : "order");
    write_enter(w, now += US, PARSE);
    for (uint64_t i = 0; i < items; i++) {
        write_enter(w, now += US, ITEM);
        write_exit(w, now += (10 + (call * 7 + i) % 5) * US);
    }
    write_exit(w, now += US);
    write_enter(w, now += US, LOOKUP);
    if (session != EQUAL && why_waits(call)) {
        write_enter(w, now += US, LOCK);
        write_off_cpu(w, false, now + US, 6000 * US);
        write_object(w, OBJECT_MUTEX, false, 0x5000, 101);
        write_exit(w, now += 6002 * US);
        write_off_cpu(w, true, now + US, 300 * US);
    }
    write_exit(w, now += 320 * US);
    write_exit(w, now += US);
}

static void why_write_evict(struct writer *w, uint64_t call)
{
    const uint64_t begin = why_begin_of(call) - 100 * US;
    write_enter(w, begin, SHRINK);
    write_enter(w, begin + US, EVICT);
    write_enter(w, begin + 6000 * US, UNLOCK);
    write_os(w);
    write_object(w, OBJECT_MUTEX, true, 0x5000, 0);
    write_exit(w, begin + 6001 * US);
    write_exit(w, begin + 6300 * US);
    write_exit(w, begin + 6301 * US);
}

/* EQUAL: all calls do the same. MARKED: each has a mark. */
static void why_save(const char *name, enum why_session session)
{
    const uint64_t end = why_begin_of(CALLS);
    struct writer *w = writer_new();
    write_header(w, ALSO, CAUSES, 4);
    write_process(w, 1, 100, "/bin/program");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/program");
    write_module(w, 1, 2, 0x800000, 0x801000, 0x802000, 0, "/lib/libc.so.6");
    write_thread_at(w, 1, 1, 100, SOURCE_PERF, 0, "server");
    write_thread_at(w, 1, 2, 101, SOURCE_PERF, 0, "cleaner");
    why_write_names(w);
    begin_events(w, 1, 1, 0, 10 * US, NULL, 0);
    write_enter(w, 10 * US, MAIN);
    for (uint64_t i = 0; i < CALLS; i++)
        why_write_handle(w, i, session);
    write_exit(w, end);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, end);
    begin_events(w, 1, 2, 0, 10 * US, NULL, 0);
    for (uint64_t i = 0; i < CALLS; i++)
        if (why_waits(i))
            why_write_evict(w, i);
    end_events(w, true);
    write_thread_end(w, 1, 2, false, end);
    writer_save(w, test_path(name));
    writer_free(w);
}

Test(golden_why, formats)
{
    why_save("slow", SLOW);
    check_golden("why handle slow", "why.txt");
    check_golden("why handle slow --interval", "why-interval.txt");
    check_golden("why handle slow --format csv", "why.csv");
    check_golden("why handle slow --format json", "why.json");
}

Test(golden_why, sets)
{
    why_save("slow", SLOW);
    check_golden("why handle slow --slow '>5ms' --against p25-p75 -n 2", "why-above.txt");
    check_golden("why handle slow --slow p98", "why-percentile.txt");
    check_golden("why handle slow --call 4", "why-rank.txt");
    check_golden("why handle slow --call 1501.1ms", "why-moment.txt");
    check_golden("why handle slow --from 1s --to 2s --slow 2% --columns difference,what,where", "why-range.txt");
}

Test(golden_why, factors)
{
    why_save("marked", MARKED);
    check_golden("why handle marked -n 1", "why-factors.txt");
    check_golden("why handle marked --factors", "why-factors-alone.txt");
    check_golden("why handle marked --factors --format csv", "why-factors.csv");
    check_golden("why handle marked --format json --factors", "why-factors.json");
}

Test(golden_why, nothing_separates_them)
{
    why_save("equal", EQUAL);
    check_golden("why handle equal", "why-nothing.txt");
    check_golden("why handle equal --call 1", "why-mostly.txt");
    check_golden("why handle equal --slow '>1s'", "why-none-slow.txt");
    check_golden("why main equal --format json", "why-one-call.json");
}

/* A session in which handle was not called. */
static void why_save_other(const char *name)
{
    struct writer *w = writer_new();
    write_header(w, ALSO, CAUSES, 4);
    write_process(w, 1, 100, "/bin/program");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/program");
    write_thread_at(w, 1, 1, 100, SOURCE_PERF, 0, "server");
    why_write_names(w);
    begin_events(w, 1, 1, 0, 10 * US, NULL, 0);
    write_enter(w, 10 * US, MAIN);
    write_exit(w, 20 * US);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, 20 * US);
    writer_save(w, test_path(name));
    writer_free(w);
}

/* The calls of all sessions are compared as one. */
Test(golden_why, several_sessions)
{
    why_save("slow", SLOW);
    why_save("equal", EQUAL);
    why_save_other("other");
    check_golden("why handle slow equal", "why-several.txt");
    check_golden("why handle slow equal slow --format json", "why-several.json");
    check_golden("why handle slow equal --call 1", "why-several-rank.txt");
    check_golden("why handle slow other -n 1", "why-without-calls.txt");
}

/* Thousands of times as many are no power of ten. */
Test(golden_why, rare_causes)
{
    static const char *const equal[] = { "b", "c", "d", "e", "f", "g", "h", "i", "j", "k" };
    why_save("slow", SLOW);
    for (size_t i = 0; i < sizeof equal / sizeof *equal; i++)
        why_save(equal[i], EQUAL);
    check_golden("why handle slow b c d e f g h i j k --call 1 -n 1", "why-rare.txt");
}

/* A call of so many milliseconds in parse, which calls parse_item and lookup. These have no events, but samples. */
static void why_write_sampled(struct writer *w, uint64_t begin, uint64_t ms)
{
    enum { EACH = 100 * US, IN_LOOKUP = 5 };
    for (uint64_t i = 0; i < 10 * ms; i++) {
        const uint64_t address = i < IN_LOOKUP ? PARSE : i < 10 * ms - IN_LOOKUP || ms == 1 ? ITEM : LOOKUP;
        write_sample(w, &(struct written_sample){ begin + 2 * US + i * EACH, &address, NULL, 1, 0 });
    }
}

/* Each 20th call takes 8 ms, the others one. A sample is taken each 100 us. */
static void why_save_sampled(const char *name)
{
    const uint64_t end = why_begin_of(CALLS);
    struct writer *w = writer_new();
    write_header(w, ALSO, CAUSES, 4);
    write_header(w, 240, 100 * US, 4);
    write_process(w, 1, 100, "/bin/program");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/program");
    write_thread_at(w, 1, 1, 100, SOURCE_PERF, 0, "server");
    why_write_names(w);
    begin_events(w, 1, 1, 0, 10 * US, NULL, 0);
    write_enter(w, 10 * US, MAIN);
    for (uint64_t i = 0; i < CALLS; i++) {
        const uint64_t begin = why_begin_of(i), taken = (i % 20 == 10 ? 8000 : 1000) * US;
        write_enter(w, begin, HANDLE);
        write_enter(w, begin + US, PARSE);
        write_exit(w, begin + US + taken);
        write_exit(w, begin + 2 * US + taken);
    }
    write_exit(w, end);
    end_events(w, true);
    write_thread_end(w, 1, 1, false, end);
    begin_samples(w, 1, 1, 100, 100, 0);
    for (uint64_t i = 0; i < CALLS; i++)
        why_write_sampled(w, why_begin_of(i), i % 20 == 10 ? 8 : 1);
    end_samples(w, true);
    writer_save(w, test_path(name));
    writer_free(w);
}

/* Functions without recorded calls have rows by samples, which text marks. */
Test(golden_why, samples)
{
    why_save_sampled("sampled");
    check_golden("why handle sampled --slow 5%", "why-samples.txt");
    check_golden("why handle sampled --slow 5% --interval", "why-samples-interval.txt");
    check_golden("why handle sampled --slow 5% --format csv", "why-samples.csv");
    check_golden("why handle sampled --slow 5% --format json", "why-samples.json");
}

/* On a terminal, sentences break between words. Nothing is wider than it. */
Test(golden_why, narrow_terminals)
{
    why_save("slow", SLOW);
    static const char *const commands[] = { "why handle slow", "slowest handle slow",
                                            "slowest handle slow --value application_exclusive",
                                            "why handle slow --interval" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char name[32];
        snprintf(name, sizeof name, "why-narrow-%zu.txt", i + 1);
        char *text = run_well("DWELL_PAGER= TERM=dumb LC_ALL=C.UTF-8 script -qec \"stty cols 80; $DWELL %s\" /dev/null "
                              "</dev/null | tr -d '\\r' | sed 's/ *$//'",
                              commands[i]);
        check_text(text, name);
        free(text);
    }
}

/* ---- the page ---- */

static struct json_object *why_said(const char *function)
{
    char *text = run_well("$DWELL why %s slow --format json", function);
    struct json_object *said = json_tokener_parse(text);
    cr_assert(said != NULL);
    free(text);
    return said;
}

/* The objects of the page have all that dwell why has, and more for people. */
static void why_check_objects(struct json_object *page, struct json_object *said)
{
    cr_assert(eq(sz, json_object_array_length(page), json_object_array_length(said)));
    for (size_t i = 0; i < json_object_array_length(said); i++) {
        json_object_object_foreach(json_object_array_get_idx(said, i), key, value)
        {
            cr_assert(json_object_equal(value, viewed_get(json_object_array_get_idx(page, i), key)), "%s", key);
        }
    }
}

static void why_check_function(struct json_object *page, const char *name)
{
    static const char *const members[] = { "calls", "slow", "usual", "difference_ns", "answer" };
    struct json_object *said = why_said(name);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        cr_assert(json_object_equal(viewed_get(page, members[i]), viewed_get(said, members[i])), "%s", members[i]);
    why_check_objects(viewed_get(page, "rows"), viewed_get(said, "rows"));
    why_check_objects(viewed_get(page, "factors"), viewed_get(said, "factors"));
    json_object_put(said);
}

/* The page explains what dwell why does of the functions with most time, and has the durations of both sets. */
Test(golden_why, page)
{
    static const char *const names[] = { "handle", "lookup", "parse", "parse_item" };
    why_save("slow", MARKED);
    free(run_well("$DWELL view --no-open -o page.html slow"));
    struct viewed_page page = viewed_page(test_path("page.html"));
    struct json_object *header = viewed_session(&page, 0)->header, *facts = viewed_get(header, "why");
    cr_assert(eq(str, (char *)viewed_text(facts, "file"), "slow"));
    const struct viewed *block = viewed_block(&page, 0, (unsigned)json_object_get_int(viewed_get(facts, "block")));
    struct json_object *functions = viewed_get(block->header, "functions"), *ranks = viewed_get(facts, "functions");
    cr_assert(eq(sz, json_object_array_length(functions), 4));
    cr_assert(eq(sz, json_object_array_length(ranks), 4));
    for (size_t i = 0; i < 4; i++) {
        struct json_object *one = json_object_array_get_idx(functions, i);
        const size_t rank = (size_t)json_object_get_int(viewed_get(one, "function"));
        cr_assert(eq(sz, (size_t)json_object_get_int(json_object_array_get_idx(ranks, i)), rank));
        cr_assert(eq(str, (char *)viewed_text(json_object_array_get_idx(viewed_get(header, "functions"), rank), "name"),
                     (char *)names[i]));
        why_check_function(one, names[i]);
    }
    double calls[2] = { 0, 0 };
    size_t last = 0;
    for (size_t i = 0; i < viewed_rows(block, "durations"); i++)
        if (viewed_number(block, "durations", "function", i) == 0) {
            calls[0] += viewed_number(block, "durations", "slow", i);
            calls[1] += viewed_number(block, "durations", "usual", i);
            last = i;
        }
    cr_assert(eq(dbl, calls[0], 3));
    cr_assert(eq(dbl, calls[1], 197));
    const double slowest = viewed_number(block, "durations", "ns", last);
    cr_assert(slowest > 6350000 * 0.995 && slowest < 6350000 * 1.005, "%f", slowest);
    cr_assert(eq(dbl, viewed_number(block, "durations", "slow", last), 3));
    viewed_page_drop(&page);
}

/* A page without details explains nothing, and one of sums has no single calls. */
Test(golden_why, page_without_details)
{
    why_save("slow", SLOW);
    free(run_well("$DWELL view --no-open --detail 0 -o page.html slow"));
    struct viewed_page page = viewed_page(test_path("page.html"));
    struct json_object *facts = viewed_get(viewed_session(&page, 0)->header, "why");
    cr_assert(eq(sz, json_object_array_length(viewed_get(facts, "functions")), 0));
    cr_assert(viewed_get(facts, "block") == NULL);
    viewed_page_drop(&page);
    free(run_well("$DWELL profile slow -o sums && $DWELL view --no-open -o page.html sums"));
    page = viewed_page(test_path("page.html"));
    cr_assert(viewed_get(viewed_session(&page, 0)->header, "why") == NULL);
    viewed_page_drop(&page);
}

static void why_refuses(const char *arguments, const char *said)
{
    struct ran r = run("$DWELL why %s", arguments);
    cr_assert(eq(int, r.status, 2));
    cr_assert(eq(str, r.err, (char *)said));
    ran_drop(&r);
}

Test(golden_why, errors)
{
    why_save("slow", SLOW);
    why_save("equal", EQUAL);
    why_refuses("handle slow --slow 20ms",
                "dwell: --slow: '20ms' is no share such as 1%, time such as '>20ms', or percentile such as p99\n");
    why_refuses("handle slow --slow p101",
                "dwell: --slow: 'p101' is no share such as 1%, time such as '>20ms', or percentile such as p99\n");
    why_refuses("handle slow --against p75-p25",
                "dwell: --against: 'p75-p25' is neither rest nor a range such as p25-p75\n");
    why_refuses("handle slow --call 0",
                "dwell: --call: '0' is neither a number such as 1, the slowest, nor a time such as 1.5s\n");
    why_refuses("handle slow --call 201",
                "dwell: slow: there are only 200 calls of the function that were recorded as a whole\n");
    why_refuses("main slow --call 2",
                "dwell: slow: there is only 1 call of the function that was recorded as a whole\n");
    why_refuses("handle slow equal --call 1s",
                "dwell: --call: a time is of one session; of several, --call 1 is the slowest call\n");
    why_refuses("handle slow equal --from 1s",
                "dwell: --from, --to, --thread, --process and --root take one session at a time\n");
}
