/* Durations of calls in sums: those of the recorded session, however it was split; and rows that no writer makes. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "profile/durations.h"
#include "sums/sums.h"
#include "support/load.h"
#include "support/sampled_session.h"
#include "support/scenario.h"
#include "support/timed_session.h"
#include "tables/percentiles.h"
#include "tables/views.h"

TestSuite(unit_sums_durations, .timeout = 120);

_Static_assert((int)F == (int)TIMED_SESSION_FUNCTION, "sessions of both kinds have it");

enum { TICK = 256, THREADS = TIMED_SESSION_THREADS };

static void durations_profile(const char *path, uint32_t number, uint32_t count, const char *into)
{
    struct error error = { NULL };
    struct sums *sums = sums_new();
    cr_assert(sums_add_recorded(sums, path, (struct sums_shard){ number, count }, 1 + number, &error), "%s",
              error.text);
    cr_assert(sums_write(sums, into) == NULL);
    sums_free(sums);
}

/* Adds files in the order of the list. Returns the error, or NULL. */
static char *durations_merge_files(const char *const *paths, const size_t *order, size_t count, const char *into)
{
    struct error error = { NULL };
    struct sums *sums = sums_new();
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        const char *wrong;
        struct session_file *file = session_file_open(paths[order[i]], &wrong);
        cr_assert(file != NULL, "%s", wrong);
        good = sums_add(sums, file, &error);
        session_file_close(file);
    }
    if (good)
        cr_assert(sums_write(sums, into) == NULL);
    sums_free(sums);
    return error.text;
}

static char *durations_path(const char *name)
{
    return need_text("%s", test_path(name));
}

static struct analysis durations_load(const char *path, bool raw)
{
    struct analysis analysis;
    load_with(&analysis, path, &(struct analysis_options){ .durations = true, .raw = raw });
    return analysis;
}

/* By function, the durations of all calls as text. */
static char *durations_text(const struct analysis *analysis)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    struct durations **list = percentiles_by_function(analysis->profile);
    for (uint32_t i = 0; i < analysis->profile->function_count; i++) {
        size_t count;
        struct durations_step *steps = durations_list(list[i], &count);
        fprintf(out, "%" PRIx64 ":", analysis->profile->functions[i].offset);
        for (size_t j = 0; j < count; j++)
            fprintf(out, " %" PRIu64 "*%" PRIu64, steps[j].calls, steps[j].ticks);
        fputc('\n', out);
        free(steps);
    }
    percentiles_free_list(list, analysis->profile);
    need_stream_end(out);
    return text;
}

static const char *durations_remark(const struct analysis *analysis, const char *code)
{
    for (size_t i = 0; i < analysis->summary.remark_count; i++)
        if (strcmp(analysis->summary.remark_codes[i], code) == 0)
            return analysis->summary.remarks[i];
    return NULL;
}

static void durations_expect_same(const char *recorded, const char *summed)
{
    struct analysis a = durations_load(recorded, false), b = durations_load(summed, false);
    char *x = durations_text(&a), *y = durations_text(&b);
    cr_assert(eq(str, y, x));
    cr_assert(strlen(x) > 500, "%s", x);
    cr_assert(b.summary.durations_known);
    free(x);
    free(y);
    analysis_drop(&a);
    analysis_drop(&b);
}

Test(unit_sums_durations, are_those_of_the_recorded_session)
{
    char *recorded = durations_path("recorded"), *summed = durations_path("summed");
    const uint32_t costs[] = { 0, 1 };
    for (size_t i = 0; i < 2; i++) {
        timed_session_save(recorded, 7 + i, 1000000000 + 1234567890 * i, costs[i]);
        durations_profile(recorded, 0, 1, summed);
        durations_expect_same(recorded, summed);
    }
    free(recorded);
    free(summed);
}

static void durations_expect_bytes(const char *path, const char *other)
{
    char *command = need_text("cmp '%s' '%s'", path, other);
    cr_assert(eq(int, system(command), 0), "%s", command);
    free(command);
}

Test(unit_sums_durations, of_shards_add_up_in_any_order)
{
    static const size_t orders[][THREADS] = { { 0, 1, 2 }, { 2, 0, 1 }, { 1, 2, 0 } };
    char *recorded = durations_path("recorded"), *whole = durations_path("whole"), *sum = durations_path("sum");
    char *shards[THREADS];
    timed_session_save(recorded, 7, 2500000000, 1);
    durations_profile(recorded, 0, 1, whole);
    for (uint32_t i = 0; i < THREADS; i++) {
        shards[i] = need_text("%s.%u", recorded, i);
        durations_profile(recorded, i, THREADS, shards[i]);
    }
    for (size_t i = 0; i < 3; i++) {
        cr_assert(durations_merge_files((const char *const *)shards, orders[i], THREADS, sum) == NULL);
        durations_expect_bytes(whole, sum);
    }
    for (uint32_t i = 0; i < THREADS; i++)
        free(shards[i]);
    free(recorded);
    free(whole);
    free(sum);
}

/* Sessions that are loaded together, in place of their sums. */
static void durations_expect_of_loaded(const char *const *recorded, size_t count, const struct analysis *sums)
{
    struct analysis all;
    load_several(&all, recorded, count, &(struct analysis_options){ .durations = true, .jobs = 1 });
    char *x = durations_text(&all), *y = durations_text(sums);
    cr_assert(eq(str, x, y));
    cr_assert(strlen(x) > 500, "%s", x);
    cr_assert(all.durations && all.summary.durations_known);
    free(x);
    free(y);
    analysis_drop(&all);
}

/* Sessions with other clocks are in nanoseconds: each counter is that of its middle. */
Test(unit_sums_durations, of_several_sessions_are_those_of_all_calls)
{
    static const uint64_t rates[] = { 1000000000, 2400000000, 1000000000 };
    static const size_t orders[][3] = { { 0, 1, 2 }, { 2, 1, 0 } };
    char *recorded[3], *summed[3], *both[2];
    struct durations *expected[4] = { NULL };
    for (size_t i = 0; i < 3; i++) {
        recorded[i] = need_text("%s.%zu", test_path("recorded"), i);
        summed[i] = need_text("%s.%zu", test_path("summed"), i);
        timed_session_save(recorded[i], 7 + i, rates[i], 0);
        durations_profile(recorded[i], 0, 1, summed[i]);
        struct analysis one = durations_load(recorded[i], false);
        for (size_t j = 0; j < one.profile->node_count; j++) {
            struct durations *d = NULL;
            if (one.profile->nodes[j].function == PROFILE_NONE)
                continue;
            durations_merge(&d, one.profile->nodes[j].durations);
            durations_scale(&d, rates[i]);
            durations_merge(&expected[one.profile->functions[one.profile->nodes[j].function].offset / F], d);
            free(d);
        }
        analysis_drop(&one);
    }
    for (size_t i = 0; i < 2; i++) {
        both[i] = need_text("%s.%zu", test_path("both"), i);
        cr_assert(durations_merge_files((const char *const *)summed, orders[i], 3, both[i]) == NULL);
    }
    durations_expect_bytes(both[0], both[1]);
    struct analysis all = durations_load(both[0], false);
    durations_expect_of_loaded((const char *const *)recorded, 3, &all);
    struct durations **found = percentiles_by_function(all.profile);
    for (uint32_t i = 0; i < all.profile->function_count; i++) {
        const double percents[] = { 1, 50, 90, 99, 100 };
        uint64_t ns[5], wanted[5];
        durations_percentiles(found[i], percents, ns, 5);
        durations_percentiles(expected[all.profile->functions[i].offset / F], percents, wanted, 5);
        cr_assert(eq(u64, durations_calls(found[i]), durations_calls(expected[all.profile->functions[i].offset / F])));
        for (size_t j = 0; j < 5; j++)
            cr_assert(eq(u64, ns[j], wanted[j]));
    }
    percentiles_free_list(found, all.profile);
    analysis_drop(&all);
    for (size_t i = 0; i < 4; i++)
        free(expected[i]);
    for (size_t i = 0; i < 3; i++) {
        free(recorded[i]);
        free(summed[i]);
    }
    free(both[0]);
    free(both[1]);
}

/* ---- what sums lack ---- */

Test(unit_sums_durations, have_no_time_of_probes)
{
    char *recorded = durations_path("recorded"), *summed = durations_path("summed");
    timed_session_save(recorded, 7, 1000000000, 1);
    durations_profile(recorded, 0, 1, summed);
    struct analysis raw = durations_load(summed, true);
    for (size_t i = 0; i < raw.profile->node_count; i++)
        cr_assert(raw.profile->nodes[i].durations == NULL);
    cr_assert(not(raw.summary.durations_known));
    cr_assert(durations_remark(&raw, "percentiles-need-net") != NULL);
    analysis_drop(&raw);
    free(recorded);
    free(summed);
}

struct durations_bytes {
    uint8_t *at;
    size_t length;
};

static struct durations_bytes durations_read_bytes(const char *path)
{
    FILE *in = fopen(path, "r");
    cr_assert(in != NULL);
    fseek(in, 0, SEEK_END);
    struct durations_bytes b = { .length = (size_t)ftell(in) };
    b.at = need_memory(b.length, 1);
    rewind(in);
    cr_assert(eq(sz, fread(b.at, 1, b.length, in), b.length));
    fclose(in);
    return b;
}

static void durations_write_bytes(const char *path, const struct durations_bytes *b)
{
    FILE *out = fopen(path, "w");
    cr_assert(eq(sz, fwrite(b->at, 1, b->length, out), b->length));
    fclose(out);
}

/* The next chunk of a kind, which loses its checksum, and the session its seal. */
static struct dwell_chunk_header *durations_find_chunk(const struct durations_bytes *b, unsigned kind)
{
    for (size_t at = DWELL_UNIT; at + sizeof(struct dwell_chunk_header) <= b->length; at += DWELL_UNIT) {
        struct dwell_chunk_header *h = (struct dwell_chunk_header *)(b->at + at);
        if (h->magic == DWELL_CHUNK_MAGIC && h->kind == kind) {
            h->sealed = 0;
            memset(b->at + DWELL_SEAL_OFFSET, 0, sizeof(struct dwell_seal));
            return h;
        }
    }
    cr_assert(false, "no chunk of kind %u", kind);
    return NULL;
}

/* Sums as an older dwell makes them: without the chunks, and with zero in the record. */
static void durations_make_old(const char *path)
{
    struct durations_bytes b = durations_read_bytes(path);
    for (int i = 0; i < THREADS; i++)
        durations_find_chunk(&b, DWELL_CHUNK_DURATIONS)->kind = DWELL_CHUNK_LEVELS;
    const struct dwell_chunk_header *h = durations_find_chunk(&b, DWELL_CHUNK_METADATA);
    uint8_t *record = (uint8_t *)(h + 1);
    while (((struct dwell_record *)record)->type != DWELL_REC_SUMMED)
        record += ((struct dwell_record *)record)->size;
    cr_assert(eq(u32, ((struct dwell_rec_summed *)record)->durations, 1));
    ((struct dwell_rec_summed *)record)->durations = 0;
    durations_write_bytes(path, &b);
    free(b.at);
}

/* Durations lose what samples took, as minima and maxima do. */
Test(unit_sums_durations, are_no_longer_than_the_longest_call)
{
    char *recorded = durations_path("recorded"), *summed = durations_path("summed");
    struct writer *w = sampling_two_calls();
    write_header(w, 252, 300, 4); /* samples take 300 of each 1,000 ns */
    begin_samples(w, 1, 1, 70, 71, 0);
    sampling_write(w, 100, F);
    sampling_write(w, 300, G);
    end_samples(w, true);
    writer_save(w, recorded);
    writer_free(w);
    durations_profile(recorded, 0, 1, summed);
    struct analysis analysis;
    load_with(&analysis, summed, &(struct analysis_options){ .durations = true, .limits = true });
    size_t seen = 0;
    for (size_t i = 0; i < analysis.profile->node_count; i++) {
        const struct profile_node *node = &analysis.profile->nodes[i];
        uint64_t most;
        if (!node->durations)
            continue;
        durations_percentiles(node->durations, (const double[]){ 100 }, &most, 1);
        cr_assert(le(u64, most, node->longest + node->longest / 64));
        cr_assert(ge(u64, most, node->longest - node->longest / 64));
        seen++;
    }
    cr_assert(eq(sz, seen, 2));
    analysis_drop(&analysis);
    free(recorded);
    free(summed);
}

Test(unit_sums_durations, of_older_sums_are_unknown)
{
    char *recorded = durations_path("recorded"), *summed[2] = { durations_path("old"), durations_path("new") };
    char *both = durations_path("both");
    for (uint64_t i = 0; i < 2; i++) {
        timed_session_save(recorded, 7 + i, 1000000000, 0);
        durations_profile(recorded, 0, 1, summed[i]);
    }
    durations_make_old(summed[0]);
    struct analysis old = durations_load(summed[0], false);
    struct durations **list = percentiles_by_function(old.profile);
    cr_assert(old.profile->function_count > 2);
    for (size_t i = 0; i < old.profile->function_count; i++)
        cr_assert(list[i] == NULL);
    percentiles_free_list(list, old.profile);
    cr_assert(eq(str, (char *)durations_remark(&old, "percentiles-need-calls"),
                 "percentiles are unknown: an older dwell made the sums, without the durations of calls"));
    analysis_drop(&old);
    cr_assert(durations_merge_files((const char *const *)summed, (const size_t[]){ 0, 1 }, 2, both) == NULL);
    struct analysis two = durations_load(both, false), one = durations_load(summed[1], false);
    char *x = durations_text(&two), *y = durations_text(&one);
    cr_assert(eq(str, x, y));
    cr_assert(not(two.summary.durations_known));
    cr_assert(eq(str, (char *)durations_remark(&two, "percentiles-of-some"),
                 "percentiles are those of 1 of the 2 sessions: the sums of the others lack them"));
    free(x);
    free(y);
    analysis_drop(&two);
    analysis_drop(&one);
    for (size_t i = 0; i < 2; i++)
        free(summed[i]);
    free(recorded);
    free(both);
}

/* ---- rows that cannot be ---- */

static void durations_check_row(const char *path, struct dwell_duration_row row, bool good)
{
    char *other = need_text("%s.other", path);
    struct durations_bytes b = durations_read_bytes(path);
    struct dwell_chunk_header *h = durations_find_chunk(&b, DWELL_CHUNK_DURATIONS);
    memcpy(h + 1, &row, sizeof row);
    durations_write_bytes(other, &b);
    free(b.at);
    char *wrong = durations_merge_files((const char *const[]){ other }, (const size_t[]){ 0 }, 1, test_path("sum"));
    struct analysis analysis = durations_load(other, false);
    cr_assert(eq(int, wrong == NULL, good), "%s", wrong);
    cr_assert(eq(int, durations_remark(&analysis, "chunks-damaged") == NULL, good));
    if (wrong)
        cr_assert(strstr(wrong, ": is damaged: it has durations of calls that cannot be") && !strchr(wrong, '\n'));
    analysis_drop(&analysis);
    free(wrong);
    free(other);
}

Test(unit_sums_durations, rows_that_cannot_be_are_refused)
{
    char *recorded = durations_path("recorded"), *summed = durations_path("summed");
    timed_session_save(recorded, 7, 1000000000, 0);
    durations_profile(recorded, 0, 1, summed);
    const uint64_t most = ((uint64_t)1 << 48) - 1;
    const struct {
        struct dwell_duration_row row;
        bool good;
    } cases[] = {
        { { 1, 0, 1 }, true },
        { { 1, DWELL_DURATION_COUNTERS - 1, most }, true },
        { { 1, DWELL_DURATION_COUNTERS, 1 }, false },
        { { 1, DWELL_DURATION_ONE - 1, 1 }, false },
        { { 1, 5, 0 }, false },
        { { 1, 5, most + 1 }, false },
        { { 1, 5, UINT64_MAX }, false },
        { { 1, DWELL_DURATION_ONE, UINT64_MAX }, true }, /* a call that is shorter than its probes */
        { { 4000, 5, 1 }, false },
        { { UINT32_MAX, 5, 1 }, false },
        { { 0, UINT32_MAX, UINT64_MAX }, true }, /* the end */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        durations_check_row(summed, cases[i].row, cases[i].good);
    free(recorded);
    free(summed);
}

/* The most calls that a counter can have do not wrap around, in whatever order they are added. */
Test(unit_sums_durations, counters_do_not_overflow)
{
    const uint64_t most = ((uint64_t)1 << 48) - 1;
    struct durations *d = NULL, *sum = NULL;
    cr_assert(durations_add_counter(&d, 40, most, 0));
    cr_assert(durations_add_counter(&d, 41, 1, 0));
    for (int i = 0; i < 3; i++)
        durations_merge(&sum, d);
    size_t count;
    struct durations_counter *list = durations_counters(sum, &count);
    cr_assert(eq(sz, count, 2));
    cr_assert(eq(u64, list[0].counter, 40));
    cr_assert(eq(u64, list[0].calls, most));
    cr_assert(eq(u64, list[1].counter, 41));
    cr_assert(eq(u64, list[1].calls, 3));
    free(list);
    free(sum);
    free(d);
    cr_assert(eq(u64, durations_counter(UINT64_MAX), DWELL_DURATION_COUNTERS - 1));
}

Test(unit_sums_durations, of_one_call_stay_exact_in_nanoseconds)
{
    struct durations *d = NULL;
    const double percent = 50;
    uint64_t ns;
    durations_add_call(&d, 1234567, UINT64_C(1234567) * TICK);
    durations_scale(&d, 2000000000);
    durations_percentiles(d, &percent, &ns, 1);
    cr_assert(eq(u64, ns, 617284)); /* half a nanosecond is rounded up */
    free(d);
}
