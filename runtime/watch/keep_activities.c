/*
 * Slow activities of trace events. A thread notes where an activity begins that --keep names, and the end finds it: as
 * the reader does (analyzer/trace/event_pairs.c), but on this thread alone.
 *
 * An END is that of the activity which its thread took from a queue last, or else of the innermost one that it started.
 * The time in a queue does not count, as another thread may have put the activity there.
 */
#include "keep_activities.h"

#include <string.h>

#include "dwell/event.h"
#include "keep_calls.h"
#include "keep_named.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

/* ---- which activities ---- */

bool keep_is_of_activity(uint8_t type)
{
    return type == EVENT_TRACE_TYPE_START || type == EVENT_TRACE_TYPE_END || type == EVENT_TRACE_TYPE_DEQUEUE ||
           type == DWELL_PERFLOG_ERROR;
}

/* Says in the session that these watches have named an activity, for the recorder to know at the end. A bit for each
 * watch. */
static void keep_note_named(uint32_t watches)
{
    const uint8_t yes = 1;
    const int fd = session_reopen(&runtime.session, runtime.path);
    if (fd < 0)
        return;
    for (uint32_t i = 0; i < DWELL_KEEP_WATCHES; i++)
        if (watches >> i & 1)
            SYS4(pwrite64, fd, &yes, 1, keep_named_at(session_more(&runtime.session)->keep, i));
    sys_close(fd);
}

/* The last setting that names the activity is valid. Zero if there is none. */
static uint32_t keep_find_watch(const struct activity_names *names)
{
    static uint32_t noted; /* outlives a fork */
    uint32_t found = 0, named = 0;
    for (uint32_t i = 1; i <= __atomic_load_n(&keep_settings.watches, __ATOMIC_RELAXED); i++)
        if (keep_text_names(keep_settings.rules[i].text, names)) {
            found = i;
            named |= UINT32_C(1) << (i - 1);
        }
    const uint32_t fresh = named & ~__atomic_fetch_or(&noted, named, __ATOMIC_RELAXED);
    if (fresh)
        keep_note_named(fresh);
    return found && keep_text_is_off(keep_settings.rules[found].text) ? 0 : found;
}

/* ---- open activities ---- */

/* Classes differ by their GUIDs, and the timers of PerfLog by their markers. */
static uint64_t keep_class_of(const struct dwell_trace_event *event, const struct activity_names *names)
{
    uint64_t half[2];
    memcpy(half, event->guid, sizeof half);
    return (half[0] ^ (half[1] << 7 | half[1] >> 57)) + (names->marker ? names->number : 0);
}

static void keep_remove_open(struct thread_activities *a, uint32_t i)
{
    memmove(&a->open[i], &a->open[i + 1], (--a->count - i) * sizeof a->open[0]);
}

/* Of more than there is room for, the oldest is forgotten, and counted. */
static void keep_add_open(struct thread_activities *a, struct open_activity activity)
{
    if (a->count == DWELL_KEEP_OPEN) {
        keep_remove_open(a, 0);
        __atomic_fetch_add(&session_more(&runtime.session)->forgotten, 1, __ATOMIC_RELAXED);
    }
    a->open[a->count++] = activity;
}

/* Returns 1 + the place of the last activity of that class, or of the first one. Zero if there is none. */
static uint32_t keep_find_open(const struct thread_activities *a, uint64_t class, bool taken, bool last)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < a->count && (last || !found); i++)
        if (a->open[i].class == class && a->open[i].taken == taken)
            found = i + 1;
    return found;
}

static void keep_begin_activity(struct thread *t, const struct dwell_trace_event *event, uint64_t class,
                                const struct activity_names *names)
{
    struct thread_activities *a = &t->activities;
    const bool taken = event->type == EVENT_TRACE_TYPE_DEQUEUE;
    const uint32_t before = taken || names->marker ? keep_find_open(a, class, false, names->marker) : 0;
    const uint32_t watch = keep_find_watch(names);
    if (before)
        keep_remove_open(a, before - 1);
    if (watch)
        keep_add_open(a, (struct open_activity){ event->time, class, watch, taken });
}

static void keep_end_activity(struct thread *t, const struct dwell_trace_event *event, uint64_t class)
{
    struct thread_activities *a = &t->activities;
    uint32_t found = keep_find_open(a, class, true, true);
    if (!found)
        found = keep_find_open(a, class, false, true);
    if (!found)
        return;
    const struct open_activity activity = a->open[found - 1];
    keep_remove_open(a, found - 1);
    if (event->type == EVENT_TRACE_TYPE_END)
        keep_activity(t, activity.watch, activity.since, event->time);
}

void keep_activity_event(struct thread *t, const struct dwell_trace_event *event, const struct activity_names *names)
{
    const uint64_t class = keep_class_of(event, names);
    if (event->type == EVENT_TRACE_TYPE_START || event->type == EVENT_TRACE_TYPE_DEQUEUE)
        keep_begin_activity(t, event, class, names);
    else if (event->type == EVENT_TRACE_TYPE_END || names->marker)
        keep_end_activity(t, event, class);
}
