/* Zooms: which spans each zoom shows, which are merged, and which are dropped if there are too many. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "view/zooms.h"

TestSuite(unit_zooms);

/* 2,048 columns of 64 ticks at zoom 0, of 16, 4 and 1 at the next ones. Nothing is merged at zoom 4. */
enum { LENGTH = 2048 * 64, PLENTY = 1000 };

static void zooms_add_span(struct zooms *l, uint32_t lane, uint16_t row, int32_t function, uint64_t start,
                           uint64_t length)
{
    zooms_add(l, &(struct zoom_span){
                     .start = start, .length = length, .lane = lane, .row = row, .function = function, .count = 1 });
}

static int zoom_spans_compare(const void *a, const void *b)
{
    const struct zoom_span *x = a, *y = b;
    if (x->lane != y->lane || x->row != y->row)
        return x->lane != y->lane ? (int)x->lane - (int)y->lane : x->row - y->row;
    return (x->start > y->start) - (x->start < y->start);
}

/* "lane.row start+length function*count" for each span of the zoom. The caller frees it. */
static char *zooms_shown(const struct zooms *l, unsigned zoom)
{
    char *text;
    size_t length, count;
    const struct zoom_span *spans = zooms_spans(l, &count);
    struct zoom_span *sorted = malloc((count + 1) * sizeof *sorted);
    FILE *out = open_memstream(&text, &length);
    memcpy(sorted, spans, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, zoom_spans_compare);
    for (size_t i = 0; i < count; i++)
        if (sorted[i].coarsest <= zoom && zoom <= sorted[i].finest)
            fprintf(out, "%u.%u %ju+%ju %d*%u\n", sorted[i].lane, sorted[i].row, (uintmax_t)sorted[i].start,
                    (uintmax_t)sorted[i].length, sorted[i].function, sorted[i].count);
    fclose(out);
    free(sorted);
    return text;
}

static void expect_zoom(const struct zooms *l, unsigned zoom, const char *wanted)
{
    char *text = zooms_shown(l, zoom);
    cr_assert(eq(str, text, (char *)wanted), "level %u", zoom);
    free(text);
}

/* The finest zoom that is kept: that of the spans or, before there are any, the one that merges nothing. */
static unsigned finest_zoom(const struct zooms *l)
{
    size_t count;
    const struct zoom_span *spans = zooms_spans(l, &count);
    unsigned zoom = 0;
    for (size_t i = 0; i < count; i++)
        zoom = spans[i].finest > zoom ? spans[i].finest : zoom;
    while (count == 0 && zoom < 32 && zooms_resolution(l, zoom))
        zoom++;
    return zoom;
}

Test(unit_zooms, resolutions)
{
    struct zooms *l = zooms_new(LENGTH, 1, PLENTY);
    static const uint64_t resolutions[] = { 64, 16, 4, 1, 0 };
    cr_assert(eq(u32, finest_zoom(l), 4));
    for (unsigned i = 0; i <= 4; i++) {
        cr_assert(eq(u64, zooms_resolution(l, i), resolutions[i]));
        cr_assert(eq(u64, 1ull << zooms_stretch_bits(l, i), LENGTH >> 2 * i));
    }
    zooms_free(l);
    l = zooms_new(LENGTH + 1, 1, PLENTY); /* as long as that, or longer */
    cr_assert(eq(u64, 1ull << zooms_stretch_bits(l, 0), 2 * LENGTH));
    cr_assert(eq(u64, zooms_resolution(l, finest_zoom(l)), 0));
    zooms_free(l);
    l = zooms_new(0, 1, PLENTY);
    cr_assert(eq(u64, zooms_resolution(l, 0), 1));
    cr_assert(eq(u64, zooms_resolution(l, finest_zoom(l)), 0));
    zooms_free(l);
    l = zooms_new(UINT64_MAX, 1, PLENTY);
    cr_assert(eq(u64, zooms_stretch_bits(l, 0), 62));
    cr_assert(eq(u64, zooms_resolution(l, finest_zoom(l)), 0));
    zooms_free(l);
}

/* Spans shorter than 64 ticks and less than 64 apart are one at zoom 0. At the other zooms the limits are 16, 4 and
 * 1. */
Test(unit_zooms, neighbours_are_merged)
{
    struct zooms *l = zooms_new(LENGTH, 2, PLENTY);
    zooms_add_span(l, 0, 2, 1, 1000, 10);
    zooms_add_span(l, 0, 2, 1, 1020, 10);
    zooms_add_span(l, 0, 2, 5, 1093, 63); /* 63 after it */
    zooms_add_span(l, 0, 2, 5, 1220, 63); /* 64 after it */
    zooms_add_span(l, 0, 2, 6, 1290, 64); /* long enough */
    zooms_add_span(l, 0, 2, 7, 1354, 1);
    zooms_add_span(l, 0, 3, 8, 1000, 5); /* another row, another lane */
    zooms_add_span(l, 1, 2, 8, 1000, 5);
    zooms_end(l);
    expect_zoom(
        l, 0, "0.2 1000+156 -1*3\n0.2 1220+63 5*1\n0.2 1290+64 6*1\n0.2 1354+1 7*1\n0.3 1000+5 8*1\n1.2 1000+5 8*1\n");
    expect_zoom(l, 1,
                "0.2 1000+30 1*2\n0.2 1093+63 5*1\n0.2 1220+63 5*1\n0.2 1290+64 6*1\n0.2 1354+1 7*1\n"
                "0.3 1000+5 8*1\n1.2 1000+5 8*1\n");
    const char *all =
        "0.2 1000+10 1*1\n0.2 1020+10 1*1\n0.2 1093+63 5*1\n0.2 1220+63 5*1\n0.2 1290+64 6*1\n0.2 1354+1 7*1\n"
        "0.3 1000+5 8*1\n1.2 1000+5 8*1\n";
    expect_zoom(l, 2, all);
    expect_zoom(l, 3, all);
    expect_zoom(l, 4, all);
    cr_assert(eq(int, zooms_are_whole(l, 0), false));
    cr_assert(eq(int, zooms_are_whole(l, 1), false));
    cr_assert(eq(int, zooms_are_whole(l, 2), true));
    zooms_free(l);
}

/* A span that one zoom merged from short ones may be long enough for the next to use it unchanged. */
Test(unit_zooms, runs_grow)
{
    struct zooms *l = zooms_new(LENGTH, 1, PLENTY);
    for (uint64_t i = 0; i < 40; i++)
        zooms_add_span(l, 0, 2, 3, i * 2, 1); /* one tick each, one tick apart */
    zooms_add_span(l, 0, 2, 4, 90, 1);
    zooms_end(l);
    expect_zoom(l, 0, "0.2 0+79 3*40\n0.2 90+1 4*1\n");
    expect_zoom(l, 1, "0.2 0+79 3*40\n0.2 90+1 4*1\n");
    expect_zoom(l, 2, "0.2 0+79 3*40\n0.2 90+1 4*1\n");
    char *singles = zooms_shown(l, 3);
    cr_assert(eq(int, strncmp(singles, "0.2 0+1 3*1\n0.2 2+1 3*1\n", 24), 0));
    free(singles);
    size_t count;
    zooms_spans(l, &count);
    cr_assert(eq(sz, count, 42)); /* the 41, and the one of 40, which three zooms share */
    zooms_free(l);
}

Test(unit_zooms, spans_without_length)
{
    struct zooms *l = zooms_new(LENGTH, 1, PLENTY);
    zooms_add_span(l, 0, 2, 3, 5, 0);
    zooms_add_span(l, 0, 2, 3, 5, 0);
    zooms_add_span(l, 0, 2, 3, 6, 0);
    zooms_end(l);
    expect_zoom(l, 2, "0.2 5+1 3*3\n");
    expect_zoom(l, 3, "0.2 5+0 3*2\n0.2 6+0 3*1\n"); /* a tick apart */
    expect_zoom(l, 4, "0.2 5+0 3*1\n0.2 5+0 3*1\n0.2 6+0 3*1\n");
    zooms_free(l);
}

static uint64_t zooms_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

enum { CALLS = 3000 };

static struct zoom_span *random_spans(uint64_t seed)
{
    struct zoom_span *spans = calloc(CALLS, sizeof *spans);
    uint64_t random = seed, time = 0;
    for (size_t i = 0; i < CALLS; i++) {
        const uint64_t length = zooms_random(&random) % (zooms_random(&random) % 40 == 0 ? 2000 : 12);
        const uint64_t gap = zooms_random(&random) % (zooms_random(&random) % 20 == 0 ? 300 : 5);
        spans[i] = (struct zoom_span){ .start = time, .length = length, .row = 2, .count = 1 };
        spans[i].function = (int32_t)(zooms_random(&random) % 3);
        time += length + gap + (length == 0); /* no two begin together */
    }
    return spans;
}

/* Merged by the rule taken literally: a zoom is made of the spans that the zoom below shows. */
static size_t zoom_merged(const struct zoom_span *from, size_t count, uint64_t resolution, struct zoom_span *into)
{
    size_t made = 0;
    bool open = false;
    for (size_t i = 0; i < count; i++) {
        const bool is_short = from[i].length < resolution;
        if (open && is_short && from[i].start < into[made - 1].start + into[made - 1].length + resolution) {
            struct zoom_span *run = &into[made - 1];
            run->length = from[i].start + from[i].length - run->start;
            run->count += from[i].count;
            run->function = run->function == from[i].function ? run->function : ZOOM_MERGED;
        } else {
            into[made++] = from[i];
            open = is_short;
        }
    }
    return made;
}

static size_t zoom_spans(const struct zooms *l, unsigned zoom, struct zoom_span *into)
{
    size_t count, kept = 0;
    const struct zoom_span *spans = zooms_spans(l, &count);
    for (size_t i = 0; i < count; i++)
        if (spans[i].coarsest <= zoom && zoom <= spans[i].finest)
            into[kept++] = spans[i];
    qsort(into, kept, sizeof *into, zoom_spans_compare);
    return kept;
}

Test(unit_zooms, every_zoom_is_made_of_the_one_below)
{
    struct zoom_span *shown_spans = calloc(CALLS, sizeof *shown_spans), *wanted = calloc(CALLS, sizeof *wanted);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct zoom_span *spans = random_spans(seed);
        const struct zoom_span *last = &spans[CALLS - 1];
        struct zooms *l = zooms_new(last->start + last->length, 1, CALLS * 2);
        for (size_t i = 0; i < CALLS; i++)
            zooms_add(l, &spans[i]);
        zooms_end(l);
        size_t count = CALLS;
        for (unsigned zoom = finest_zoom(l) + 1; zoom-- > 0;) {
            count = zoom_merged(spans, count, zooms_resolution(l, zoom), wanted);
            cr_assert(eq(sz, zoom_spans(l, zoom, shown_spans), count), "seed %ju, level %u", (uintmax_t)seed, zoom);
            for (size_t i = 0; i < count; i++) {
                cr_assert(eq(u64, shown_spans[i].start, wanted[i].start));
                cr_assert(eq(u64, shown_spans[i].length, wanted[i].length));
                cr_assert(eq(u32, shown_spans[i].count, wanted[i].count));
                cr_assert(eq(i32, shown_spans[i].function, wanted[i].function));
            }
            memcpy(spans, wanted, count * sizeof *spans);
        }
        zooms_free(l);
        free(spans);
    }
    free(shown_spans);
    free(wanted);
}

/* Even if zooms are dropped, each zoom counts every call once, and covers the same time. */
Test(unit_zooms, the_number_of_spans_is_bounded)
{
    struct zoom_span *shown_spans = calloc(CALLS * 2, sizeof *shown_spans);
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct zoom_span *spans = random_spans(seed);
        const struct zoom_span *last = &spans[CALLS - 1];
        const size_t most = 1000 + seed * 40; /* the coarsest zoom stays, however large it is */
        struct zooms *l = zooms_new(last->start + last->length, 1, most);
        const unsigned finest = finest_zoom(l);
        for (size_t i = 0; i < CALLS; i++) {
            size_t held;
            zooms_add(l, &spans[i]);
            zooms_spans(l, &held);
            cr_assert(lt(sz, held, most + 64)); /* an addition may end a run at every zoom */
        }
        zooms_end(l);
        cr_assert(lt(u32, finest_zoom(l), finest));
        cr_assert(eq(int, zooms_are_whole(l, 0), false));
        cr_assert(eq(int, zooms_are_whole(l, finest_zoom(l)), false));
        for (unsigned zoom = 0; zoom <= finest_zoom(l); zoom++) {
            const size_t count = zoom_spans(l, zoom, shown_spans);
            uint64_t calls = 0;
            size_t at = 0;
            for (size_t i = 0; i < count; i++)
                calls += shown_spans[i].count;
            cr_assert(eq(u64, calls, CALLS));
            for (size_t i = 0; i < CALLS; i++) {
                while (at < count && shown_spans[at].start + shown_spans[at].length < spans[i].start + spans[i].length)
                    at++;
                cr_assert(at < count && shown_spans[at].start <= spans[i].start);
            }
        }
        zooms_free(l);
        free(spans);
    }
    free(shown_spans);
}

/* A lane that has ended needs no memory; the others continue. */
Test(unit_zooms, lanes_end)
{
    struct zooms *l = zooms_new(LENGTH, 2, PLENTY);
    zooms_add_span(l, 0, 2, 1, 10, 1);
    zooms_add_span(l, 1, 2, 1, 10, 1);
    zooms_end_lane(l, 0);
    zooms_add_span(l, 1, 2, 1, 12, 1);
    zooms_end(l);
    expect_zoom(l, 0, "0.2 10+1 1*1\n1.2 10+3 1*2\n");
    zooms_free(l);
}
