/* Makes the sums of a recorded session, or of one of its shards. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/single_calls.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "causes/object_names.h"
#include "profile/collect.h"
#include "profile/counted.h"
#include "profile/session_samples.h"
#include "profile/subtree.h"
#include "profile/tree_durations.h"
#include "sums/sums.h"

struct sums_recording {
    struct sums *sums;
    struct sums_map *map;
    const struct session_file *file;
    struct sums_shard shard;
    unsigned jobs;
};

/* What only the session's writers need, and what depends on the place of the file, is left out. */
static struct dwell_file_header sums_header_of(const struct dwell_file_header *from)
{
    struct dwell_file_header h = *from;
    h.cursor = h.first_control = h.first_filters = h.warn_size = h.keep_free = 0;
    h.recorder_pid = h.global_stopped = h.filter_server = h.filter_asks = h.filter_answers = h.warned = 0;
    h.global_suspended = 0;
    h.next_process = h.next_thread = 0;
    h.also &= ~(uint32_t)DWELL_ALSO_CALL_SITES; /* paths with sites depend on the order of chunks */
    return h;
}

/* A file without a session id, such as one that a test has written, gets one from its header. */
static void sums_set_id(struct dwell_file_header *h)
{
    if (h->session_id[0] || h->session_id[1])
        return;
    const uint64_t facts[] = { h->start_ticks, h->start_realtime, h->end_ticks, h->ticks_per_second };
    h->session_id[0] = 1;
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        h->session_id[1] = (h->session_id[1] ^ facts[i]) * 0x9e3779b97f4a7c15u;
}

static bool sums_record_session(struct sums_recording *r, const struct sums_range *range, struct error *error)
{
    const struct session_file *file = r->file;
    struct trace_summed summed = { .held_length = (r->shard.count + 7) / 8, .host = file->host };
    struct dwell_rec_summed *record = &summed.record;
    record->record.type = DWELL_REC_SUMMED;
    record->processes = (uint32_t)range->process_end;
    record->threads = (uint32_t)range->thread_end;
    record->shards = r->shard.count;
    record->waits_counted = file->header.mode != DWELL_MODE_PROFILE || file->header.also & DWELL_ALSO_CAUSES;
    record->durations = file->header.mode == DWELL_MODE_PROFILE ? tree_durations_kind(file, 0) : DWELL_DURATIONS_NET;
    if (r->shard.number == 0) { /* what belongs to no chunk */
        record->damaged_chunks = file->health.damaged_chunks + file->health.missing_chunks;
        record->damaged_bytes = file->health.damaged_bytes + file->health.missing_bytes;
        record->damaged_records = file->health.damaged_records;
    }
    record->header = sums_header_of(&file->header);
    sums_set_id(&record->header);
    summed.held = need_memory(summed.held_length, 1);
    summed.held[r->shard.number / 8] |= (uint8_t)(1u << r->shard.number % 8);
    const bool good = sums_add_session(r->sums, r->map, &summed, range, error);
    free(summed.held);
    return good;
}

/* ---- call paths ---- */

/* Another session may know other names of functions that it does not have. */
static void sums_name_functions(struct sums_recording *r)
{
    struct sums *sums = r->sums;
    struct function_name *names = names_find(r->file, sums->profile);
    for (uint32_t i = 0; i < sums->profile->function_count; i++)
        if (sums->names[i].session == sums->session_count)
            sums_name_function(sums, i, names[i].linkage_name, names[i].file, names[i].line);
    names_free(names, sums->profile->function_count);
}

/* Adds a profile of the session, which is freed or kept, with what was counted. */
static void sums_record_profile(struct sums_recording *r, struct profile *p)
{
    struct sums_session *session = &r->sums->sessions[r->sums->session_count - 1];
    uint64_t counts[DWELL_SUMMED_COUNTS];
    memcpy(counts, &p->counts, sizeof counts);
    for (size_t i = 0; i < DWELL_SUMMED_COUNTS; i++)
        session->summed.record.counts[i] += counts[i];
    free(sums_take_profile(r->sums, r->map, p));
}

/* Only the limits and the durations without probes are left. */
static void sums_keep_limits(struct profile *p)
{
    for (size_t i = 0; i < p->node_count; i++) {
        struct profile_node *node = &p->nodes[i];
        const uint64_t shortest = node->net_shortest, longest = node->net_longest;
        struct durations *durations = node->durations;
        amounts_clear(node);
        node->durations = durations;
        node->net_shortest = shortest;
        node->net_longest = longest;
    }
    for (size_t i = 0; i < p->mark_count; i++)
        free(p->marks[i].text);
    p->mark_count = 0;
    p->counts = (struct profile_counts){ 0 };
}

/* The paths of the selected threads, with how long their calls took without probes. The caller takes l->profile. */
static void sums_collect_threads(const struct sums_recording *r, struct analysis *analysis)
{
    analysis->profile = collect_tree_durations(analysis->file, analysis->samples, r->jobs, analysis->selection,
                                               tree_durations_kinds(analysis->file), NULL);
    single_calls_find_net(analysis);
}

/* Durations are those of the shard's threads, and amounts those of its chunks. Only these need samples. */
static void sums_record_paths(struct sums_recording *r, struct analysis *analysis)
{
    const struct selection chunks = { .chunks = { r->shard.number, r->shard.count } };
    if (analysis->selection) {
        sums_collect_threads(r, analysis);
        sums_keep_limits(analysis->profile);
    }
    analysis->samples = session_samples_read(analysis->file, true);
    if (analysis->selection)
        collect_add_selection(analysis->profile, analysis->file, analysis->samples, r->jobs, &chunks);
    else
        sums_collect_threads(r, analysis);
    session_samples_free(analysis->samples);
    analysis->samples = NULL;
    struct profile *p = analysis->profile;
    analysis->profile = NULL;
    counted_collect(p, analysis->file, analysis->selection ? &chunks : NULL);
    sums_record_profile(r, p);
}

/* ---- waits ---- */

/* A number of a descriptor is one of its session. This makes it one of all. */
static uint64_t sums_descriptor_id(const struct sums_recording *r, uint64_t id)
{
    const uint64_t *session = r->sums->sessions[r->sums->session_count - 1].summed.record.header.session_id;
    return ((id ^ session[0]) * 0x9e3779b97f4a7c15u) ^ session[1];
}

static uint64_t sums_object_id(const struct sums_recording *r, unsigned kind, uint64_t id)
{
    if (!kind || object_is_of_process(kind, id))
        return id;
    return kind < DWELL_OBJECT_FILE || kind == DWELL_OBJECT_FUTEX ? sums_descriptor_id(r, id) | DWELL_OBJECT_SHARED
                                                                  : sums_descriptor_id(r, id);
}

static void sums_record_wait(struct sums_recording *r, const struct caused_wait *w, const uint32_t *waiting,
                             const uint32_t *acting, unsigned set, uint64_t ticks, uint64_t longest)
{
    const struct profile_wait *wait = &w->wait;
    const struct trace_maker *maker =
        wait->kind ? maker_list_find(&r->file->makers, wait->place.process, wait->kind, wait->id, wait->place.end)
                   : NULL;
    if (ticks)
        sums_add_cause(r->sums, &(struct sums_cause){
                                    .node = waiting[w->wait.place.node],
                                    .cause_thread = w->thread ? sums_thread(r->map, w->thread) : PROFILE_NONE,
                                    .cause_node = acting && w->node != PROFILE_NONE ? acting[w->node] : PROFILE_NONE,
                                    .kind = w->wait.kind,
                                    .cause = (uint8_t)w->cause,
                                    .set = (uint8_t)(set | (w->rest ? DWELL_CAUSE_REST : 0) |
                                                     (w->wait.faulted ? DWELL_CAUSE_FAULTED : 0)),
                                    .id = sums_object_id(r, wait->kind, wait->id),
                                    .made_time = maker ? maker->time : 0,
                                    .waits = w->count,
                                    .blocked = ticks,
                                    .longest = longest,
                                    .first_time = w->wait.place.begin,
                                });
}

static void sums_record_objects(struct sums_recording *r, const struct wait_causes *causes)
{
    struct object_names *names = object_names_new(r->file);
    for (size_t i = 0; i < causes->count; i++) {
        const struct profile_wait *w = &causes->list[i].wait;
        if (!w->kind || !object_is_of_process(w->kind, w->id) || w->kind == DWELL_OBJECT_SLEEP)
            continue;
        const char *name = object_names_find(names, w->place.process, w->id, w->place.end);
        if (name)
            sums_add_object(r->sums, sums_process(r->map, w->place.process), w->id, name);
    }
    object_names_free(names);
    for (size_t i = 0; i < r->file->makers.count; i++) {
        const struct trace_maker *m = &r->file->makers.list[i];
        sums_add_maker(r->sums, r->map, m, sums_object_id(r, m->kind, m->id));
    }
    for (size_t i = 0; i < r->file->descriptors.count; i++) {
        struct trace_descriptor d = r->file->descriptors.list[i];
        d.id = sums_descriptor_id(r, d.id);
        d.peer = d.peer ? sums_descriptor_id(r, d.peer) : 0;
        d.name = need_copy(d.name, strlen(d.name));
        descriptor_list_add(&r->sums->descriptors, &d);
    }
}

/* Mode profile without causes has the blocked times of paths alone, without the probes' time. */
static void sums_find_blocked(const struct sums_recording *r, struct analysis *analysis)
{
    if (analysis->file->header.mode != DWELL_MODE_PROFILE || analysis->file->header.also & DWELL_ALSO_CAUSES)
        return;
    analysis->profile = collect_selection(analysis->file, analysis->samples, r->jobs, analysis->selection);
    analysis->names = names_find(analysis->file, analysis->profile);
    analysis_subtract_overhead(analysis);
}

static void sums_drop_blocked(struct analysis *analysis)
{
    if (!analysis->profile)
        return;
    names_free(analysis->names, analysis->profile->function_count);
    profile_free(analysis->profile);
    analysis->profile = NULL;
    analysis->names = NULL;
}

/* The waits of a session, with the probes' time and without it. */
struct sums_waits {
    struct wait_causes raw, net; /* of mode profile; with events, `raw` has both */
};

static struct wait_causes sums_find_causes(struct analysis *analysis, bool raw)
{
    analysis->raw = raw;
    struct wait_causes causes = wait_causes_find(analysis);
    wait_causes_shrink(&causes);
    return causes;
}

static struct sums_waits sums_find_waits(const struct sums_recording *r, struct analysis *analysis)
{
    struct sums_waits waits = { .net = { 0 } };
    sums_find_blocked(r, analysis);
    waits.raw = sums_find_causes(analysis, true);
    if (analysis->file->header.mode == DWELL_MODE_PROFILE)
        waits.net = sums_find_causes(analysis, false);
    sums_drop_blocked(analysis);
    return waits;
}

/* The waits with the probes' time, without it, or both where they do not differ in more than the time itself. */
static void sums_record_causes(struct sums_recording *r, const struct wait_causes *causes, bool raw)
{
    const bool events = r->file->header.mode != DWELL_MODE_PROFILE;
    uint32_t *waiting = sums_add_nodes(r->sums, r->map, causes->waiting);
    uint32_t *acting = causes->acting ? sums_add_nodes(r->sums, r->map, causes->acting) : NULL;
    for (size_t i = 0; i < causes->count; i++) {
        const struct caused_wait *w = &causes->list[i];
        sums_record_wait(r, w, waiting, acting, raw ? DWELL_CAUSE_RAW : DWELL_CAUSE_NET, w->ticks, w->longest);
        if (events) /* each is one wait */
            sums_record_wait(r, w, waiting, acting, DWELL_CAUSE_NET, w->ticks, w->ticks);
    }
    free(waiting);
    free(acting);
}

static void sums_record_waits(struct sums_recording *r, struct sums_waits *waits)
{
    sums_record_causes(r, &waits->raw, true);
    sums_record_objects(r, &waits->raw);
    if (waits->net.waiting)
        sums_record_causes(r, &waits->net, false);
    wait_causes_drop(&waits->raw);
    wait_causes_drop(&waits->net);
}

/* Only recordings have order, a clock and build-ids. */
static bool sums_check_recorded(const struct session_file *file, struct error *error)
{
    if (file->header.origin & DWELL_ORIGIN_IMPORTED)
        return error_set(error, "%s: imported from a report, so it has no clock and no build-ids to add up by",
                         file->path);
    return file->header.origin & DWELL_ORIGIN_SUMS ? error_set(error, "%s: holds sums already", file->path) : true;
}

/* Only what reading needs: no rollup and no summary. Waits, and the durations of single calls, need events of several
 * chunks. So a shard finds those of some threads. */
static bool sums_open(struct analysis *analysis, const char *path, struct sums_shard shard, unsigned jobs,
                      struct error *error)
{
    const char *wrong;
    *analysis = (struct analysis){ .jobs = jobs, .file = session_file_open(path, &wrong) };
    if (!analysis->file)
        return error_set(error, "%s: %s", path, wrong);
    if (shard.count > 1) {
        analysis->request.selection.share = (struct selection_shard){ shard.number, shard.count };
        analysis->selection = &analysis->request.selection;
    }
    return true;
}

/* The file is opened once, as a session that still grows would differ the second time. Waits are found first: in mode
 * profile that needs all paths, which the sums then do not have yet. */
bool sums_add_recorded(struct sums *sums, const char *path, struct sums_shard shard, unsigned jobs, struct error *error)
{
    struct analysis analysis;
    if (!sums_open(&analysis, path, shard, jobs, error))
        return false;
    struct sums_map map = sums_map_new(analysis.file);
    struct sums_recording r = { sums, &map, analysis.file, shard, analysis_jobs(&analysis) };
    const struct sums_range all = { 0, analysis.file->process_count, 0, analysis.file->thread_count };
    const bool good = sums_check_recorded(analysis.file, error) && sums_record_session(&r, &all, error);
    if (good) {
        struct sums_waits waits = sums_find_waits(&r, &analysis);
        sums_record_paths(&r, &analysis);
        sums_record_waits(&r, &waits);
        sums_add_facts(sums, &map);
        sums_name_functions(&r);
    }
    sums_map_drop(&map);
    sums_take_error(sums, analysis.file);
    analysis_drop(&analysis);
    return good;
}

/* ---- while it is recorded ---- */

/* The processes and threads up to the first one that is not there yet, though a later one is. Then each has the same
 * place now and later. */
static struct sums_range sums_find_known(const struct session_file *file)
{
    struct sums_range r = { 0 };
    while (r.process_end < file->process_count && file->processes[r.process_end].serial == r.process_end + 1)
        r.process_end++;
    while (r.thread_end < file->thread_count && file->threads[r.thread_end].serial == r.thread_end + 1 &&
           file->threads[r.thread_end].process - 1 < r.process_end)
        r.thread_end++;
    return r;
}

static bool sums_knows_thread(const struct sums_map *map, const struct profile_thread *t)
{
    return sums_process(map, t->process) != PROFILE_NONE && sums_thread(map, t->thread) != PROFILE_NONE;
}

/* Copies the paths and counted calls of known threads. Paths have the elapsed time that they have in `before`. */
static struct profile *sums_copy_known(const struct sums_map *map, struct profile *before, const struct profile *now)
{
    uint32_t *earlier = profile_add_nodes(before, now), *nodes = need_memory(now->node_count + 1, sizeof *nodes);
    bool *kept = need_memory(now->node_count + 1, sizeof *kept);
    for (size_t i = 0; i < now->thread_count; i++)
        kept[now->threads[i].root] = sums_knows_thread(map, &now->threads[i]);
    for (size_t i = 0; i < now->node_count; i++)
        kept[i] = kept[i] || (now->nodes[i].parent != PROFILE_NONE && kept[now->nodes[i].parent]);
    struct profile *p = subtree_kept(now, kept, nodes);
    for (size_t i = 0; i < now->node_count; i++)
        if (kept[i])
            p->nodes[nodes[i]].elapsed = before->nodes[earlier[i]].elapsed;
    for (size_t i = 0; i < now->counted_count; i++) {
        const struct profile_thread *t = &now->threads[now->counted[i].thread];
        if (sums_knows_thread(map, t))
            counted_add_on(p, t->process, t->thread, now->counted[i].function, now->counted[i].calls);
    }
    p->counts = now->counts;
    p->counts.exits = p->counts.damaged_chunks = 0; /* known at the end only */
    free(kept);
    free(nodes);
    free(earlier);
    return p;
}

/* The runtime adds to the elapsed time of a path first, and to the parts of this time afterwards. So the elapsed time
 * is read before the parts: no part is in it that is missing in them. */
static void sums_record_running(struct sums_recording *r)
{
    struct profile *before = collect_selection(r->file, NULL, 1, NULL),
                   *now = collect_tree_durations(r->file, NULL, 1, NULL, tree_durations_kinds(r->file), NULL);
    counted_collect(now, r->file, NULL);
    struct profile *known = sums_copy_known(r->map, before, now);
    profile_free(before);
    profile_free(now);
    sums_record_profile(r, known);
}

bool sums_add_running(struct sums *sums, const struct session_file *file, struct error *error)
{
    struct sums_map map = sums_map_new(file);
    const struct sums_range known = sums_find_known(file);
    struct sums_recording r = { sums, &map, file, { 0, 1 }, 1 };
    const bool good = sums_check_recorded(file, error) && sums_record_session(&r, &known, error);
    if (good) {
        sums_record_running(&r);
        sums_add_facts(sums, &map);
    }
    sums_map_drop(&map);
    sums_take_error(sums, file);
    return good;
}
