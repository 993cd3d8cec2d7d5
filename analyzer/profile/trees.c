/* Reads the call trees of a session of mode profile: a thread's chunks in sequence, node after node. */
#include "profile/trees.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "profile/identify.h"
#include "profile/tree_durations.h"
#include "profile/tree_sums.h"
#include "trace/chunk_order.h"
#include "trace/recorded_values.h"
#include "trace/thread_ends.h"

/* The state of reading one thread's tree. */
struct trees_reader {
    const struct session_file *file;
    struct profile *profile;
    bool sites;
    const struct recorded_values *values; /* calls with different ones are on different paths; NULL if they are not */
    uint32_t values_module, thread;
    struct chunk_buffer buffer;
    uint32_t *nodes; /* by number in the file: index in the profile; [0] is the thread's root */
    size_t count, room;
    struct dwell_tree_head head;
    struct tree_waits *waits;     /* NULL if they are not wanted */
    struct tree_chunks sums;      /* the file's chunks with rows of sums */
    struct tree_rows rows;        /* of the thread */
    struct tree_chunks durations; /* the file's chunks with them; none if they are not wanted */
    unsigned kinds;               /* which durations are wanted: bits of tree_durations_kind_bit */
    struct tree_counting counting;
    size_t damaged_durations; /* how many threads have damaged ones */
    trees_root *root;         /* finds the root of a thread */
    void *context;            /* what `root` gets */
};

static int trees_compare_chunks(const void *a, const void *b)
{
    return chunk_order_compare(*(const struct trace_chunk *const *)a, *(const struct trace_chunk *const *)b);
}

static void trees_begin_thread(struct trees_reader *r, const struct trace_chunk *first)
{
    r->thread = first->thread;
    r->count = 0;
    GROW(r->nodes, r->count, r->room);
    r->nodes[r->count++] = r->root(r->context, r->profile, first->process, first->thread);
    tree_rows_begin(&r->rows, r->file, &r->sums, first->process, first->thread);
    memset(&r->head, 0, sizeof r->head);
}

/* A tree does not record whether the intervals with runtime work were flagged. All of that time counts as flagged. In
 * older recordings it contains time off the CPU, which flagged time lacks. `off_cpu`: ticks. */
static void trees_add_flagged(struct profile_node *node, const struct dwell_tree_node *from, uint64_t off_cpu)
{
    const uint64_t runtime = smaller(from->runtime, from->elapsed - off_cpu);
    node->flagged += runtime + smaller(larger(from->flagged, off_cpu), from->elapsed - runtime);
    node->runtime += runtime;
    node->runtime_flagged += runtime;
}

static void trees_add_row(struct profile_node *node, const struct dwell_sum_row *row, uint64_t elapsed,
                          uint64_t off_cpu)
{
    node->flagged += smaller(row->flagged, elapsed);
    node->runtime += smaller(row->runtime, elapsed - off_cpu);
    node->runtime_flagged += smaller(row->runtime_flagged, elapsed - off_cpu);
    node->samples += row->samples;
    node->samples_in_stubs += row->samples_in_stubs;
    node->sample_time += row->weighed ? row->sample_time : 0;
    node->stub_time += row->weighed ? row->stub_time : 0;
    node->first = smaller(node->first, row->first);
    node->net_shortest = smaller(node->net_shortest, row->net_shortest);
    node->net_longest = larger(node->net_longest, row->net_longest);
}

static uint64_t trees_shortest(const struct dwell_tree_node *from)
{
    const uint64_t no_call = DWELL_SHORTEST_LOST - 1, limit = from->shortest & no_call;
    if (!(from->shortest & DWELL_SHORTEST_COUNTED))
        return from->shortest;
    return from->shortest == UINT64_MAX || limit == no_call ? UINT64_MAX : limit;
}

void trees_take_node(struct profile_node *node, const struct dwell_tree_node *from, const struct dwell_sum_row *row)
{
    node->elapsed += from->elapsed;
    const uint64_t blocked = smaller(from->blocked, from->elapsed);
    const uint64_t preempted = smaller(from->preempted, from->elapsed - blocked);
    node->blocked += blocked;
    node->preempted += preempted;
    node->page_faults += from->page_faults;
    if (row)
        trees_add_row(node, row, from->elapsed, blocked + preempted);
    else
        trees_add_flagged(node, from, blocked + preempted);
    node->calls += from->calls;
    node->shortest = smaller(node->shortest, trees_shortest(from));
    if (from->longest > node->longest)
        node->longest = from->longest;
}

/* PROFILE_NONE if the node's calls have no values. */
static uint32_t trees_find_values(struct trees_reader *r)
{
    size_t count;
    const struct recorded_row *row = recorded_values_at(r->values, r->thread, r->count, &count);
    return count ? profile_site(r->profile, r->values_module, (uint64_t)(row - r->values->rows), false) : PROFILE_NONE;
}

static uint32_t trees_find_site(struct trees_reader *r, const struct trace_process *process,
                                const struct dwell_tree_node *from)
{
    if (r->values)
        return trees_find_values(r);
    if (from->site == DWELL_SITE_SAMPLED && r->file->sums.summed_count)
        return PROFILE_SAMPLED;
    return r->sites && from->site ? identify_site(r->profile, process, from->site, from->first_time) : PROFILE_NONE;
}

static bool trees_add_node(struct trees_reader *r, const struct trace_process *process,
                           const struct dwell_tree_node *from)
{
    if (from->parent >= r->count)
        return false;
    struct profile *p = r->profile;
    const uint32_t function = identify_function(p, process, from->function, from->first_time);
    const uint32_t site = trees_find_site(r, process, from);
    const uint32_t index = profile_child_from(p, r->nodes[from->parent], function, site);
    trees_take_node(&p->nodes[index], from, tree_rows_find(&r->rows, (uint32_t)r->count));
    if (r->kinds && !r->file->sums.summed_count)
        tree_counting_add(&r->counting, function, from);
    p->counts.enters += from->calls;
    p->counts.exits += from->calls;
    p->counts.intervals += 2 * from->calls;
    p->counts.flagged_intervals += from->flagged_intervals;
    p->counts.os_events += from->os_events;
    p->counts.page_faults += from->page_faults;
    p->counts.blocked += from->blocked;
    p->counts.preempted += from->preempted;
    GROW(r->nodes, r->count, r->room);
    r->nodes[r->count++] = index;
    return true;
}

/* Returns false if the chunk is damaged. Then the thread's later chunks cannot be used. */
static bool trees_read_chunk(struct trees_reader *r, const struct trace_chunk *chunk)
{
    if (!session_file_fill_buffer(r->file, chunk, &r->buffer))
        return false;
    const struct trace_process *process = session_file_process(r->file, chunk->process);
    const uint32_t end = trace_chunk_end(chunk);
    uint32_t at = sizeof(struct dwell_chunk_header);
    if (chunk->sequence == 0) {
        memcpy(&r->head, r->buffer.bytes + at, sizeof r->head);
        at += sizeof r->head;
    }
    for (; at + sizeof(struct dwell_tree_node) <= end; at += sizeof(struct dwell_tree_node)) {
        struct dwell_tree_node node;
        memcpy(&node, r->buffer.bytes + at, sizeof node);
        if (node.function == 0)
            return true;
        if (!trees_add_node(r, process, &node))
            return false;
    }
    return true;
}

/* Subtracts the open calls from the exits, and adds the time up to the thread's end to the innermost open call. */
static void trees_end_thread(struct trees_reader *r, const struct trace_chunk *any)
{
    struct profile *p = r->profile;
    const struct trace_thread *t = session_file_thread(r->file, any->thread);
    const uint32_t top = r->head.top < r->count ? r->nodes[r->head.top] : r->nodes[0];
    uint64_t open = 0;
    for (uint32_t node = top; p->nodes[node].parent != PROFILE_NONE; node = p->nodes[node].parent)
        open += p->nodes[node].calls > 0;
    p->counts.unwound += r->head.left;
    p->counts.exits -= open + r->head.left < p->counts.exits ? open + r->head.left : p->counts.exits;
    if (r->head.paused || !t || t->end_time <= r->head.last_time || (r->file->health.lacks_parts && !t->end_recorded))
        return;
    struct profile_node *node = &p->nodes[top];
    const uint64_t length = t->end_time - r->head.last_time,
                   blocked = thread_end_blocked(t, profile_module_path(p, top), length),
                   preempted = smaller(t->end_preempted, length - blocked);
    node->elapsed += length;
    node->flagged += t->end_flagged || blocked || preempted ? length : 0;
    node->blocked += blocked;
    node->preempted += preempted;
    p->counts.blocked += blocked;
    p->counts.preempted += preempted;
}

static bool trees_want_durations(const struct trees_reader *r, uint32_t process)
{
    const enum dwell_durations kind =
        r->file->sums.summed_count ? tree_durations_kind(r->file, process) : DWELL_DURATIONS_RAW;
    return r->kinds & tree_durations_kind_bit(kind);
}

/* Reads the chunks of one thread, which are in sequence. */
static void trees_read_thread(struct trees_reader *r, const struct trace_chunk *const *chunks, size_t count)
{
    trees_begin_thread(r, chunks[0]);
    for (size_t i = 0; i < count; i++) {
        r->profile->counts.chunks++;
        if (chunks[i]->sequence != i || !trees_read_chunk(r, chunks[i])) {
            r->profile->counts.damaged_chunks += count - i;
            break;
        }
    }
    trees_end_thread(r, chunks[0]);
    if (trees_want_durations(r, chunks[0]->process))
        r->damaged_durations += !tree_durations_read(&r->durations, r->file, chunks[0]->process, chunks[0]->thread,
                                                     r->profile, r->nodes, r->count);
    if (r->waits)
        tree_waits_add_thread(r->waits, r->file, chunks[0], r->nodes, r->count,
                              r->nodes[r->head.top < r->count ? r->head.top : 0]);
}

static uint32_t trees_identify_module(struct profile *p, const struct trace_process *process, uint64_t address)
{
    const struct trace_module *m = process ? trace_module_at(process, address, 0) : NULL;
    return m ? profile_module(p, m->path, m->build_id, m->build_id_length)
             : profile_module(p, "", (const uint8_t *)"", 0);
}

/* Reads the rows of an imported report. They have no threads, so a selection of threads excludes them. */
static void trees_read_reported(struct profile *p, const struct session_file *file, const struct selection *selection)
{
    if (selection && selection->threads.count)
        return;
    for (size_t i = 0; i < file->sums.reported_count; i++) {
        const struct dwell_rec_reported *from = &file->sums.reported[i].row;
        const struct trace_process *process = session_file_process(file, file->sums.reported[i].process);
        if (!selection_takes_process(selection, file, file->sums.reported[i].process))
            continue;
        GROW(p->reported, p->reported_count, p->reported_room);
        struct profile_reported *into = &p->reported[p->reported_count++];
        *into = (struct profile_reported){
            .process = file->sums.reported[i].process,
            .kind = from->kind,
            .function = from->kind == DWELL_REPORTED_MODULE ? trees_identify_module(p, process, from->function)
                                                            : identify_function(p, process, from->function, 0),
            .other = from->other && from->kind != DWELL_REPORTED_MODULE ? identify_function(p, process, from->other, 0) : PROFILE_NONE,
            .times = {
                .elapsed_inclusive = from->elapsed_inclusive,
                .elapsed_exclusive = from->elapsed_exclusive,
                .application_inclusive = from->application_inclusive,
                .application_exclusive = from->application_exclusive,
                .calls = from->calls,
                .shortest = from->shortest,
                .longest = from->longest,
            },
            .stated = file->sums.reported[i].stated,
        };
    }
}

/* ---- files ---- */

static void trees_read_threads(struct trees_reader *r, const struct selection *selection)
{
    const struct session_file *file = r->file;
    const struct trace_chunk **chunks = need_memory(file->chunk_count, sizeof *chunks);
    size_t count = 0;
    for (size_t i = 0; i < file->chunk_count; i++)
        if (file->chunks[i].kind == DWELL_CHUNK_CALL_TREE && !(selection && selection->cut) &&
            selection_takes_chunk(selection, file, &file->chunks[i]) &&
            selection_takes(selection, file, file->chunks[i].process, file->chunks[i].thread))
            chunks[count++] = &file->chunks[i];
    if (count)
        qsort(chunks, count, sizeof *chunks, trees_compare_chunks);
    r->sums = tree_chunks_of(file, DWELL_CHUNK_SUMS);
    if (r->kinds)
        r->durations = tree_chunks_of(file, DWELL_CHUNK_DURATIONS);
    for (size_t first = 0, next; first < count; first = next) {
        for (next = first + 1; next < count && chunks[next]->process == chunks[first]->process &&
                               chunks[next]->thread == chunks[first]->thread;)
            next++;
        trees_read_thread(r, chunks + first, next - first);
    }
    free(chunks);
    tree_chunks_drop(&r->sums);
    tree_chunks_drop(&r->durations);
    tree_rows_drop(&r->rows);
    if (r->kinds && !file->sums.summed_count)
        tree_durations_take_limits(r->profile);
    r->profile->uncounted_calls = tree_counting_end(&r->counting, r->profile, &r->profile->uncounted_functions);
    free(r->buffer.bytes);
    free(r->nodes);
}

static uint32_t trees_own_root(void *context, struct profile *p, uint32_t process, uint32_t thread)
{
    (void)context;
    return profile_root(p, process, thread);
}

static struct profile *trees_read(const struct session_file *file, const struct selection *selection, bool sites,
                                  unsigned kinds, struct tree_waits *waits)
{
    struct trees_reader r = {
        .file = file, .profile = profile_new(), .sites = sites, .waits = waits, .root = trees_own_root, .kinds = kinds
    };
    trees_read_threads(&r, selection);
    r.profile->counts.damaged_chunks += r.damaged_durations;
    trees_read_reported(r.profile, file, selection);
    return r.profile;
}

struct profile *trees_profile(const struct session_file *file, const struct selection *selection, bool sites)
{
    return trees_read(file, selection, sites, 0, NULL);
}

struct profile *trees_profile_with_durations(const struct session_file *file, const struct selection *selection,
                                             unsigned kinds)
{
    return trees_read(file, selection, false, kinds, NULL);
}

/* No module of a process has a path with a line end. */
static const char trees_values_path[] = "values\n";

struct profile *trees_profile_by_values(const struct session_file *file, const struct selection *selection,
                                        unsigned kinds, const struct recorded_values *values)
{
    struct trees_reader r = {
        .file = file, .profile = profile_new(), .values = values, .root = trees_own_root, .kinds = kinds
    };
    r.values_module = profile_module(r.profile, trees_values_path, NULL, 0);
    trees_read_threads(&r, selection);
    r.profile->counts.damaged_chunks += r.damaged_durations;
    return r.profile;
}

const struct recorded_row *trees_values_of(const struct profile *p, uint32_t node, const struct recorded_values *values)
{
    const uint32_t site = p->nodes[node].site;
    if (site >= p->site_count || strcmp(p->modules[p->sites[site].module].path, trees_values_path) != 0 ||
        p->sites[site].offset >= values->row_count)
        return NULL;
    return &values->rows[p->sites[site].offset];
}

struct profile *trees_profile_with_waits(const struct session_file *file, const struct selection *selection,
                                         struct tree_waits *waits)
{
    return trees_read(file, selection, false, 0, waits);
}

bool trees_add_with_waits(struct profile *into, const struct session_file *file, struct tree_waits *waits,
                          trees_root *root, void *context)
{
    struct trees_reader r = { .file = file,
                              .profile = into,
                              .waits = waits,
                              .root = root,
                              .context = context,
                              .kinds = tree_durations_kinds(file) };
    trees_read_threads(&r, NULL);
    return r.damaged_durations == 0;
}
