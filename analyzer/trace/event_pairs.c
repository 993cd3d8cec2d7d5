/* Matches the trace events of activities: START, DEQUEUE, REPLY and END, by thread and nesting or by a key. */
#include "trace/event_pairs.h"

#include <stdlib.h>
#include <string.h>

#include "base/index.h"
#include "base/memory.h"
#include "dwell/event.h"

/* Activities, as 1 + their index, oldest first. Those that have left the line are skipped. */
struct pairs_line {
    size_t *list;
    size_t first, count, room;
};

/* Open activities of a class on a thread or, with keys, those with the same key. */
struct pairs_lane {
    struct pairs_line waiting; /* started */
    struct pairs_line running; /* taken from a queue */
    const uint8_t *key;
    uint32_t class, process;
};

/* The last event of a thread and class, and its activity: 1 + their indices, or zero. */
struct pairs_last {
    size_t event, activity;
};

enum state { WAITING, RUNNING, ENDED };

struct matching {
    const struct trace_events *events;
    struct event_pairs *pairs;
    size_t key;
    uint8_t *states; /* of the activities */
    struct number_index *lane_numbers, *queue_numbers;
    struct pairs_lane *lanes;
    size_t lane_count, lane_room;
    struct pairs_line *queues; /* by process and class: activities that wait */
    size_t queue_count, queue_room;
    struct number_index *last_numbers; /* by thread and class */
    struct pairs_last *last;
    size_t last_count, last_room;
};

/* ---- lines ---- */

static void pairs_line_add(struct pairs_line *line, size_t activity)
{
    GROW(line->list, line->count, line->room);
    line->list[line->count++] = activity;
}

static size_t pairs_line_oldest(const struct matching *m, struct pairs_line *line, enum state wanted)
{
    while (line->first < line->count && m->states[line->list[line->first] - 1] != wanted)
        line->first++;
    return line->first < line->count ? line->list[line->first] : 0;
}

static size_t pairs_line_innermost(const struct matching *m, struct pairs_line *line, enum state wanted)
{
    while (line->count > line->first && m->states[line->list[line->count - 1] - 1] != wanted)
        line->count--;
    return line->count > line->first ? line->list[line->count - 1] : 0;
}

/* ---- lanes ---- */

static struct pairs_lane *pairs_new_lane(struct matching *m, struct index_slot *slot, uint64_t name,
                                         const struct trace_event *e)
{
    GROW(m->lanes, m->lane_count, m->lane_room);
    m->lanes[m->lane_count] = (struct pairs_lane){ .key = e->data, .class = e->class, .process = e->process };
    index_set(m->lane_numbers, slot, name, e->class, (uint32_t)m->lane_count);
    return &m->lanes[m->lane_count++];
}

static struct pairs_lane *pairs_lane_of_key(struct matching *m, const struct trace_event *e)
{
    for (uint64_t name = index_bytes_key(e->data, m->key) + e->process;; name++) {
        struct index_slot *slot = index_find(m->lane_numbers, name, e->class);
        const size_t number = (size_t)slot->value_plus_1 - 1;
        if (number >= m->lane_count)
            return pairs_new_lane(m, slot, name, e);
        struct pairs_lane *lane = &m->lanes[number];
        if (lane->class == e->class && lane->process == e->process && lane->key &&
            memcmp(lane->key, e->data, m->key) == 0)
            return lane;
    }
}

bool event_is_of_perflog(const struct trace_events *events, const struct trace_event *e)
{
    return memcmp(events->classes[e->class].guid, DWELL_PERFLOG_GUID, sizeof events->classes->guid) == 0 &&
           e->data_size >= DWELL_PERFLOG_KEY;
}

/* Returns NULL if the event has no key. */
static struct pairs_lane *pairs_lane_of(struct matching *m, const struct trace_event *e)
{
    const bool perflog = event_is_of_perflog(m->events, e);
    if (m->key && !perflog)
        return e->data_size < m->key ? NULL : pairs_lane_of_key(m, e);
    uint64_t name = e->thread;
    if (perflog) /* a thread has a timer for each marker */
        name |= (uint64_t)e->data[0] << 32 | (uint64_t)e->data[1] << 40;
    struct index_slot *slot = index_find(m->lane_numbers, name, e->class);
    const size_t number = (size_t)slot->value_plus_1 - 1;
    return number < m->lane_count ? &m->lanes[number] : pairs_new_lane(m, slot, name, e);
}

static struct pairs_line *pairs_queue_of(struct matching *m, const struct trace_event *e)
{
    struct index_slot *slot = index_find(m->queue_numbers, e->process, e->class);
    const size_t number = (size_t)slot->value_plus_1 - 1;
    if (number < m->queue_count)
        return &m->queues[number];
    GROW(m->queues, m->queue_count, m->queue_room);
    m->queues[m->queue_count] = (struct pairs_line){ 0 };
    index_set(m->queue_numbers, slot, e->process, e->class, (uint32_t)m->queue_count);
    return &m->queues[m->queue_count++];
}

/* ---- events ---- */

static void pairs_start_activity(struct matching *m, struct pairs_lane *lane, size_t event)
{
    struct event_pairs *p = m->pairs;
    m->states[p->count] = WAITING;
    p->list[p->count++] = (struct event_activity){ .class = lane->class, .start = event + 1 };
    pairs_line_add(&lane->waiting, p->count);
    if (!m->key)
        pairs_line_add(pairs_queue_of(m, &m->events->list[event]), p->count);
}

static bool pairs_dequeue_activity(struct matching *m, struct pairs_lane *lane, size_t event)
{
    size_t activity = pairs_line_oldest(m, &lane->waiting, WAITING);
    if (!activity && !m->key)
        activity = pairs_line_oldest(m, pairs_queue_of(m, &m->events->list[event]), WAITING);
    if (!activity)
        return false;
    m->pairs->list[activity - 1].dequeue = event + 1;
    m->states[activity - 1] = RUNNING;
    pairs_line_add(&lane->running, activity);
    return true;
}

static size_t pairs_find_open(struct matching *m, struct pairs_lane *lane)
{
    const size_t activity = pairs_line_innermost(m, &lane->running, RUNNING);
    return activity ? activity : pairs_line_innermost(m, &lane->waiting, WAITING);
}

static bool pairs_end_activity(struct matching *m, struct pairs_lane *lane, size_t event)
{
    const size_t activity = pairs_find_open(m, lane);
    if (!activity)
        return false;
    m->pairs->list[activity - 1].end = event + 1;
    m->states[activity - 1] = ENDED;
    return true;
}

static bool pairs_add_reply(struct matching *m, struct pairs_lane *lane, size_t event)
{
    const size_t activity = pairs_find_open(m, lane);
    if (!activity)
        return false;
    struct event_activity *a = &m->pairs->list[activity - 1];
    if (!a->replies++)
        a->first_reply = event + 1;
    a->last_reply = event + 1;
    return true;
}

static struct pairs_last *pairs_last_of(struct matching *m, const struct trace_event *e)
{
    struct index_slot *slot = index_find(m->last_numbers, e->thread, e->class);
    const size_t number = (size_t)slot->value_plus_1 - 1;
    if (number < m->last_count)
        return &m->last[number];
    GROW(m->last, m->last_count, m->last_room);
    m->last[m->last_count] = (struct pairs_last){ 0, 0 };
    index_set(m->last_numbers, slot, e->thread, e->class, (uint32_t)m->last_count);
    return &m->last[m->last_count++];
}

/* Links the event with the one that it continues. An event of no activity can be continued, too. */
static bool pairs_extend(struct matching *m, size_t event)
{
    struct pairs_last *last = pairs_last_of(m, &m->events->list[event]);
    if (!last->event)
        return false;
    m->pairs->extensions[last->event - 1] = event + 1;
    if (last->activity)
        m->pairs->list[last->activity - 1].extensions++;
    last->event = event + 1;
    return true;
}

/* A timer that begins anew, or fails, has no end. */
static void pairs_give_up(struct matching *m, struct pairs_lane *lane)
{
    const size_t activity = pairs_find_open(m, lane);
    if (activity)
        m->states[activity - 1] = ENDED;
}

static bool pairs_match_perflog(struct matching *m, size_t event)
{
    struct pairs_lane *lane = pairs_lane_of(m, &m->events->list[event]);
    switch (m->events->list[event].type) {
    case EVENT_TRACE_TYPE_START:
        pairs_give_up(m, lane);
        pairs_start_activity(m, lane, event);
        return true;
    case EVENT_TRACE_TYPE_END:
        return pairs_end_activity(m, lane, event);
    case DWELL_PERFLOG_ERROR:
        pairs_give_up(m, lane);
        return true;
    default:
        return true;
    }
}

static bool pairs_is_of_activity(unsigned type)
{
    return type == EVENT_TRACE_TYPE_START || type == EVENT_TRACE_TYPE_END || type == EVENT_TRACE_TYPE_DEQUEUE ||
           type == EVENT_TRACE_TYPE_REPLY || type == EVENT_TRACE_TYPE_DC_START || type == EVENT_TRACE_TYPE_DC_END;
}

static bool pairs_match_type(struct matching *m, struct pairs_lane *lane, unsigned type, size_t event)
{
    switch (type) {
    case EVENT_TRACE_TYPE_START:
    case EVENT_TRACE_TYPE_DC_START:
        pairs_start_activity(m, lane, event);
        return true;
    case EVENT_TRACE_TYPE_DEQUEUE:
        return pairs_dequeue_activity(m, lane, event);
    case EVENT_TRACE_TYPE_END:
    case EVENT_TRACE_TYPE_DC_END:
        return pairs_end_activity(m, lane, event);
    default:
        return pairs_add_reply(m, lane, event);
    }
}

static bool pairs_match_event(struct matching *m, size_t event)
{
    const unsigned type = m->events->list[event].type;
    if (event_is_of_perflog(m->events, &m->events->list[event]))
        return pairs_match_perflog(m, event);
    if (type == EVENT_TRACE_TYPE_EXTENSION)
        return pairs_extend(m, event);
    struct pairs_last *last = pairs_last_of(m, &m->events->list[event]);
    *last = (struct pairs_last){ event + 1, 0 };
    if (!pairs_is_of_activity(type))
        return true;
    struct pairs_lane *lane = pairs_lane_of(m, &m->events->list[event]);
    if (!lane)
        return false;
    const size_t open = type == EVENT_TRACE_TYPE_START || type == EVENT_TRACE_TYPE_DC_START ? 0
                        : type == EVENT_TRACE_TYPE_DEQUEUE                                  ? 0
                                                                                            : pairs_find_open(m, lane);
    const bool matched = pairs_match_type(m, lane, type, event);
    if (!matched)
        return false;
    if (type == EVENT_TRACE_TYPE_DEQUEUE)
        last->activity = lane->running.list[lane->running.count - 1];
    else
        last->activity = open ? open : m->pairs->count;
    return true;
}

struct event_pairs event_pairs_match(const struct trace_events *events, size_t key)
{
    struct event_pairs pairs = { 0 };
    struct matching m = {
        .events = events,
        .pairs = &pairs,
        .key = key,
        .lane_numbers = index_new(),
        .queue_numbers = index_new(),
        .last_numbers = index_new(),
        .states = need_memory(events->count, sizeof *m.states),
    };
    pairs.list = need_memory(events->count, sizeof *pairs.list); /* each event starts at most one */
    pairs.extensions = need_memory(events->count, sizeof *pairs.extensions);
    for (size_t i = 0; i < events->count; i++) {
        if (pairs_match_event(&m, i))
            continue;
        GROW(pairs.strays, pairs.stray_count, pairs.stray_room);
        pairs.strays[pairs.stray_count++] = i;
    }
    for (size_t i = 0; i < pairs.count; i++)
        if (!pairs.list[i].end)
            pairs.list[i].end = pairs.list[i].last_reply;
    for (size_t i = 0; i < m.lane_count; i++) {
        free(m.lanes[i].waiting.list);
        free(m.lanes[i].running.list);
    }
    for (size_t i = 0; i < m.queue_count; i++)
        free(m.queues[i].list);
    free(m.lanes);
    free(m.queues);
    free(m.states);
    index_free(m.lane_numbers);
    index_free(m.queue_numbers);
    index_free(m.last_numbers);
    free(m.last);
    return pairs;
}

void event_pairs_free(struct event_pairs *pairs)
{
    free(pairs->list);
    free(pairs->strays);
    free(pairs->extensions);
    memset(pairs, 0, sizeof *pairs);
}
