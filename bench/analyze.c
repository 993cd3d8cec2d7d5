/* analyze SESSION JOBS ROUNDS: measures the speed of the analyzer's parts, each by itself. Prints a line for each: its
 * name, the number of items, and the minimum of seconds over all rounds. */
#include <err.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "analysis/names.h"
#include "base/memory.h"
#include "profile/call_scan.h"
#include "profile/call_spread.h"
#include "profile/collect.h"
#include "trace/chunk_window.h"
#include "trace/timeline.h"

struct subject {
    const char *path;
    struct session_file *file;
    struct profile *profile;
    unsigned jobs;
};

/* ---- decoding alone ---- */

struct decoding {
    const struct session_file *file;
    size_t *next_chunk; /* shared */
    struct chunk_window window;
    uint64_t events, sum;
    pthread_t thread;
};

static void decode_chunk(struct decoding *w, const struct trace_chunk *chunk)
{
    struct decoder d;
    if (!window_begin(&w->window, w->file, chunk, &d))
        return;
    do
        for (enum decoded event; (event = decode_next(&d)) != DECODED_END; w->events++)
            w->sum += event == DECODED_ENTER ? d.time ^ d.function : d.time; /* unused results are not decoded */
    while (window_more(&w->window, &d));
}

static void *decode_chunks(void *argument)
{
    struct decoding *w = argument;
    for (size_t i; (i = __atomic_fetch_add(w->next_chunk, 1, __ATOMIC_RELAXED)) < w->file->chunk_count;)
        if (w->file->chunks[i].kind == DWELL_CHUNK_EVENTS)
            decode_chunk(w, &w->file->chunks[i]);
    window_free(&w->window);
    return NULL;
}

static uint64_t decode(struct subject *s)
{
    static volatile uint64_t sink;
    size_t next_chunk = 0;
    uint64_t events = 0;
    struct decoding *workers = need_memory(s->jobs, sizeof *workers);
    for (unsigned i = 0; i < s->jobs; i++) {
        workers[i] = (struct decoding){ .file = s->file, .next_chunk = &next_chunk };
        if (pthread_create(&workers[i].thread, NULL, decode_chunks, &workers[i]) != 0)
            errx(2, "no thread");
    }
    for (unsigned i = 0; i < s->jobs; i++) {
        pthread_join(workers[i].thread, NULL);
        events += workers[i].events;
        sink = workers[i].sum;
    }
    (void)sink;
    free(workers);
    return events;
}

/* ---- the other parts ---- */

static uint64_t open_session(struct subject *s)
{
    const char *error;
    session_file_close(s->file);
    s->file = session_file_open(s->path, &error);
    if (!s->file)
        errx(2, "%s: %s", s->path, error);
    return s->file->chunk_count;
}

static uint64_t make_profile(struct subject *s)
{
    if (s->profile)
        profile_free(s->profile);
    s->profile = collect_profile(s->file, s->jobs);
    return s->profile->counts.enters + s->profile->counts.exits;
}

static uint64_t merge(struct subject *s)
{
    struct profile *whole = profile_new();
    profile_merge(whole, s->profile);
    const uint64_t nodes = whole->node_count;
    profile_free(whole);
    return nodes;
}

static uint64_t find_names(struct subject *s)
{
    names_free(names_find(s->file, s->profile), s->profile->function_count);
    return s->profile->function_count;
}

static bool count_event(void *context, const struct timeline_event *event)
{
    *(uint64_t *)context += event->kind == TIMELINE_ENTER || event->kind == TIMELINE_EXIT;
    return true;
}

static uint64_t follow(struct subject *s)
{
    uint64_t events = 0;
    timeline_run(s->file, count_event, &events);
    return events;
}

static void count_calls(void *context, const struct call_amount *amounts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        call_spread_add(context, amounts[i].time);
}

static uint64_t find_calls(struct subject *s)
{
    struct call_spread *spreads = calloc(s->jobs, sizeof *spreads);
    void **contexts = calloc(s->jobs, sizeof *contexts);
    uint64_t calls = 0;
    for (unsigned i = 0; i < s->jobs; i++)
        contexts[i] = &spreads[i];
    calls_scan_elapsed(&(struct calls_source){ .file = s->file, .profile = s->profile }, PROFILE_NONE, s->jobs,
                       count_calls, contexts);
    for (unsigned i = 0; i < s->jobs; i++) {
        call_spread_finish(&spreads[i]);
        calls += spreads[i].count;
        call_spread_drop(&spreads[i]);
    }
    free(contexts);
    free(spreads);
    return calls * 2;
}

/* ---- timing ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint64_t (*run)(struct subject *);
    } parts[] = {
        { "open", open_session }, { "decode", decode },   { "profile", make_profile }, { "merge", merge },
        { "names", find_names },  { "timeline", follow }, { "calls", find_calls },
    };
    if (argc != 4)
        errx(2, "usage: analyze SESSION JOBS ROUNDS");
    struct subject s = { .path = argv[1], .jobs = (unsigned)atoi(argv[2]) };
    const int rounds = atoi(argv[3]);
    if (s.jobs < 1 || s.jobs > 1024 || rounds < 1)
        errx(2, "JOBS and ROUNDS must be above 0");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        uint64_t count = 0;
        double least = 1e9;
        for (int round = 0; round < rounds; round++) {
            const double begin = now();
            count = parts[i].run(&s);
            const double seconds = now() - begin;
            least = seconds < least ? seconds : least;
        }
        printf("%s %" PRIu64 " %.6f\n", parts[i].name, count, least);
    }
    profile_free(s.profile);
    session_file_close(s.file);
    return 0;
}
