/* Finds the elapsed inclusive times of a chunk's calls in its notes. The times are those that call_scan_elapsed.c finds
 * in its events. There, a clock shows what was subtracted so far. Here, the callees of each call add it up. */
#include "profile/call_scanner.h"

/* The notes of a chunk while they are read. */
struct notes {
    struct call_scanner *s;
    const struct noted_chunk *chunk;
    const uint32_t *paths, *at;
    uint64_t now;                  /* time of the last note */
    size_t level, inherited, room; /* as in noted_calls.h; room: of the sums */
    struct noted_sum *sums;
    struct call_part *parts;
};

__attribute__((noinline)) static void notes_make_room(struct call_scanner *s, size_t depth)
{
    const size_t before = s->sum_room;
    if (depth < before)
        return;
    s->sum_room = 2 * depth + 64;
    s->sums = need_more(s->sums, s->sum_room, sizeof *s->sums);
    memset(s->sums + before, 0, (s->sum_room - before) * sizeof *s->sums);
}

/* Makes room for the sums of a call. */
STACK_INLINE void notes_reach(struct notes *n, size_t depth)
{
    if (__builtin_expect(depth < n->room, 1))
        return;
    notes_make_room(n->s, depth);
    n->sums = n->s->sums;
    n->room = n->s->sum_room;
}

/* A call that ended, or its part in the chunk. */
struct noted_call {
    uint64_t ticks, end;
    size_t depth;
    uint32_t path;
    bool entered; /* in this chunk */
};

/* Adds a call to its caller. Returns its time. `less`: what was subtracted from it. */
STACK_INLINE uint64_t notes_end(struct notes *n, const struct noted_call *call, scanned_kind kind, uint64_t less)
{
    const struct call_scan *scan = n->s->scan;
    const struct scanned_cost cost = scan->costs[kind >> SCANNED_FLAG_BITS];
    struct noted_sum *own = &n->sums[call->depth], *caller = own - 1;
    less += own->less + own->callees * cost.callee + (call->entered ? cost.call : 0);
    if (__builtin_expect(kind & SCANNED_HELD, 0))
        less += (call->ticks - own->called) * DWELL_PROBE_FRACTION;
    uint64_t time = call->ticks * DWELL_PROBE_FRACTION - less;
    const uint64_t lost = call_scan_lost(scan, call->path, time - own->called_times, call->end);
    time -= lost;
    caller->less += less + lost;
    caller->called_times += time;
    caller->called += call->ticks;
    caller->callees += call->entered;
    *own = (struct noted_sum){ 0 };
    return time;
}

STACK_INLINE void notes_take(struct notes *n, const struct noted_call *call, uint64_t less)
{
    const scanned_kind kind = n->s->scan->steps[call->path].kind;
    const uint64_t time = notes_end(n, call, kind, less);
    if (kind & SCANNED_WANTED)
        call_scanner_take_amount(n->s, call->path, time, call->end);
}

/* A call that ended, with its kind in the first word. */
STACK_INLINE void notes_call(struct notes *n, uint32_t word, bool first)
{
    const uint32_t path = n->paths[word >> NOTED_KIND_BITS];
    n->level = n->level + (word & ((1 << NOTED_KIND_BITS) - 1)) - 1;
    n->now += n->at[1];
    notes_reach(n, n->level);
    notes_take(n, &(struct noted_call){ n->at[2], n->now, n->level, path, true },
               first ? -call_scanner_take_rest(n->s, path) : 0);
    n->at += 3;
}

/* An interval with OS events. */
static inline void notes_interval(struct notes *n, uint32_t word)
{
    const uint32_t path = n->paths[word >> NOTED_KIND_BITS], flags = n->at[3];
    const uint64_t length = n->at[2];
    const struct call_scan *scan = n->s->scan;
    const struct path_probes *probes = &scan->probes.paths[path];
    n->now += n->at[1];
    n->level += flags & ((1 << NOTED_STEP_BITS) - 1);
    n->at += 4;
    const uint64_t flagged = flags & NOTED_PARTLY ? *n->at++ : length, runtime = flags & NOTED_RUNTIME ? *n->at++ : 0,
                   off_cpu = flags & NOTED_OFF_CPU ? *n->at++ : 0;
    const struct interval_parts parts = {
        .flagged = flagged, .blocked = off_cpu, .runtime = runtime, .runtime_flagged = less(runtime, length - flagged)
    };
    struct call_amounts own = { .elapsed = 0 };
    call_amounts_add_interval(&own, probes, &parts, length);
    notes_reach(n, n->level - 1);
    struct noted_sum *sum = &n->sums[n->level - 1];
    sum->less += (probes->held ? 0 : length * DWELL_PROBE_FRACTION) - own.elapsed;
    if (!(scan->steps[path].kind & SCANNED_DIVIDED))
        return;
    const uint64_t within = own.elapsed - own.application,
                   lost = call_amounts_part(within - own.off_cpu, probes->lost.flagged, n->now);
    sum->less += lost;
    sum->called_times += within - lost;
}

/* The part of a call that was open at the beginning, until `end`. */
static struct call_part notes_found_part(struct notes *n, size_t depth, uint64_t end)
{
    const struct noted_open *open = &n->chunk->open[depth - 1];
    const uint32_t path = n->paths[open->path];
    const struct noted_call call = { end - n->s->chunk->start_time, end, depth, path, false };
    return (struct call_part){
        .function = open->function,
        .enter_time = open->entered,
        .begin = open->entered,
        .path = path,
        .own.elapsed = notes_end(n, &call, n->s->scan->steps[path].kind, 0),
    };
}

static void notes_end_found(struct notes *n)
{
    n->now += n->at[1];
    n->at += 2;
    const size_t depth = n->level = n->inherited--;
    struct call_part *part = &n->parts[depth - 1];
    *part = notes_found_part(n, depth, n->now);
    part->end = n->now;
    part->ended = true;
}

static void notes_rare(struct notes *n, uint32_t word)
{
    switch (word & ((1 << NOTED_KIND_BITS) - 1)) {
    case NOTED_OS:
        notes_interval(n, word);
        break;
    case NOTED_FOUND:
        notes_end_found(n);
        break;
    case NOTED_DEEPER:
        n->level += word >> NOTED_KIND_BITS;
        n->at++;
        break;
    default: /* NOTED_FIRST */
        n->at++;
        notes_call(n, *n->at, true);
        break;
    }
}

/* The calls that are open at the end, innermost first. */
static void notes_keep_open(struct notes *n)
{
    const struct noted_chunk *chunk = n->chunk;
    for (size_t i = chunk->begun; i-- > 0;) {
        const struct noted_open *open = &chunk->open[chunk->inherited + i];
        const uint32_t path = n->paths[open->path];
        const struct noted_call call = { chunk->last - open->entered, chunk->last, n->inherited + 1 + i, path, true };
        n->parts[chunk->inherited + i] = (struct call_part){
            .function = open->function,
            .enter_time = open->entered,
            .begin = open->entered,
            .path = path,
            .entered = true,
            .own.elapsed = notes_end(n, &call, n->s->scan->steps[path].kind, -call_scanner_take_rest(n->s, path)),
        };
    }
    for (size_t depth = n->inherited; depth > 0; depth--)
        n->parts[depth - 1] = notes_found_part(n, depth, chunk->last);
}

void call_scan_notes(struct call_scanner *s, const struct noted_chunk *chunk, const uint32_t *paths,
                     struct chunk_parts *parts)
{
    struct notes n = { .s = s,
                       .chunk = chunk,
                       .paths = paths,
                       .at = chunk->words,
                       .now = s->chunk->start_time,
                       .level = chunk->inherited + (size_t)1,
                       .inherited = chunk->inherited };
    const uint32_t *end = chunk->words + chunk->count;
    notes_make_room(s, chunk->inherited + (size_t)chunk->begun + 1);
    n.sums = s->sums;
    n.room = s->sum_room;
    n.parts = parts->calls = need_memory(chunk->inherited + (size_t)chunk->begun + 1, sizeof *parts->calls);
    for (size_t depth = 1; depth <= chunk->inherited; depth++)
        n.sums[depth].less -= call_scanner_take_rest(s, paths[chunk->open[depth - 1].path]);
    while (n.at < end) {
        const uint32_t word = *n.at;
        if (__builtin_expect((word & ((1 << NOTED_KIND_BITS) - 1)) < NOTED_STEPS, 1))
            notes_call(&n, word, false);
        else
            notes_rare(&n, word);
    }
    parts->inherited = chunk->inherited;
    parts->kept = (uint32_t)n.inherited;
    parts->count = chunk->inherited + chunk->begun;
    notes_keep_open(&n);
    n.sums[0] = (struct noted_sum){ 0 };
    parts->last = chunk->last;
    parts->read = true;
}
