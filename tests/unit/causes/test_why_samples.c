/* CPU time of slow and usual calls is divided by stack samples among functions whose calls are not in the session: to
 * the tick, with an interval, and only by samples of these calls. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "causes/why.h"
#include "support/sampled_session.h"

enum { USUAL = 20, APART = 1000000, LENGTH = 1000, SLOW_LENGTH = 100003, LEVEL = 22, COUNTED = 1 };

/* A call of f with one of g, which begins 100 ticks after it and takes so many. */
static void samples_call(struct writer *w, uint64_t begin, uint64_t in_g, uint64_t length)
{
    write_enter(w, begin, F);
    write_enter(w, begin + 100, G);
    write_exit(w, begin + 100 + in_g);
    write_exit(w, begin + length);
}

/* When a call begins. The slow ones are behind the usual ones. */
static uint64_t samples_begin_of(unsigned call)
{
    return (uint64_t)APART * (call + 1);
}

static uint64_t samples_end(void)
{
    return samples_begin_of(USUAL + 4);
}

/* Twenty usual calls, and so many slow ones. */
static struct writer *samples_new(unsigned slow)
{
    struct writer *w = writer_new();
    sampling_write_modules(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, 0x4000);
    for (unsigned i = 0; i < USUAL + slow; i++)
        samples_call(w, samples_begin_of(i), 50, i < USUAL ? LENGTH : SLOW_LENGTH);
    write_exit(w, samples_end());
    end_events(w, true);
    write_thread_end(w, 1, 1, false, samples_end());
    begin_samples(w, 1, 1, 70, 71, 0);
    return w;
}

/* So many samples in a function, one after the other. */
static void samples_write(struct writer *w, uint64_t begin, unsigned count, uint64_t address)
{
    for (unsigned i = 0; i < count; i++)
        sampling_write(w, begin + i, address);
}

/* Of each usual call, one in f itself and one in copy. */
static void samples_write_usual(struct writer *w)
{
    for (unsigned i = 0; i < USUAL; i++) {
        samples_write(w, samples_begin_of(i) + 300, 1, F + 8);
        samples_write(w, samples_begin_of(i) + 400, 1, COPY + 5);
    }
}

static uint32_t samples_find_f(const struct analysis *analysis)
{
    for (uint32_t i = 0; i < analysis->profile->function_count; i++)
        if (strcmp(analysis->names[i].name, "f") == 0)
            return i;
    cr_assert(false, "no f");
    return PROFILE_NONE;
}

static const struct why_line *samples_line(const struct why *why, const char *path)
{
    for (size_t i = 0; i < why->line_count; i++)
        if (strcmp(why->lines[i].path, path) == 0 && why->lines[i].kind == WHY_CPU)
            return &why->lines[i];
    cr_assert(false, "no line %s", path);
    return NULL;
}

/* Lines are "PATH SLOW/USUAL", in ticks of all calls; ~ says that they are estimates. They add up to the sets. */
static char *samples_text(const struct why *why)
{
    char *text;
    size_t length;
    uint64_t ticks[WHY_SETS] = { 0 }, ns[WHY_SETS] = { 0 };
    FILE *out = need_stream(&text, &length);
    for (size_t i = 0; i < why->line_count; i++) {
        const struct why_line *line = &why->lines[i];
        fprintf(out, "%s%s%s %" PRIu64 "/%" PRIu64, i ? "\n" : "", line->estimated ? "~" : "",
                line->kind == WHY_PROBE ? "probes" : line->path, line->ticks[WHY_SLOW], line->ticks[WHY_USUAL]);
        for (int set = 0; set < WHY_SETS; set++) {
            ticks[set] += line->ticks[set];
            ns[set] += line->ns[set];
        }
    }
    for (int set = 0; set < WHY_SETS; set++) {
        cr_assert(eq(u64, ticks[set], why->sets[set].ticks));
        cr_assert(eq(u64, ns[set], why->sets[set].ns));
    }
    need_stream_end(out);
    return text;
}

/* Compares so many calls with the usual ones, by one worker and by several. */
static void samples_check(struct writer *w, unsigned slow, const char *expected, void (*check)(const struct why *why))
{
    const struct why_choice choice = { .percent = 100.0 * slow / (slow + USUAL) };
    end_samples(w, true);
    writer_save(w, test_path("why-samples"));
    writer_free(w);
    for (unsigned jobs = 1; jobs <= 3; jobs += 2) {
        struct analysis analysis;
        struct why why;
        load_with(&analysis, test_path("why-samples"), &(struct analysis_options){ .jobs = jobs });
        cr_assert(why_find(&why, &analysis, samples_find_f(&analysis), &choice, NULL));
        char *text = samples_text(&why);
        cr_assert(eq(str, text, (char *)expected));
        free(text);
        if (check)
            check(&why);
        why_drop(&why);
        analysis_drop(&analysis);
    }
}

/* Of 99,953 ticks, 20, 50 and 30 samples of 100 have whole ticks. So have halves of 19,000. What was recorded has its
 * own time, and samples in it are its own. */
Test(unit_why_samples, sums_are_exact)
{
    struct writer *w = samples_new(1);
    samples_write_usual(w);
    const uint64_t begin = samples_begin_of(USUAL);
    samples_write(w, begin + 120, 10, G + 4); /* in g, whose calls are recorded */
    samples_write(w, begin + 1000, 20, F + 8);
    samples_write(w, begin + 2000, 50, PLAIN + 1); /* of the program, without a call that was recorded */
    samples_write(w, begin + 3000, 30, COPY + 5);  /* of a library */
    samples_check(w, 1, "~f;plain 49977/0\n~f;copy 29986/9500\n~f 19990/9500\nf;g 50/1000", NULL);
}

static void samples_check_interval(const struct why *why)
{
    const struct why_line *plain = samples_line(why, "f;plain"), *g = samples_line(why, "f;g");
    /* Wilson's interval for 50 of 100 is 0.5 +- 0.096168, for none of 40 it is up to 0.087624. The calls of a set are
     * equal. */
    cr_assert(eq(i64, llround(plain->error[WHY_SLOW]), 9612)); /* of 99,953 ns */
    cr_assert(eq(i64, llround(plain->error[WHY_USUAL]), 83));  /* of 950 ns */
    cr_assert(eq(i64, llround(plain->ci95), 9613));            /* the squares add up */
    cr_assert(eq(dbl, g->error[WHY_SLOW], 0));
    cr_assert(eq(dbl, g->ci95, 0));
    cr_assert(plain->uncounted);
    cr_assert(not(samples_line(why, "f")->uncounted));
    cr_assert(eq(u64, samples_line(why, "f")->count[WHY_SLOW], 2));
}

/* Two slow calls have 100 samples together. */
Test(unit_why_samples, estimates_have_an_interval)
{
    struct writer *w = samples_new(2);
    samples_write_usual(w);
    for (unsigned i = 0; i < 2; i++) {
        samples_write(w, samples_begin_of(USUAL + i) + 1000, 10, F + 8);
        samples_write(w, samples_begin_of(USUAL + i) + 2000, 25, PLAIN + 1);
        samples_write(w, samples_begin_of(USUAL + i) + 3000, 15, COPY + 5);
    }
    samples_check(w, 2, "~f;plain 99953/0\n~f;copy 59972/9500\n~f 39981/9500\nf;g 100/1000", samples_check_interval);
}

/* Without 30 samples, a row stays whole. A set with few of them is divided as the other one only if it has little time.
 */
Test(unit_why_samples, too_few_samples_divide_nothing)
{
    samples_check(samples_new(1), 1, "f 99953/19000\nf;g 50/1000", NULL);
    struct writer *w = samples_new(1);
    samples_write(w, samples_begin_of(USUAL) + 2000, 29, PLAIN + 1);
    samples_check(w, 1, "f 99953/19000\nf;g 50/1000", NULL);
    w = samples_new(1);
    samples_write(w, samples_begin_of(USUAL) + 2000, 30, PLAIN + 1);
    samples_check(w, 1, "~f;plain 99953/19000\nf;g 50/1000", NULL);
    w = samples_new(1);
    samples_write_usual(w);
    samples_write(w, samples_begin_of(USUAL) + 2000, 29, PLAIN + 1);
    samples_check(w, 1, "f 99953/19000\nf;g 50/1000", NULL);
    w = samples_new(1); /* all in the row's own code: it is measured */
    samples_write(w, samples_begin_of(USUAL) + 2000, 50, F + 8);
    samples_check(w, 1, "f 99953/19000\nf;g 50/1000", NULL);
}

/* Samples outside of the calls, and of the runtime, say nothing of them. */
Test(unit_why_samples, samples_outside_of_the_calls_do_not_count)
{
    struct writer *w = samples_new(1);
    const uint64_t begin = samples_begin_of(USUAL);
    samples_write(w, 500, 100, COPY + 5);
    samples_write_usual(w);
    samples_write(w, begin - 50, 50, PLAIN + 1); /* up to the enter */
    samples_write(w, begin + 1000, 50, F + 8);
    samples_write(w, begin + 2000, 50, COPY + 5);
    samples_write(w, begin + 3000, 100, PROBE + 7);
    samples_write(w, begin + SLOW_LENGTH, 100, PLAIN + 1); /* from the exit on */
    samples_check(w, 1, "~f;copy 49977/9500\n~f 49976/9500\nf;g 50/1000", NULL);
}

static void samples_check_found(const struct why *why)
{
    cr_assert(eq(sz, why->found, 1));
    cr_assert(samples_line(why, "f")->found);
}

/* The row separates the sets, and none of forty functions with a sample each does. So it is named as a whole. */
Test(unit_why_samples, a_named_row_is_not_divided_into_unnamed_ones)
{
    enum { MANY = 40, FIRST = 0x5000, APART_BY = 16 };
    struct writer *w = samples_new(3);
    for (unsigned i = 0; i < MANY; i++)
        samples_write(w, samples_begin_of(USUAL + i % 3) + 1000 + i, 1, FIRST + i * APART_BY + 1);
    end_samples(w, true);
    for (unsigned i = 0; i < MANY; i++) {
        char name[16];
        snprintf(name, sizeof name, "h%u", i);
        write_symbol(w, 1, 0, 0, FIRST + i * APART_BY, name);
    }
    begin_samples(w, 1, 1, 70, 71, 0);
    samples_check(w, 3, "f 299859/19000\nf;g 150/1000", samples_check_found);
}

static void samples_check_cost(const struct why *why)
{
    cr_assert(eq(sz, why->found, 1));
    cr_assert(eq(i32, (int)why->lines[0].kind, WHY_PROBE));
}

/* A sample stops its thread for 500 ns, which are time of the recording. That is all that three calls take longer. */
Test(unit_why_samples, what_samples_cost)
{
    enum { COST = 500, SLOW = 3 };
    struct writer *w = writer_new();
    sampling_write_modules(w);
    write_header(w, 252, COST, 4);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, 0x4000);
    for (unsigned i = 0; i < USUAL + SLOW; i++)
        samples_call(w, samples_begin_of(i), 50, i < USUAL ? LENGTH + i : LENGTH + COST);
    write_exit(w, samples_end());
    end_events(w, true);
    write_thread_end(w, 1, 1, false, samples_end());
    begin_samples(w, 1, 1, 70, 71, 0);
    for (unsigned i = USUAL; i < USUAL + SLOW; i++)
        sampling_write(w, samples_begin_of(i) + 500, F + 8);
    samples_check(w, SLOW, "probes 1500/0\nf;g 150/1000\nf 2850/19190", samples_check_cost);
}

/* g is counted from the slow call on. The time that it was recorded with and that of its samples are one row. */
Test(unit_why_samples, a_function_that_was_recorded_at_first)
{
    const uint64_t begin = samples_begin_of(USUAL), counted[] = { begin - 10, G, COUNTED };
    struct writer *w = writer_new();
    sampling_write_modules(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, 0x4000);
    for (unsigned i = 0; i < USUAL; i++)
        samples_call(w, samples_begin_of(i), 850, LENGTH);
    write_enter(w, begin, F);
    write_exit(w, begin + 100000);
    write_exit(w, samples_end());
    end_events(w, true);
    write_thread_end(w, 1, 1, false, samples_end());
    write_record(w, 1, LEVEL, counted, sizeof counted);
    begin_samples(w, 1, 1, 70, 71, 0);
    for (unsigned i = 0; i < USUAL; i++)
        samples_write(w, samples_begin_of(i) + 960, 2, F + 8);
    samples_write(w, begin + 1000, 10, F + 8);
    samples_write(w, begin + 2000, 90, G + 8);
    samples_check(w, 1, "~f;g 90000/17000\n~f 10000/3000", NULL);
}

/* ---- several sessions ---- */

static void samples_load(struct analysis *analysis, struct why_session *session, const char *name)
{
    load_with(analysis, test_path(name), &(struct analysis_options){ .jobs = 1 });
    *session = (struct why_session){ .analysis = analysis, .function = samples_find_f(analysis) };
}

/* Twenty samples of the slow call of a session are too few to divide its time. Forty of both are not. A half of them is
 * in plain, which one session has three quarters of, and the other one has a quarter of. */
Test(unit_why_samples, sessions_are_pooled)
{
    static const char *const names[] = { "pooled-1", "pooled-2" };
    struct analysis loaded[2];
    struct why_session sessions[2];
    struct why why;
    struct error error = { NULL };
    for (unsigned i = 0; i < 2; i++) {
        struct writer *w = samples_new(1);
        samples_write_usual(w);
        samples_write(w, samples_begin_of(USUAL) + 1000, i ? 5 : 15, PLAIN + 1);
        samples_write(w, samples_begin_of(USUAL) + 3000, i ? 15 : 5, i ? COPY + 5 : F + 8);
        end_samples(w, true);
        writer_save(w, test_path(names[i]));
        writer_free(w);
        samples_load(&loaded[i], &sessions[i], names[i]);
        cr_assert(
            why_find_several(&why, &sessions[i], 1, &(struct why_choice){ .slow = WHY_RANK, .number = 1 }, &error));
        char *text = samples_text(&why);
        cr_assert(eq(str, text, "f 99953/19000\nf;g 50/1000"));
        free(text);
        why_drop(&why);
    }
    cr_assert(
        why_find_several(&why, sessions, 2, &(struct why_choice){ .percent = 100.0 * 2 / (2 + 2 * USUAL) }, &error));
    char *text = samples_text(&why);
    cr_assert(eq(str, text, "~f;plain 99953/0\n~f;copy 74965/19000\n~f 24988/19000\nf;g 100/2000"));
    free(text);
    why_drop(&why);
    for (unsigned i = 0; i < 2; i++)
        analysis_drop(&loaded[i]);
}
