/*
 * Trace events as instants of their threads, and activities as slices.
 *
 * The slices of a track nest, but activities of a thread may overlap. So a thread has as many tracks for them as
 * activities are open at one time. Each activity takes the track that has been free for the longest time.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "base/utf8.h"
#include "export/perfetto_writer.h"
#include "trace/activities.h"
#include "trace/event_fields.h"
#include "trace/event_names.h"

static bool perfetto_write_event(void *context, const struct trace_event *event, const struct trace_event_class *class)
{
    struct perfetto_writer *w = context;
    Perfetto__Annotation annotations[5],
        *list[5] = { &annotations[0], &annotations[1], &annotations[2], &annotations[3], &annotations[4] };
    char *name = event_name(w->session->file, event, class), *data = need_hex(event->data, event->data_size);
    char *text = event_fields_text(event_fields_layout(w->session->file, class->guid, event->type, event->version),
                                   event->data, event->data_size);
    char *fields = utf8_repair(text ? text : "");
    perfetto_announce_thread(w, event->process, event->thread);
    packet_annotate_number(&annotations[0], "type", event->type);
    packet_annotate_number(&annotations[1], "level", event->severity);
    packet_annotate_number(&annotations[2], "version", event->version);
    packet_annotate_text(&annotations[3], "data", data);
    packet_annotate_text(&annotations[4], "fields", fields);
    perfetto_write_instant(&w->stream, perfetto_track_id(w, OF_THREAD, event->thread), perfetto_time(w, event->time),
                           name, list, text ? 5 : 4);
    free(name);
    free(data);
    free(text);
    free(fields);
    return !ferror(w->stream.out);
}

/* ---- activities ---- */

/* A track of activities: when its last one ends. */
struct activity_track {
    uint64_t free_from;
    uint32_t number;
};

/* The tracks of one thread: a heap, the one that is free first at its top. */
struct activity_tracks {
    struct activity_track *heap;
    size_t count, room;
};

static int activity_compare_starts(const void *a, const void *b)
{
    const struct trace_activity *x = a, *y = b;
    return ORDER_BY(x, y, first->thread, first->time, first);
}

static void activity_tracks_sift_up(struct activity_tracks *t, size_t at, struct activity_track track)
{
    for (; at && t->heap[(at - 1) / 2].free_from > track.free_from; at = (at - 1) / 2)
        t->heap[at] = t->heap[(at - 1) / 2];
    t->heap[at] = track;
}

static void activity_tracks_sift_down(struct activity_tracks *t, struct activity_track track)
{
    size_t at = 0;
    for (size_t below = 1; below < t->count; below = 2 * at + 1) {
        if (below + 1 < t->count && t->heap[below + 1].free_from < t->heap[below].free_from)
            below++;
        if (t->heap[below].free_from >= track.free_from)
            break;
        t->heap[at] = t->heap[below];
        at = below;
    }
    t->heap[at] = track;
}

/* Takes a track that is free at `begin`, a new one if there is none, until `end`. */
static uint32_t activity_tracks_take(struct activity_tracks *t, uint64_t begin, uint64_t end)
{
    if (t->count && t->heap[0].free_from <= begin) {
        const uint32_t number = t->heap[0].number;
        activity_tracks_sift_down(t, (struct activity_track){ end, number });
        return number;
    }
    const uint32_t number = (uint32_t)t->count;
    GROW(t->heap, t->count, t->room);
    t->count++;
    activity_tracks_sift_up(t, number, (struct activity_track){ end, number });
    return number;
}

static void perfetto_write_activity(struct perfetto_writer *w, struct activity_tracks *tracks,
                                    const struct trace_activity *activity)
{
    const uint32_t thread = activity->first->thread;
    const size_t before = tracks->count;
    const uint32_t number = activity_tracks_take(tracks, activity->first->time, activity->last->time);
    const uint64_t track = perfetto_track_id(w, OF_ACTIVITIES + number, thread);
    perfetto_announce_thread(w, activity->first->process, thread);
    if (tracks->count > before)
        perfetto_announce_track(&w->stream, perfetto_track_id(w, OF_THREAD, thread), track, "activities", UNIT_OTHER,
                                NULL);
    perfetto_write_interval(&w->stream, track, perfetto_time(w, activity->first->time),
                            perfetto_time(w, activity->last->time), activity->name);
}

static void perfetto_write_activities(struct perfetto_writer *w)
{
    struct activities a = activities_read(w->session->file);
    struct activity_tracks tracks = { 0 };
    if (a.count)
        qsort(a.list, a.count, sizeof *a.list, activity_compare_starts);
    for (size_t i = 0; i < a.count && !ferror(w->stream.out); i++) {
        const struct trace_event *first = a.list[i].first;
        if (i && a.list[i - 1].first->thread != first->thread)
            tracks.count = 0;
        if (selection_holds(w->session->selection, first->time) &&
            selection_holds_event(w->session->selection, first->thread, first->time) &&
            selection_takes(w->session->selection, w->session->file, first->process, first->thread))
            perfetto_write_activity(w, &tracks, &a.list[i]);
    }
    free(tracks.heap);
    activities_free(&a);
}

void perfetto_write_events(struct perfetto_writer *w)
{
    slices_follow_events(w->session, 0, perfetto_write_event, w);
    perfetto_write_activities(w);
}
