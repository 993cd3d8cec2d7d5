/* Reads the rows of waits of a session of sums. Each becomes an entry of the list, on the call path where filters leave
 * it. */
#include "causes/sum_causes.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/recorded_sessions.h"
#include "base/memory.h"
#include "base/units.h"
#include "profile/tree_sums.h"
#include "profile/trees.h"

struct sum_causes {
    struct wait_causes *causes;
    const struct analysis *loaded;
    struct tree_waits *trees; /* finds nodes of all threads by their numbers */
    uint32_t *places;         /* by node: that of the waiting and acting profile, or PROFILE_NONE */
    size_t room;
    const struct trace_thread *thread; /* the one whose rows are read */
    uint32_t root;                     /* the thread's root in the profile */
    uint64_t rate;                     /* of its clock, if ticks become nanoseconds; else zero */
};

static uint32_t sum_causes_place(const struct sum_causes *s, uint32_t thread, uint32_t number)
{
    const struct trace_thread *t = number == UINT32_MAX ? session_file_thread(s->loaded->file, thread) : NULL;
    if (t)
        return profile_find_root(s->causes->waiting, t->process, t->serial);
    const uint32_t node = tree_waits_find_node(s->trees, thread, number);
    return node == PROFILE_NONE ? PROFILE_NONE : s->places[node];
}

static uint64_t sum_causes_ns(const struct sum_causes *s, uint64_t ticks)
{
    return s->rate ? ticks_to_ns(ticks, s->rate) : ticks;
}

static void sum_causes_add(struct sum_causes *s, const struct dwell_cause_row *row)
{
    struct wait_causes *c = s->causes;
    const bool rest = row->set & DWELL_CAUSE_REST;
    const uint32_t place = row->node ? sum_causes_place(s, s->thread->serial, row->node) : s->root;
    if (place == PROFILE_NONE || rest != (c->waiting->nodes[place].parent == PROFILE_NONE) ||
        !causes_is_below_root(s->loaded, c->waiting, place))
        return;
    GROW(c->list, c->count, s->room);
    c->list[c->count++] = (struct caused_wait){
        .wait = {
            .place = { row->first_time, row->made_time, s->thread->process, s->thread->serial, place },
            .blocked = sum_causes_ns(s, row->blocked),
            .id = row->id,
            .kind = row->kind,
            .faulted = row->set & DWELL_CAUSE_FAULTED,
            .left = row->first_time,
            .back = row->first_time,
        },
        .ticks = sum_causes_ns(s, row->blocked),
        .count = row->waits,
        .longest = sum_causes_ns(s, row->longest),
        .rest = rest,
        .cause = row->cause <= CAUSE_WAKER ? row->cause : CAUSE_NONE,
        .thread = row->thread,
        .node = c->acting && row->cause_node ? sum_causes_place(s, row->thread, row->cause_node) : PROFILE_NONE,
        .act = PROFILE_NONE,
    };
    c->rest += rest ? row->waits : 0;
}

static bool sum_causes_take(void *context, const void *bytes)
{
    struct sum_causes *s = context;
    struct dwell_cause_row row;
    memcpy(&row, bytes, sizeof row);
    if (row.waits && row.set & (s->loaded->raw ? DWELL_CAUSE_RAW : DWELL_CAUSE_NET))
        sum_causes_add(s, &row);
    return row.waits != 0;
}

static void sum_causes_read(struct sum_causes *s)
{
    const struct session_file *file = s->loaded->file;
    struct tree_chunks chunks = tree_chunks_of(file, DWELL_CHUNK_CAUSES);
    for (size_t i = 0; i < file->thread_count; i++) {
        const struct trace_thread *t = &file->threads[i];
        if (!selection_takes(s->loaded->selection, file, t->process, t->serial))
            continue;
        s->thread = t;
        s->root = profile_find_root(s->causes->waiting, t->process, t->serial);
        s->rate = recorded_sessions_rate(file, t->process);
        tree_chunks_read(&chunks, file, t->process, t->serial, sizeof(struct dwell_cause_row), sum_causes_take, s);
    }
    tree_chunks_drop(&chunks);
}

void sum_causes_find(struct wait_causes *c, const struct analysis *analysis)
{
    struct sum_causes s = { .causes = c, .loaded = analysis, .trees = tree_waits_new(analysis->file) };
    struct profile *p = trees_profile_with_waits(analysis->file, NULL, s.trees);
    struct function_name *names = names_find(analysis->file, p);
    s.places = need_memory(p->node_count + 1, sizeof *s.places);
    c->waiting = c->own_waiting = call_filters_apply_tree(&analysis->request.filters, p, names, s.places);
    names_free(names, p->function_count);
    profile_free(p);
    c->waiting_names = c->own_waiting_names = names_find(analysis->file, c->waiting);
    if (analysis->file->header.also & DWELL_ALSO_CAUSES) {
        c->acting = c->waiting;
        c->acting_names = c->waiting_names;
    }
    c->counted = true;
    for (size_t i = 0; i < analysis->file->sums.summed_count; i++)
        c->counted &= analysis->file->sums.summed[i].record.waits_counted != 0;
    c->list = need_memory(1, sizeof *c->list);
    s.room = 1;
    sum_causes_read(&s);
    tree_waits_free(s.trees);
    free(s.places);
}
