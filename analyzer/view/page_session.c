/* Packs a session: header, tables of values, marks and timeline. */
#include "view/page_session.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "tables/own_waits.h"
#include "view/call_counts.h"
#include "view/facts.h"
#include "view/line_values.h"
#include "view/page_marks.h"
#include "view/page_timeline.h"
#include "view/page_values.h"
#include "view/page_why.h"
#include "view/parts.h"
#include "view/source_texts.h"
#include "view/timing_columns.h"
#include "view/value_columns.h"

/* ---- tables of sums ---- */

/* Shares of the timeline's size. */
enum { PARTS_OF_DETAIL = 4, CALLS_OF_DETAIL = 8 };

enum { PATH_KEYS = 2, MAX_PATH_COLUMNS = PATH_KEYS + MAX_VALUE_COLUMNS + MAX_TIMING_COLUMNS };

struct view_session_group {
    struct times *times;
    struct timing_row *timing; /* NULL if all times were measured */
    struct container_column columns[MAX_VALUE_COLUMNS + MAX_TIMING_COLUMNS];
};

static struct container_table view_session_group_table(struct view_session_group *g, const char *name,
                                                       const struct analysis *analysis, enum rollup_by by,
                                                       const uint32_t *order)
{
    const size_t count = rollup_group_count(analysis->rollup, by);
    g->times = rollup_groups(analysis->rollup, by);
    value_columns_mark_unknown(g->times, count);
    g->timing = summary_has_timing(&analysis->summary) ? timing_rows(g->times, count, by == BY_FUNCTION) : NULL;
    size_t columns = value_columns_list(g->columns, g->times, order, true);
    if (g->timing)
        columns += timing_columns_list(g->columns + columns, g->timing, order);
    return (struct container_table){ name, count, g->columns, columns };
}

static void view_session_group_drop(struct view_session_group *g)
{
    free(g->times);
    free(g->timing);
}

/* Paths have no inclusive times: the page adds them up over each path's subtree. */
static struct container_table view_session_path_table(struct container_column *columns, const struct paths *paths,
                                                      const struct timing_row *timing)
{
    value_columns_mark_unknown(paths->rollup->nodes, paths->profile->node_count);
    columns[0] = (struct container_column){ "parent", paths->parents, sizeof *paths->parents, CONTAINER_I32, NULL };
    columns[1] =
        (struct container_column){ "function", paths->functions, sizeof *paths->functions, CONTAINER_U32, NULL };
    size_t count = PATH_KEYS + value_columns_list(columns + PATH_KEYS, paths->rollup->nodes, paths->nodes, false);
    if (timing)
        count += timing_columns_list(columns + count, timing, paths->nodes);
    return (struct container_table){ "paths", paths->count, columns, count };
}

/* Takes the block. */
static struct json_object *view_session_add_waits(struct packed *waits, struct blocks *blocks)
{
    if (!waits)
        return NULL;
    struct json_object *object = json_object_new_object();
    json_object_object_add(object, "block", json_object_new_uint64(blocks->count));
    GROW(blocks->list, blocks->count, blocks->room);
    blocks->list[blocks->count++] = *waits;
    return object;
}

static struct json_object *view_session_recording_wait(const struct analysis *analysis, const struct order *order,
                                                       const struct recording_waits *waits, uint32_t node)
{
    const struct profile_node *nodes = analysis->profile->nodes;
    const uint32_t caller = nodes[nodes[node].parent].function;
    const bool has_caller = nodes[nodes[node].parent].parent != PROFILE_NONE;
    struct json_object *row = json_object_new_array();
    json_object_array_add(row, json_object_new_int64(order->ranks[nodes[node].function]));
    json_object_array_add(row, json_object_new_int64(has_caller ? (int64_t)order->ranks[caller] : -1));
    json_object_array_add(row, json_object_new_uint64(waits->blocked[node]));
    json_object_array_add(row, json_object_new_uint64(waits->count[node]));
    return row;
}

/* The first ones; NULL if recording kept no thread waiting. */
static struct json_object *view_session_recording_waits(const struct analysis *analysis, const struct order *order)
{
    enum { MOST = 1000 };
    const struct recording_waits waits = recording_waits_find(analysis);
    struct json_object *list = NULL;
    for (uint32_t i = 0; waits.blocked && i < analysis->profile->node_count; i++) {
        if (!waits.blocked[i] || (list && json_object_array_length(list) == MOST))
            continue;
        list = list ? list : json_object_new_array();
        json_object_array_add(list, view_session_recording_wait(analysis, order, &waits, i));
    }
    return list;
}

struct view_session *view_session_new(const struct view_inputs *inputs, const struct view_options *options,
                                      struct error *error)
{
    struct analysis *analysis = inputs->session;
    const bool lacked_limits = analysis->lacks_limits;
    struct view_session *view = need_memory(1, sizeof *view);
    struct order *order = order_new(analysis);
    struct paths paths = paths_of(analysis, order);
    struct moments marks, events, activities;
    struct json_object *header = facts_of(analysis, order);
    struct container_column path_columns[MAX_PATH_COLUMNS];
    struct view_session_group groups[4];
    struct blocks blocks;
    struct activity activity;
    struct heat_map heat;
    marks_find(&marks, analysis, order);
    events_find(&events, analysis, order);
    activities_find(&activities, analysis, order);
    json_object_object_add(header, "answer", inputs->answer ? json_new_text(inputs->answer) : NULL);
    json_object_object_add(header, "recording_waits", view_session_recording_waits(analysis, order));
    json_object_object_add(header, "mark_names", moments_names(&marks));
    json_object_object_add(header, "event_names", moments_names(&events));
    json_object_object_add(header, "activity_names", moments_names(&activities));
    json_object_object_add(header, "activities_left_out", json_object_new_uint64(activities.left_out));
    json_object_object_add(header, "events_left_out", json_object_new_uint64(events.left_out));
    json_object_object_add(header, "timeline",
                           timeline_make(analysis, order, options->detail, &blocks, &activity, &heat));
    struct json_object *parts = parts_make(analysis, order, &paths, options->detail / PARTS_OF_DETAIL, &blocks);
    json_object_object_add(header, "parts", parts);
    json_object_object_add(header, "calls",
                           call_counts_make(analysis, order, parts, options->detail / CALLS_OF_DETAIL, &blocks));
    if (lacked_limits) { /* those of the paths are in their times */
        paths_drop(&paths);
        paths = paths_of(analysis, order);
    }
    json_object_object_add(
        header, "sources",
        options->sources ? source_texts_make(analysis, order, options->detail / CALLS_OF_DETAIL, &blocks) : NULL);
    json_object_object_add(header, "lines", line_values_make(inputs->lines, order, &blocks));
    json_object_object_add(header, "waits", view_session_add_waits(inputs->waits, &blocks));
    json_object_object_add(
        header, "why",
        inputs->unfinished ? NULL : page_why_make(analysis, order, options->detail, options->values, &blocks));
    json_object_object_add(
        header, "recorded_values",
        options->values && !inputs->unfinished ? page_values_make(analysis, order, options->detail, &blocks) : NULL);
    struct timing_row *path_timing = summary_has_timing(&analysis->summary)
                                         ? timing_rows(paths.rollup->nodes, paths.profile->node_count, false)
                                         : NULL;
    view->blocks = blocks.list;
    view->block_count = blocks.count;
    const struct container_table tables[] = {
        view_session_path_table(path_columns, &paths, path_timing),
        view_session_group_table(&groups[0], "functions", analysis, BY_FUNCTION, order->functions),
        view_session_group_table(&groups[1], "modules", analysis, BY_MODULE, order->modules),
        view_session_group_table(&groups[2], "threads", analysis, BY_THREAD, order->threads),
        view_session_group_table(&groups[3], "processes", analysis, BY_PROCESS, NULL),
        marks_table(&marks),
        events_table(&events),
        activities_table(&activities),
        activity_table(&activity),
        heat_map_table(&heat),
    };
    const bool good = container_pack(header, tables, sizeof tables / sizeof *tables, &view->main);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        view_session_group_drop(&groups[i]);
    free(path_timing);
    activity_drop(&activity);
    heat_map_drop(&heat);
    moments_drop(&activities);
    moments_drop(&events);
    moments_drop(&marks);
    paths_drop(&paths);
    order_free(order);
    if (good)
        return view;
    error_set(error, "%s: this session has too many names for a page", analysis->file->path);
    view_session_free(view);
    return NULL;
}

void view_session_free(struct view_session *view)
{
    packed_drop(&view->main);
    for (size_t i = 0; i < view->block_count; i++)
        packed_drop(&view->blocks[i]);
    free(view->blocks);
    free(view);
}
