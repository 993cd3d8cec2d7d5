/* The profile of a growing session: new chunks are added to the existing profile, open intervals at each look. */
#include "profile/follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "clock.h"
#include "profile/collect.h"
#include "profile/counted.h"
#include "profile/identify.h"
#include "trace/alive.h"
#include "trace/thread_ends.h"

struct follow *follow_open(const char *path, const char **error)
{
    struct growth *growth = growth_open(path, error);
    if (!growth)
        return NULL;
    struct follow *f = need_memory(1, sizeof *f);
    f->growth = growth;
    f->events = profile_new();
    f->alive = true;
    return f;
}

static void follow_drop_profile(struct profile *p)
{
    if (p)
        profile_free(p);
}

void follow_close(struct follow *f)
{
    growth_close(f->growth);
    follow_drop_profile(f->events);
    follow_drop_profile(f->whole);
    for (size_t i = 0; i < f->look_count; i++)
        profile_free(f->looks[i].whole);
    free(f->looks);
    follow_drop_profile(f->recent);
    follow_drop_profile(f->window);
    free(f);
}

/* ---- reading ---- */

static const char *follow_read_step(struct follow *f, uint64_t most, unsigned jobs)
{
    struct growth *g = f->growth;
    f->reading = session_now(g->file);
    f->read_at = clock_monotonic();
    const char *error = growth_step(g, most, !f->alive);
    if (error)
        return error;
    f->alive = session_is_alive(g->file);
    struct profile *fresh = collect_chunks(g->file, g->fresh, g->fresh_count, g->fresh_count > 1 ? jobs : 1);
    profile_merge(f->events, fresh);
    profile_free(fresh);
    return NULL;
}

const char *follow_read(struct follow *f, uint64_t most, unsigned jobs)
{
    const bool alive = f->alive;
    const char *error = follow_read_step(f, most, jobs);
    if (!error && alive && !f->alive)
        error = follow_read_step(f, most, jobs); /* the program's last events */
    return error;
}

/* ---- looking ---- */

/* A copy without values, in which the entries have the same numbers. */
static struct profile *follow_new_alike(const struct profile *p)
{
    struct profile *copy = profile_new();
    if (!p)
        return copy;
    profile_copy_functions(copy, p);
    for (size_t i = 0, thread = 0; i < p->node_count; i++) {
        if (p->nodes[i].parent == PROFILE_NONE) { /* roots are in the order of their threads */
            profile_root(copy, p->threads[thread].process, p->threads[thread].thread);
            thread++;
        } else {
            profile_child(copy, p->nodes[i].parent, p->nodes[i].function);
        }
    }
    return copy;
}

/* Ends the threads that still run, at that time. */
static void follow_end_threads(struct session_file *file, uint64_t time)
{
    bool *alive = need_memory(file->process_count, sizeof *alive);
    for (size_t i = 0; i < file->process_count; i++)
        alive[i] = process_is_alive(file, &file->processes[i]);
    for (size_t i = 0; i < file->thread_count; i++) {
        struct trace_thread *t = &file->threads[i];
        const struct trace_process *p = session_file_process(file, t->process);
        if (t->end_time || !p || !alive[p - file->processes])
            continue;
        t->end_time = time;
        t->end_recorded = true;
        if (trace_records_switches(t) && thread_is_waiting(p->pid, t->tid)) { /* assumed since its last event */
            t->end_flagged = true;
            t->end_blocked = UINT64_MAX;
        }
    }
    free(alive);
}

/* Adds the time since a thread's last event to its innermost call. OS events of that time are not recorded yet. */
static void follow_add_open_interval(struct profile *p, const struct session_file *file, const struct growth_thread *g,
                                     uint64_t until)
{
    const struct trace_thread *t = session_file_thread(file, g->thread);
    const struct trace_process *process = session_file_process(file, g->process);
    const struct open_stack *s = &g->stack;
    const uint64_t last = s->state.last, end = t ? smaller(t->end_time, until) : 0;
    if (s->state.paused || !s->depth || end <= last)
        return;
    uint32_t at = profile_root(p, g->process, g->thread);
    for (uint32_t i = 0; i < s->depth; i++)
        at = profile_child(p, at, identify_function(p, process, s->frames[i].function, s->frames[i].enter_time));
    const uint64_t length = end - last;
    const uint64_t blocked = thread_end_blocked(t, profile_module_path(p, at), length),
                   preempted = smaller(t->end_preempted, length - blocked);
    p->nodes[at].elapsed += length;
    p->nodes[at].blocked += blocked;
    p->nodes[at].preempted += preempted;
    if (t->end_flagged || blocked || preempted || (t->announced && t->os_source == DWELL_OS_NONE))
        p->nodes[at].flagged += length;
}

static struct profile *follow_difference(const struct profile *now, const struct profile *before)
{
    static const struct profile_node nothing;
    struct profile *p = follow_new_alike(now);
    for (size_t i = 0; i < p->node_count; i++) {
        struct profile_node *node = &p->nodes[i];
        profile_add_values(node, &now->nodes[i]);
        amounts_subtract(node, i < before->node_count ? &before->nodes[i] : &nothing);
    }
    counted_add_difference(p, now, before);
    return p;
}

/* A thread of which not everything has been read is known up to the last complete look only: a later time would be
 * given to the call that was open then. */
static void follow_add_open_intervals(const struct follow *f, struct profile *whole)
{
    const struct growth *g = f->growth;
    for (size_t i = 0; i < g->thread_count; i++)
        follow_add_open_interval(whole, g->file, &g->threads[i],
                                 f->alive && (g->left || g->threads[i].behind) ? f->until : UINT64_MAX);
}

static struct profile *follow_make_whole(const struct follow *f)
{
    const struct growth *g = f->growth;
    struct profile *whole = follow_new_alike(f->whole);
    profile_merge(whole, f->events);
    if (g->file->chunk_count || g->file->sums.reported_count) {
        struct profile *trees = collect_profile(g->file, 1);
        profile_merge(whole, trees);
        profile_free(trees);
    }
    follow_add_open_intervals(f, whole);
    return whole;
}

/* Keeps the last look, and forgets those before the window. */
static void follow_keep_look(struct follow *f)
{
    GROW(f->looks, f->look_count, f->look_room);
    f->looks[f->look_count++] = (struct follow_look){ f->whole, f->looked };
    size_t old = 0;
    while (old + 1 < f->look_count && f->looks[old].time + FOLLOW_WINDOW < f->read_at)
        profile_free(f->looks[old++].whole);
    f->look_count -= old;
    memmove(f->looks, f->looks + old, f->look_count * sizeof *f->looks);
}

void follow_look(struct follow *f)
{
    struct growth *g = f->growth;
    if (f->alive)
        follow_end_threads(g->file, f->reading);
    struct profile *whole = follow_make_whole(f);
    if (f->complete)
        follow_keep_look(f);
    else
        follow_drop_profile(f->whole);
    follow_drop_profile(f->recent);
    follow_drop_profile(f->window);
    f->whole = whole;
    f->looked = f->read_at;
    f->complete = g->left == 0;
    if (f->complete)
        f->until = f->reading;
    const struct follow_look *last = f->look_count ? &f->looks[f->look_count - 1] : NULL;
    f->recent = last ? follow_difference(f->whole, last->whole) : NULL;
    f->window = last ? follow_difference(f->whole, f->looks[0].whole) : NULL;
    f->interval = last ? f->looked - last->time : 0;
}
