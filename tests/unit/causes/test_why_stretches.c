/* Threads are read in stretches of several chunks. What is found must be the same as if each was one chunk. */
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
    ALSO = 176,
    CAUSES = 2,
    THREADS = 3,
    EVENTS = 4000,
    MOST_DEPTH = 8,
    ONE_CHUNK = EVENTS + 1,
};

/* A thread whose events are written, with a new chunk after so many of them. */
struct stretch {
    struct writer *w;
    uint32_t thread, sequence;
    struct open_call open[MOST_DEPTH];
    uint32_t depth;
    uint64_t now;
    unsigned each, events;
    uint64_t random;
    unsigned left; /* of the open call of handle: so many events */
};

static unsigned stretch_random(struct stretch *s, unsigned below)
{
    s->random = s->random * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (unsigned)(s->random >> 33) % below;
}

static void stretch_enter(struct stretch *s, uint64_t function)
{
    s->open[s->depth++] = (struct open_call){ function, s->now };
    write_enter(s->w, s->now, function);
}

static void stretch_exit(struct stretch *s)
{
    s->depth--;
    write_exit(s->w, s->now);
}

static void stretch_add_cpu(struct stretch *s)
{
    write_off_cpu(s->w, false, s->now - 12, 10);
    write_words(s->w, (uint16_t[]){ DWELL_EXT_CPU << DWELL_EXTENSION_LENGTH_BITS | 1, (uint16_t)stretch_random(s, 3) },
                2);
}

/* What the system did in the interval before the next event. */
static void stretch_add_system(struct stretch *s)
{
    switch (stretch_random(s, 16)) {
    case 0:
        write_off_cpu(s->w, stretch_random(s, 2), s->now - 12, 10);
        break;
    case 1:
    case 2:
        stretch_add_cpu(s);
        break;
    case 3:
        write_faults(s->w, 1 + stretch_random(s, 9));
        break;
    default:
        break;
    }
}

static void stretch_add_event(struct stretch *s)
{
    s->now += 20 + stretch_random(s, 50);
    if (stretch_random(s, 40) == 0) {
        write_pause(s->w, s->now);
        s->now += 100;
        write_resume(s->w, s->now, 0);
        return;
    }
    stretch_add_system(s);
    if (s->depth == 1) {
        stretch_enter(s, stretch_random(s, 3) ? HANDLE : PARSE);
        s->left = stretch_random(s, 8) ? 6 : 300;
    } else if (s->depth == MOST_DEPTH || s->left == 0 || (s->depth > 2 && stretch_random(s, 2))) {
        stretch_exit(s);
    } else {
        static const uint64_t functions[] = { HANDLE, PARSE, EVICT };
        stretch_enter(s, functions[stretch_random(s, 3)]);
    }
    s->left -= s->left > 0;
}

static void stretch_write_thread(struct writer *w, uint32_t thread, unsigned each)
{
    struct stretch s = { .w = w, .thread = thread, .each = each, .random = thread };
    char name[16];
    snprintf(name, sizeof name, "thread-%" PRIu32, thread);
    write_thread_at(w, 1, thread, 100 + thread, SOURCE_PERF, 0, name);
    begin_events(w, 1, thread, s.sequence++, 0, NULL, 0);
    stretch_enter(&s, MAIN);
    for (unsigned i = 1; i < EVENTS; i++) {
        stretch_add_event(&s);
        if (i % each)
            continue;
        end_events(w, true);
        begin_events(w, 1, thread, s.sequence++, s.now, s.open, s.depth);
    }
    end_events(w, true);
    write_thread_end(w, 1, thread, false, s.now);
}

static void stretch_save(unsigned each)
{
    static const char *const names[] = { "main", "handle", "parse", "evict" };
    struct writer *w = writer_new();
    write_header(w, ALSO, CAUSES, 4);
    write_process(w, 1, 100, "/bin/p");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
    write_symbol_module(w, 0, "/bin/p");
    for (uint64_t i = 0; i < 4; i++)
        write_symbol(w, 0, 0, 0, 0x1000 + i * 0x100, names[i]);
    write_probes(w, 1, 2 * 256, 3 * 256, 1 * 256);
    for (uint32_t thread = 1; thread <= THREADS; thread++)
        stretch_write_thread(w, thread, each);
    writer_save(w, test_path("stretches"));
    writer_free(w);
}

static void stretch_print_lines(const struct why *why, FILE *out)
{
    for (size_t i = 0; i < why->line_count; i++) {
        const struct why_line *line = &why->lines[i];
        fprintf(out, "%s %d %s", line->path, (int)line->kind, line->wait ? line->wait->text : "");
        for (int set = 0; set < WHY_SETS; set++)
            fprintf(out, " %" PRIu64 " %" PRIu64 " %" PRIu64, line->count[set], line->ticks[set], line->ns[set]);
        fprintf(out, " %.17g\n", line->probability);
    }
}

/* All that is known of the calls. */
static char *stretch_text(const struct why *why)
{
    char *text;
    size_t length;
    FILE *out = need_stream(&text, &length);
    fprintf(out, "%" PRIu64 " calls, %" PRIu64 " cut\n", why->calls, why->scan.cut);
    stretch_print_lines(why, out);
    for (size_t i = 0; i < why->scan.sampled_count; i++) {
        const struct why_sampled *call = &why->scan.sampled[i];
        fprintf(out, "%" PRIu32 " %" PRIu64 "-%" PRIu64 " set %u cpu %" PRIu32 " %d\n", call->thread, call->begin,
                call->end, call->set, call->cpus.now, call->cpus.moved);
    }
    for (size_t i = 0; i < why->scan.first_count; i++)
        fprintf(out, "first %" PRIu32 " %" PRIu64 "\n", why->scan.firsts[i].thread, why->scan.firsts[i].begin);
    need_stream_end(out);
    return text;
}

static char *stretch_find(unsigned jobs, const struct analysis_options *options)
{
    struct analysis_options with = *options;
    struct analysis analysis;
    struct why why;
    struct error error = { NULL };
    uint32_t handle = 0;
    with.jobs = jobs;
    load_with(&analysis, test_path("stretches"), &with);
    while (strcmp(analysis.names[handle].name, "handle") != 0)
        handle++;
    cr_assert(why_find(&why, &analysis, handle, &(struct why_choice){ .percent = 10 }, &error));
    for (int set = 0; set < WHY_SETS; set++) {
        uint64_t ticks = 0;
        for (size_t i = 0; i < why.line_count; i++)
            ticks += why.lines[i].ticks[set];
        cr_assert(eq(u64, ticks, why.sets[set].ticks));
        cr_assert(gt(u64, why.sets[set].calls, 10));
    }
    cr_assert(eq(sz, why.scan.first_count, THREADS));
    char *text = stretch_text(&why);
    why_drop(&why);
    analysis_drop(&analysis);
    return text;
}

static void stretch_check(const struct analysis_options *options)
{
    static const unsigned each[] = { 3, 50, 101 };
    stretch_save(ONE_CHUNK);
    char *expected = stretch_find(1, options);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) {
        stretch_save(each[i]);
        for (unsigned jobs = 1; jobs <= 3; jobs += 2) {
            char *text = stretch_find(jobs, options);
            cr_assert(eq(str, text, expected));
            free(text);
        }
    }
    free(expected);
}

/* Calls lie in one chunk, go on over the end of a stretch, or take more than one. */
Test(unit_why_stretches, the_same_as_one_chunk)
{
    stretch_check(&(struct analysis_options){ .jobs = 0 });
}

Test(unit_why_stretches, a_range_of_time)
{
    struct analysis_options range = { .raw = true };
    range.selection.from.given = range.selection.to.given = true;
    range.selection.from.ns = 40000;
    range.selection.to.ns = 150000;
    stretch_check(&range);
}
