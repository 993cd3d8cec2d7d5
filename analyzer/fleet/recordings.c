/* Adds up the deltas of each session. */
#include "fleet/recordings.h"

#include "base/index.h"
#include "base/memory.h"
#include "base/numbers.h"

static struct fleet_recording recordings_of_run(const struct fleet_run *run)
{
    return (struct fleet_recording){ .number = run->run,
                                     .first = run,
                                     .elapsed = run->elapsed,
                                     .rows = run->rows,
                                     .lost_events = run->lost_events,
                                     .threads = run->threads,
                                     .processes = run->processes };
}

static void recordings_add(struct fleet_recording *r, const struct fleet_run *delta)
{
    r->elapsed += delta->elapsed;
    r->rows += delta->rows;
    r->lost_events += delta->lost_events;
    r->threads = larger(r->threads, delta->threads);
    r->processes = larger(r->processes, delta->processes);
    r->deltas++;
}

struct fleet_recording *fleet_recordings(const struct fleet_runs *runs, bool apart, size_t *count)
{
    struct fleet_recording *list = need_memory(runs->count, sizeof *list);
    struct number_index *sessions = index_new(); /* from the number of a session to its place in the list */
    *count = 0;
    for (size_t i = 0; i < runs->count; i++) {
        const struct fleet_run *run = &runs->list[i];
        const uint64_t session = apart ? 0 : fleet_run_session(run);
        struct index_slot *slot = session ? index_find(sessions, session, 0) : NULL;
        if (slot && slot->value_plus_1) {
            recordings_add(&list[slot->value_plus_1 - 1], run);
            continue;
        }
        list[*count] = recordings_of_run(run);
        if (slot) {
            list[*count].number = session;
            list[*count].deltas = 1;
            index_set(sessions, slot, session, 0, (uint32_t)*count);
        }
        ++*count;
    }
    index_free(sessions);
    return list;
}
