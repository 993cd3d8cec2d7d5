/* Flows from the threads that ended waits to the threads that waited, for Perfetto. Each end of a flow is an instant
 * of its thread, as Perfetto draws flows between slices from the end of one to the beginning of the other. */
#include <stdlib.h>

#include "base/memory.h"
#include "export/perfetto_writer.h"
#include "export/wait_flows.h"

static void perfetto_write_wait_end(const struct perfetto_writer *w, uint32_t thread, uint64_t ns, char *name,
                                    uint64_t *begins, uint64_t *ends)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    packet.event = &event;
    packet.has_timestamp = event.has_type = event.has_track = true;
    packet.timestamp = w->session->file->header.start_monotonic + ns;
    event.type = PACKET_INSTANT;
    event.track = perfetto_track_id(w, OF_THREAD, thread);
    event.name_text = name;
    event.n_flows = begins != NULL;
    event.flows = begins;
    event.n_ending_flows = ends != NULL;
    event.ending_flows = ends;
    packet_write(&w->stream, &packet);
}

static void perfetto_write_wait(struct perfetto_writer *w, const struct wait_flow *f, uint32_t number)
{
    uint64_t id = perfetto_track_id(w, OF_WAITS, number);
    char *from = slices_thread_name(w->session, f->from_thread), *to = slices_thread_name(w->session, f->to_thread);
    char *wakes = need_text("wakes %s", to), *woken = need_text("woken by %s", from);
    perfetto_announce_thread(w, f->from_process, f->from_thread);
    perfetto_announce_thread(w, f->to_process, f->to_thread);
    perfetto_write_wait_end(w, f->from_thread, f->from, wakes, &id, NULL);
    perfetto_write_wait_end(w, f->to_thread, f->to, woken, NULL, &id);
    free(from);
    free(to);
    free(wakes);
    free(woken);
}

void perfetto_write_waits(struct perfetto_writer *w)
{
    struct wait_flows flows = wait_flows_find(w->session);
    for (size_t i = 0; i < flows.count && !ferror(w->stream.out); i++)
        perfetto_write_wait(w, &flows.list[i], (uint32_t)i);
    wait_flows_drop(&flows);
}
