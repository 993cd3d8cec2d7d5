/*
 * The loop of the analyzer: events in, times added up. Each worker takes one chunk after another and adds
 * it to a profile of its own; these are merged at the end.
 *
 * In a worker's profile the children of a node are told apart by the function's address, as events name
 * it; which module's function it is has to be found out only when a node is made. Modules that came and
 * went at the same place are kept apart by the generation of the process' module map.
 */
#include "profile/collect.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/progress.h"
#include "profile/call_sites.h"
#include "profile/chunk_ends.h"
#include "profile/generations.h"
#include "profile/identify.h"
#include "profile/subtree.h"
#include "profile/threads.h"
#include "profile/trees.h"
#include "trace/chunk_window.h"

struct open_call {
    uint32_t node;
    uint64_t enter_time;
};

struct collect_worker {
    const struct session_file *file;
    const struct selection *selection; /* NULL: the whole */
    uint64_t from, to;                 /* what is outside does not count */
    const uint64_t *ends;              /* by chunk; NULL: all of them count, whole */
    size_t *next_chunk;                /* shared */
    struct profile *profile;
    struct number_index *children; /* (address and generation, parent) -> node */
    struct chunk_window window;
    struct open_call *stack; /* stack[0] is the thread's root */
    size_t depth, room;
    struct call_sites *sites; /* NULL: they are not asked for */
    /* of the chunk at hand */
    const struct trace_chunk *chunk;
    bool paused;
    const struct trace_process *process;
    struct generations generations; /* of its module map */
    pthread_t thread;
};

/* ---- the call tree ---- */

/* User space ends below the 48th bit of an address. */
static inline uint64_t collect_child_key(const struct collect_worker *w, uint64_t address)
{
    return address ^ (uint64_t)w->generations.current << 48;
}

static uint32_t collect_add_child(struct collect_worker *w, uint32_t parent, uint64_t address, uint64_t time,
                                  struct index_slot *slot)
{
    struct profile *p = w->profile;
    uint32_t function = identify_function(w->profile, w->process, address, time);
    GROW(p->nodes, p->node_count, p->node_room);
    uint32_t node = (uint32_t)p->node_count++;
    p->nodes[node] = (struct profile_node){
        .parent = parent,
        .function = function,
        .site = PROFILE_NONE,
        .shortest = UINT64_MAX,
    };
    index_set(w->children, slot, collect_child_key(w, address), parent, node);
    return node;
}

static inline uint32_t collect_find_child(struct collect_worker *w, uint32_t parent, uint64_t address, uint64_t time)
{
    struct index_slot *slot = index_find(w->children, collect_child_key(w, address), parent);
    if (__builtin_expect(slot->value_plus_1 != 0, 1))
        return slot->value_plus_1 - 1;
    return collect_add_child(w, parent, address, time, slot);
}

static inline void collect_push_call(struct collect_worker *w, uint32_t node, uint64_t enter_time)
{
    if (__builtin_expect(w->depth == w->room, 0))
        GROW(w->stack, w->depth, w->room);
    w->stack[w->depth++] = (struct open_call){ node, enter_time };
}

static inline void collect_pop_call(struct collect_worker *w, uint64_t now)
{
    const struct open_call *call = &w->stack[--w->depth];
    struct profile_node *node = &w->profile->nodes[call->node];
    uint64_t duration = now - call->enter_time;
    if (duration < node->shortest)
        node->shortest = duration;
    if (duration > node->longest)
        node->longest = duration;
}

static void collect_pop_unwound(struct collect_worker *w, uint32_t frames, uint64_t now)
{
    while (frames-- > 0 && w->depth > 1) {
        collect_pop_call(w, now);
        w->profile->counts.unwound++;
    }
}

/* ---- call sites ---- */

static uint32_t collect_find_called(struct collect_worker *w, uint32_t parent, uint64_t address, uint64_t time,
                                    uint64_t site)
{
    if (!w->sites)
        return collect_find_child(w, parent, address, time);
    return call_sites_child(w->sites, parent, &(struct called){ address, site, time, w->generations.current });
}

static void collect_push_called(struct collect_worker *w, uint32_t node, uint64_t address, uint64_t enter_time)
{
    collect_push_call(w, node, enter_time);
    if (w->sites)
        call_sites_push(w->sites, w->depth - 1, address);
}

/* ---- chunks ---- */

static void collect_open_frames(struct collect_worker *w, const struct trace_chunk *chunk, const struct decoder *d)
{
    struct open_sites sites;
    decode_open_sites(&sites, d);
    w->depth = 0;
    const uint32_t root = profile_root(w->profile, chunk->process, chunk->thread);
    if (w->sites)
        call_sites_begin(w->sites, w->process, root);
    collect_push_call(w, root, chunk->start_time);
    for (uint32_t i = 0; i < chunk->depth; i++) {
        struct dwell_frame frame = decode_frame(w->window.buffer, i);
        generations_find(&w->generations, frame.enter_time);
        const uint64_t site = decode_next_open_site(&sites);
        uint32_t node = collect_find_called(w, w->stack[w->depth - 1].node, frame.function, frame.enter_time, site);
        collect_push_called(w, node, frame.function,
                            frame.enter_time < chunk->start_time ? frame.enter_time : chunk->start_time);
    }
    generations_find(&w->generations, chunk->start_time);
}

/* What happened in an interval; a thread is not away for longer than that took. */
static void collect_add_os_times(struct profile_node *node, const struct decoded_extras *extras, uint64_t interval)
{
    const uint64_t blocked = smaller(extras->blocked, interval);
    node->blocked += blocked;
    const uint64_t preempted = smaller(extras->preempted, interval - blocked);
    node->preempted += preempted;
    node->page_faults += extras->page_faults;
    const uint64_t runtime = smaller(extras->runtime, interval);
    node->runtime += runtime;
    node->runtime_blocked += smaller(runtime, blocked);
    node->runtime_preempted += smaller(runtime - smaller(runtime, blocked), preempted);
    if (extras->flagged) {
        node->flagged += interval;
        node->runtime_flagged += runtime;
    }
}

static void collect_count_extras(struct profile_counts *counts, const struct decoded_extras *extras)
{
    counts->os_events += extras->os_events;
    counts->page_faults += extras->page_faults;
    counts->blocked += extras->blocked;
    counts->preempted += extras->preempted;
    counts->flagged_intervals += extras->flagged;
}

/* ---- a range of time ---- */

/* The part of an interval that counts. */
static uint64_t collect_length_within(const struct collect_worker *w, uint64_t begin, uint64_t end)
{
    const uint64_t first = larger(begin, w->from), last = smaller(end, w->to);
    return last > first ? last - first : 0;
}

/* What is known of an interval is its sum: the thread is taken to have waited at its beginning, then to have been
 * preempted. What is a number is counted at the event. */
static void collect_add_extras_within(struct collect_worker *w, struct profile_node *node,
                                      const struct decoded_extras *extras, uint64_t last, uint64_t now)
{
    const uint64_t waited = last + smaller(extras->blocked, now - last);
    const uint64_t ran = waited + smaller(extras->preempted, now - waited);
    struct decoded_extras part = { .blocked = collect_length_within(w, last, waited),
                                   .preempted = collect_length_within(w, waited, ran) };
    const uint64_t length = collect_length_within(w, last, now);
    if (selection_holds(w->selection, now)) {
        part.os_events = extras->os_events;
        part.page_faults = extras->page_faults;
    }
    part.runtime =
        collect_length_within(w, now - smaller(extras->runtime, now - last), now); /* it was the probe's, at the end */
    part.flagged = extras->flagged && length;
    if (!w->paused) /* otherwise the interval is nobody's */
        collect_add_os_times(node, &part, length);
    collect_count_extras(&w->profile->counts, &part);
}

/* ---- control events ---- */

static void collect_reopen_calls(struct collect_worker *w, const struct decoder *d)
{
    struct dwell_frame frame;
    uint64_t site;
    for (const uint8_t *at = d->run; (at = decode_opened_from(d, at, &frame, &site));) {
        generations_find(&w->generations, d->time);
        const uint32_t node = collect_find_called(w, w->stack[w->depth - 1].node, frame.function, d->time, site);
        collect_push_called(w, node, frame.function, frame.enter_time);
    }
}

/* The calls that go on are as if they had begun later. */
static void collect_resume_calls(struct collect_worker *w, const struct decoder *d, uint64_t last)
{
    uint64_t ended = decode_number(d->control, 2);
    for (; ended > 0 && w->depth > 1; ended--)
        w->depth--;
    for (size_t i = 1; i < w->depth; i++)
        w->stack[i].enter_time += d->time - last;
    collect_reopen_calls(w, d);
    w->profile->counts.paused += collect_length_within(w, last, d->time);
    w->paused = false;
}

static void collect_add_mark(struct collect_worker *w, const struct decoder *d)
{
    const struct decoded_mark mark = decode_mark(d);
    struct profile *p = w->profile;
    GROW(p->marks, p->mark_count, p->mark_room);
    p->marks[p->mark_count++] = (struct profile_mark){
        .time = mark.time,
        .order = d->time,
        .process = w->chunk->process,
        .thread = w->chunk->thread,
        .number = mark.number,
        .node = w->stack[w->depth - 1].node,
        .text = need_copy(mark.text, mark.length),
    };
}

/* The interval that ends here has been added to the innermost call. */
static void collect_apply_control(struct collect_worker *w, const struct decoder *d, uint64_t last)
{
    struct profile_counts *counts = &w->profile->counts;
    counts->intervals++;
    switch (d->control_type) {
    case DWELL_EXT_PAUSE:
        counts->pauses++;
        w->paused = true;
        break;
    case DWELL_EXT_RESUME:
        if (w->paused) {
            w->profile->nodes[w->stack[w->depth - 1].node].elapsed -= collect_length_within(w, last, d->time);
            counts->intervals--;
            collect_resume_calls(w, d, last);
        }
        break;
    case DWELL_EXT_SWITCH:
        w->depth = 1;
        collect_reopen_calls(w, d);
        break;
    case DWELL_EXT_MARK:
        collect_add_mark(w, d);
        break;
    default:
        break;
    }
}

static void collect_events(struct collect_worker *w, struct decoder *decoder)
{
    struct profile_counts *counts = &w->profile->counts;
    struct decoder d = *decoder; /* a local one, which the compiler keeps in registers */
    uint64_t last = d.time, enters = 0, exits = 0;
    enum decoded event;
    while ((event = decode_next(&d)) != DECODED_END) {
        const uint64_t now = d.time;
        struct profile_node *top = &w->profile->nodes[w->stack[w->depth - 1].node];
        top->elapsed += now - last;
        if (__builtin_expect(d.has_extras, 0)) {
            if (!w->paused) /* otherwise the interval is nobody's */
                collect_add_os_times(top, &d.extras, now - last);
            collect_count_extras(counts, &d.extras);
            collect_pop_unwound(w, d.extras.unwound, now);
            memset(&d.extras, 0, sizeof d.extras);
            d.has_extras = false;
        }
        if (__builtin_expect(event == DECODED_CONTROL, 0)) {
            struct decoder copy = d;
            collect_apply_control(w, &copy, last);
            last = now;
            continue;
        }
        last = now;
        if (event == DECODED_ENTER) {
            if (__builtin_expect(now >= w->generations.next_at, 0))
                generations_find(&w->generations, now);
            uint32_t node = collect_find_child(w, w->stack[w->depth - 1].node, d.function, now);
            w->profile->nodes[node].calls++;
            collect_push_call(w, node, now);
            enters++;
        } else if (__builtin_expect(w->depth > 1, 1)) {
            collect_pop_call(w, now);
            exits++;
        } else {
            counts->stray_exits++;
        }
    }
    *decoder = d;
    counts->enters += enters;
    counts->exits += exits;
    counts->intervals += enters + exits;
}

static void collect_pop_unwound_within(struct collect_worker *w, uint32_t frames, uint64_t now)
{
    if (selection_holds(w->selection, now))
        collect_pop_unwound(w, frames, now);
    else
        w->depth -= smaller(frames, w->depth - 1);
}

static void collect_apply_call_within(struct collect_worker *w, enum decoded event, const struct decoder *d)
{
    const uint64_t now = d->time;
    struct profile_counts *counts = &w->profile->counts;
    const bool inside = selection_holds(w->selection, now);
    counts->intervals += inside;
    if (event == DECODED_ENTER) {
        generations_find(&w->generations, now);
        const uint64_t site = w->sites ? decode_site(&d->site, call_sites_address(w->sites, w->depth - 1)) : 0;
        const uint32_t node = collect_find_called(w, w->stack[w->depth - 1].node, d->function, now, site);
        w->profile->nodes[node].calls += inside;
        collect_push_called(w, node, d->function, now);
        counts->enters += inside;
    } else if (w->depth == 1) {
        counts->stray_exits += inside;
        counts->intervals -= inside;
    } else if (inside) {
        collect_pop_call(w, now);
        counts->exits++;
    } else {
        w->depth--;
    }
}

/* As collect_events, of a chunk through which a border goes, or with call sites. */
static void collect_events_within(struct collect_worker *w, struct decoder *d)
{
    uint64_t last = d->time;
    enum decoded event;
    while (last < w->to && (event = decode_next(d)) != DECODED_END) {
        const uint64_t now = d->time;
        struct profile_node *top = &w->profile->nodes[w->stack[w->depth - 1].node];
        top->elapsed += collect_length_within(w, last, now);
        if (d->has_extras) {
            collect_add_extras_within(w, top, &d->extras, last, now);
            collect_pop_unwound_within(w, d->extras.unwound, now);
            memset(&d->extras, 0, sizeof d->extras);
            d->has_extras = false;
        }
        if (event == DECODED_CONTROL)
            collect_apply_control(w, d, last);
        else
            collect_apply_call_within(w, event, d);
        d->site = (struct decoded_site){ 0, 0, false };
        last = now;
    }
}

/* From the thread's last event to its end. */
static void collect_add_last_interval(struct collect_worker *w, const struct trace_chunk *chunk,
                                      const struct decoder *d)
{
    const struct trace_thread *t = session_file_thread(w->file, chunk->thread);
    if (!chunk->last_of_thread || w->paused || !t || t->end_time <= d->time)
        return;
    const uint32_t node = w->stack[w->depth - 1].node;
    struct profile_node *top = &w->profile->nodes[node];
    const struct decoded_extras extras = {
        .flagged = t->end_flagged,
        .blocked = trace_end_blocked(t, profile_module_path(w->profile, node), t->end_time - d->time),
        .preempted = t->end_preempted,
    };
    top->elapsed += collect_length_within(w, d->time, t->end_time);
    collect_add_extras_within(w, top, &extras, d->time, t->end_time);
    w->profile->counts.intervals++;
}

static uint64_t collect_chunk_end(const struct collect_worker *w, const struct trace_chunk *chunk)
{
    return w->ends[chunk - w->file->chunks];
}

static bool collect_chunk_is_whole(const struct collect_worker *w, const struct trace_chunk *chunk)
{
    return !w->ends || (chunk->start_time >= w->from && collect_chunk_end(w, chunk) < w->to);
}

static bool collect_chunk_is_wanted(const struct collect_worker *w, const struct trace_chunk *chunk)
{
    if (chunk->kind != DWELL_CHUNK_EVENTS ||
        (w->ends && (chunk->start_time >= w->to || collect_chunk_end(w, chunk) < w->from)))
        return false;
    return selection_takes(w->selection, w->file, chunk->process, chunk->thread);
}

static void collect_chunk(struct collect_worker *w, const struct trace_chunk *chunk)
{
    struct profile_counts *counts = &w->profile->counts;
    struct decoder d;
    counts->chunks++;
    if (!window_begin(&w->window, w->file, chunk, &d)) {
        counts->damaged_chunks++;
        return;
    }
    w->process = session_file_process(w->file, chunk->process);
    generations_begin(&w->generations, w->process);
    w->chunk = chunk;
    w->paused = false;
    collect_open_frames(w, chunk, &d);
    do {
        if (collect_chunk_is_whole(w, chunk) && !w->sites)
            collect_events(w, &d);
        else
            collect_events_within(w, &d);
    } while (d.time < w->to && window_more(&w->window, &d));
    collect_add_last_interval(w, chunk, &d);
    counts->damaged_chunks += d.damaged;
}

static void *collect_work_chunks(void *argument)
{
    struct collect_worker *w = argument;
    for (;;) {
        size_t i = __atomic_fetch_add(w->next_chunk, 1, __ATOMIC_RELAXED);
        if (i >= w->file->chunk_count)
            return NULL;
        const struct trace_chunk *chunk = &w->file->chunks[i];
        if (collect_chunk_is_wanted(w, chunk))
            collect_chunk(w, chunk);
        progress_add(1);
    }
}

/* ---- workers ---- */

static void collect_begin_worker(struct collect_worker *w, const struct session_file *file,
                                 const struct selection *selection, const uint64_t *ends, size_t *next_chunk,
                                 bool sites)
{
    *w = (struct collect_worker){
        .file = file, .selection = selection, .to = UINT64_MAX, .ends = ends, .next_chunk = next_chunk
    };
    if (ends) {
        w->from = selection->from;
        w->to = selection->to;
    }
    w->profile = profile_new();
    w->children = index_new();
    w->sites = sites ? call_sites_new(w->profile) : NULL;
}

static void collect_end_worker(struct collect_worker *w)
{
    index_free(w->children);
    profile_free(w->profile);
    window_free(&w->window);
    generations_end(&w->generations);
    free(w->stack);
    call_sites_free(w->sites);
}

unsigned collect_default_jobs(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    return 1;
}

static struct profile *collect_with_workers(const struct session_file *file, unsigned jobs,
                                            const struct selection *selection, bool sites)
{
    size_t next_chunk = 0;
    uint64_t *ends = selection && selection->cut ? chunk_ends(file) : NULL;
    struct collect_worker *workers = need_memory(jobs, sizeof *workers);
    bool *started = need_memory(jobs, sizeof *started);
    for (unsigned i = 0; i < jobs; i++)
        collect_begin_worker(&workers[i], file, selection, ends, &next_chunk, sites);
    progress_begin("reading", file->path, file->chunk_count);
    for (unsigned i = 1; i < jobs; i++)
        started[i] = pthread_create(&workers[i].thread, NULL, collect_work_chunks, &workers[i]) == 0;
    collect_work_chunks(&workers[0]);
    struct profile *whole = profile_new();
    for (unsigned i = 0; i < jobs; i++) {
        if (started[i])
            pthread_join(workers[i].thread, NULL);
        profile_merge(whole, workers[i].profile);
        collect_end_worker(&workers[i]);
    }
    progress_end();
    struct profile *trees = trees_profile(file, selection, sites);
    profile_merge(whole, trees);
    profile_free(trees);
    threads_take_outside(whole);
    threads_flag_blind(whole, file);
    free(started);
    free(workers);
    if (ends) {
        struct profile *used = subtree_used(whole);
        profile_free(whole);
        whole = used;
    }
    free(ends);
    return whole;
}

struct profile *collect_selection(const struct session_file *file, unsigned jobs, const struct selection *selection)
{
    return collect_with_workers(file, jobs, selection, false);
}

struct profile *collect_sites(const struct session_file *file, unsigned jobs, const struct selection *selection)
{
    return collect_with_workers(file, jobs, selection, true);
}

struct profile *collect_profile(const struct session_file *file, unsigned jobs)
{
    return collect_selection(file, jobs, NULL);
}
