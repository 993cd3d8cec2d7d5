/* The sessions of sums, with their processes and threads: adds them, and joins their shards and deltas. */
#include <stdlib.h>
#include <string.h>

#include "analysis/recorded_sessions.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "sums/sums.h"
#include "trace/header.h"

static void sums_free_host(struct trace_host *host)
{
    free(host->system);
    free(host->release);
    free(host->version);
    free(host->machine);
    free(host->node);
}

static void sums_free_process(struct trace_process *p)
{
    free(p->path);
    free(p->arguments);
    free(p->name);
}

void sums_free_sessions(struct sums *sums)
{
    for (size_t i = 0; i < sums->session_count; i++) {
        sums_free_host(&sums->sessions[i].summed.host);
        free(sums->sessions[i].summed.held);
        free(sums->sessions[i].processes);
        free(sums->sessions[i].threads);
    }
    for (size_t i = 0; i < sums->process_count; i++)
        sums_free_process(&sums->processes[i]);
    for (size_t i = 0; i < sums->thread_count; i++)
        free(sums->threads[i].name);
    free(sums->sessions);
    free(sums->processes);
    free(sums->threads);
}

/* ---- processes and threads ---- */

struct sums_map sums_map_new(const struct session_file *file)
{
    struct sums_map map = { file, need_memory(file->process_count + 1, sizeof(uint32_t)),
                            need_memory(file->thread_count + 1, sizeof(uint32_t)) };
    memset(map.processes, 0xff, (file->process_count + 1) * sizeof *map.processes);
    memset(map.threads, 0xff, (file->thread_count + 1) * sizeof *map.threads);
    return map;
}

void sums_map_drop(struct sums_map *map)
{
    free(map->processes);
    free(map->threads);
}

uint32_t sums_process(const struct sums_map *map, uint32_t serial)
{
    return map->processes[session_file_process_index(map->file, serial)];
}

uint32_t sums_thread(const struct sums_map *map, uint32_t serial)
{
    return map->threads[session_file_thread_index(map->file, serial)];
}

static char *sums_copy(const char *text)
{
    return text ? need_copy(text, strlen(text)) : NULL;
}

/* The map has the parent already if it comes before the process, as the runtime numbers them. */
static struct trace_process sums_copy_process(const struct sums_map *map, const struct trace_process *from)
{
    return (struct trace_process){
        .pid = from->pid,
        .parent_pid = from->parent_pid,
        .parent_process = sums_process(map, from->parent_process) + 1, /* zero if there is none */
        .start_time = from->start_time,
        .end_time = from->end_time,
        .end_how = from->end_how,
        .end_value = from->end_value,
        .end_recorded = from->end_recorded,
        .path = sums_copy(from->path),
        .arguments = sums_copy(from->arguments),
        .name = sums_copy(from->name),
        .cpu = from->cpu,
        .probes = from->probes,
    };
}

static struct trace_thread sums_copy_thread(const struct sums_map *map, const struct trace_thread *from)
{
    struct trace_thread t = *from;
    t.process = sums_process(map, from->process) + 1;
    t.maker = 0;
    t.name = sums_copy(from->name);
    return t;
}

/* ---- what a session has lost ---- */

void sums_losses_add(struct dwell_file_header *h, const struct sums_losses *losses)
{
    h->lost_events += losses->events;
    h->lost_threads += losses->threads;
    h->lost_trace_events += losses->trace_events;
    h->replaced_events += losses->replaced;
    header_lose_samples(h, losses->samples);
}

struct sums_losses sums_losses_of(const struct dwell_file_header *h)
{
    return (struct sums_losses){ h->lost_events, h->lost_threads, h->lost_trace_events, h->replaced_events,
                                 h->lost_samples };
}

/* ---- sessions ---- */

static struct trace_summed sums_copy_summed(const struct trace_summed *from)
{
    struct trace_summed to = *from;
    to.held = need_memory(from->held_length + 1, 1);
    memcpy(to.held, from->held, from->held_length);
    to.host = (struct trace_host){ .processors = from->host.processors };
    to.host.system = sums_copy(from->host.system);
    to.host.release = sums_copy(from->host.release);
    to.host.version = sums_copy(from->host.version);
    to.host.machine = sums_copy(from->host.machine);
    to.host.node = sums_copy(from->host.node);
    return to;
}

static struct sums_session *sums_find_session(struct sums *sums, const struct trace_summed *summed)
{
    const uint64_t *id = summed->record.header.session_id;
    const uint32_t place = intern_find(&sums->session_keys, id, sizeof summed->record.header.session_id);
    return place == INTERN_NONE ? NULL : &sums->sessions[place];
}

/* A delta of mode profile may be from before the first counted call. Of other parts, all have them or none. */
static uint32_t sums_join_durations(uint32_t a, uint32_t b)
{
    if (a == DWELL_DURATIONS_RAW || b == DWELL_DURATIONS_RAW)
        return DWELL_DURATIONS_RAW;
    return a && b ? DWELL_DURATIONS_NET : DWELL_DURATIONS_NONE;
}

static void sums_join_counts(struct trace_summed *into, const struct trace_summed *from)
{
    into->record.durations = sums_join_durations(into->record.durations, from->record.durations);
    for (size_t i = 0; i < DWELL_SUMMED_COUNTS; i++)
        into->record.counts[i] += from->record.counts[i];
    if (into->held_length < from->held_length) {
        into->held = need_more(into->held, from->held_length, 1);
        memset(into->held + into->held_length, 0, from->held_length - into->held_length);
        into->held_length = from->held_length;
    }
    for (size_t i = 0; i < from->held_length; i++)
        into->held[i] |= from->held[i];
}

/* The session is as if it had never been split. */
static void sums_make_whole(struct trace_summed *s)
{
    s->record.shards = 1;
    s->record.deltas = 0;
    s->record.begin = 0;
    s->held_length = 1;
    s->held[0] = 1;
}

/* What the session says of itself is that of the latest delta, but for what it has lost: each delta has a part of it.
 */
static void sums_take_newer(struct trace_summed *into, const struct trace_summed *from)
{
    const struct dwell_rec_summed older = into->record;
    uint8_t *held = into->held;
    const size_t held_length = into->held_length;
    sums_free_host(&into->host);
    *into = sums_copy_summed(from);
    free(into->held);
    into->held = held;
    into->held_length = held_length;
    memcpy(into->record.counts, older.counts, sizeof older.counts);
    into->record.deltas = (uint32_t)larger(older.deltas, from->record.deltas);
    into->record.begin = older.begin;
    into->record.durations = older.durations;
    const struct sums_losses losses = sums_losses_of(&older.header);
    sums_losses_add(&into->record.header, &losses);
}

static void sums_join_deltas(struct trace_summed *into, const struct trace_summed *from)
{
    if (recorded_sessions_last(from) > recorded_sessions_last(into)) {
        sums_take_newer(into, from);
    } else {
        const struct sums_losses losses = sums_losses_of(&from->record.header);
        sums_losses_add(&into->record.header, &losses);
        into->record.deltas = (uint32_t)larger(into->record.deltas, from->record.deltas);
    }
    into->record.begin = smaller(into->record.begin, from->record.begin);
    sums_join_counts(into, from);
    if (into->record.deltas && recorded_sessions_held(into) == into->record.deltas)
        sums_make_whole(into);
}

static void sums_join_shards(struct trace_summed *into, const struct trace_summed *from)
{
    sums_join_counts(into, from);
    if (recorded_sessions_held(into) == into->record.shards)
        sums_make_whole(into);
}

static bool sums_check_shards(const struct sums_session *known, const struct trace_summed *added,
                              const struct session_file *file, struct error *error)
{
    const struct dwell_rec_summed *a = &known->summed.record, *b = &added->record;
    if (a->shards != b->shards && a->shards > 1 && b->shards > 1)
        return error_set(error, "%s: has shards of %u, and other files have shards of %u of the same session",
                         file->path, b->shards, a->shards);
    bool twice = a->shards != b->shards;
    for (size_t i = 0; i < added->held_length && i < known->summed.held_length && !twice; i++)
        twice = known->summed.held[i] & added->held[i];
    if (twice)
        return error_set(error, "%s: has sums that another file has, too, so its calls would count twice", file->path);
    if (a->shards && (a->processes != b->processes || a->threads != b->threads))
        return error_set(error, "%s: is a shard of a session with other processes and threads", file->path);
    return true;
}

static struct sums_session *sums_new_session(struct sums *sums, const struct trace_summed *summed)
{
    intern(&sums->session_keys, summed->record.header.session_id, sizeof summed->record.header.session_id);
    GROW(sums->sessions, sums->session_count, sums->session_room);
    sums->sessions[sums->session_count] = (struct sums_session){ .summed = sums_copy_summed(summed) };
    return &sums->sessions[sums->session_count++];
}

/* Finds the processes of the session, or adds them. Those of a later delta say more. */
static void sums_map_processes(struct sums *sums, struct sums_session *session, struct sums_map *map,
                               const struct sums_range *range, bool newer)
{
    for (size_t i = range->process; i < range->process_end; i++) {
        const size_t number = i - range->process;
        const bool known = number < session->process_count;
        map->processes[i] = known ? session->processes[number] : (uint32_t)sums->process_count;
        if (!known) {
            GROW(session->processes, session->process_count, session->process_room);
            session->processes[session->process_count++] = map->processes[i];
            GROW(sums->processes, sums->process_count, sums->process_room);
            sums->processes[sums->process_count++] = sums_copy_process(map, &map->file->processes[i]);
        } else if (newer) {
            sums_free_process(&sums->processes[map->processes[i]]);
            sums->processes[map->processes[i]] = sums_copy_process(map, &map->file->processes[i]);
        }
    }
}

static void sums_map_threads(struct sums *sums, struct sums_session *session, struct sums_map *map,
                             const struct sums_range *range, bool newer)
{
    for (size_t i = range->thread; i < range->thread_end; i++) {
        const size_t number = i - range->thread;
        const bool known = number < session->thread_count;
        map->threads[i] = known ? session->threads[number] : (uint32_t)sums->thread_count;
        if (!known) {
            GROW(session->threads, session->thread_count, session->thread_room);
            session->threads[session->thread_count++] = map->threads[i];
            GROW(sums->threads, sums->thread_count, sums->thread_room);
            sums->threads[sums->thread_count++] = sums_copy_thread(map, &map->file->threads[i]);
        } else if (newer) {
            free(sums->threads[map->threads[i]].name);
            sums->threads[map->threads[i]] = sums_copy_thread(map, &map->file->threads[i]);
        }
    }
}

bool sums_add_session(struct sums *sums, struct sums_map *map, const struct trace_summed *summed,
                      const struct sums_range *range, struct error *error)
{
    struct sums_session *known = sums_find_session(sums, summed);
    if (known && !sums_check_shards(known, summed, map->file, error))
        return false;
    const bool deltas = known && !known->summed.record.shards;
    const bool newer = deltas && recorded_sessions_last(summed) > recorded_sessions_last(&known->summed);
    struct sums_session *session = known ? known : sums_new_session(sums, summed);
    sums_map_processes(sums, session, map, range, newer);
    sums_map_threads(sums, session, map, range, newer);
    if (deltas)
        sums_join_deltas(&session->summed, summed);
    else if (known)
        sums_join_shards(&session->summed, summed);
    session->summed.record.processes = (uint32_t)session->process_count;
    session->summed.record.threads = (uint32_t)session->thread_count;
    return true;
}
