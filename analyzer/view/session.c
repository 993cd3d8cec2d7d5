#include "view/session.h"

#include <json-c/json.h>
#include <stdlib.h>

#include "base/memory.h"
#include "view/facts.h"
#include "view/marks.h"
#include "view/paths.h"
#include "view/timeline.h"

/* ---- what is measured ---- */

#define MEASURE(t, member, order)                                                                                      \
    {                                                                                                                  \
#member, &(t)->member, sizeof *(t), CONTAINER_U64, order                                                       \
    }
enum { GROUP_COLUMNS = 15, PATH_COLUMNS = 11 };

/* Where no call has ended, the shortest one is longer than the longest one: small numbers for that. */
static void view_session_mark_unknown(struct times *times, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (times[i].shortest > times[i].longest) {
            times[i].shortest = 1;
            times[i].longest = 0;
        }
    }
}

struct view_session_group {
    struct times *times;
    struct container_column columns[GROUP_COLUMNS];
};

static struct container_table view_session_group_table(struct view_session_group *g, const char *name,
                                                       const struct analysis *l, enum rollup_by by,
                                                       const uint32_t *order)
{
    const size_t count = rollup_group_count(l->rollup, by);
    const struct times *t = g->times = rollup_groups(l->rollup, by);
    view_session_mark_unknown(g->times, count);
    const struct container_column columns[GROUP_COLUMNS] = {
        MEASURE(t, calls, order),
        MEASURE(t, elapsed_inclusive, order),
        MEASURE(t, elapsed_exclusive, order),
        MEASURE(t, application_inclusive, order),
        MEASURE(t, application_exclusive, order),
        MEASURE(t, blocked_inclusive, order),
        MEASURE(t, blocked_exclusive, order),
        MEASURE(t, preempted_inclusive, order),
        MEASURE(t, preempted_exclusive, order),
        MEASURE(t, page_faults_inclusive, order),
        MEASURE(t, page_faults_exclusive, order),
        MEASURE(t, overhead_inclusive, order),
        MEASURE(t, overhead_exclusive, order),
        { "min", &t->shortest, sizeof *t, CONTAINER_U64, order },
        { "max", &t->longest, sizeof *t, CONTAINER_U64, order },
    };
    for (size_t i = 0; i < GROUP_COLUMNS; i++)
        g->columns[i] = columns[i];
    return (struct container_table){ name, count, g->columns, GROUP_COLUMNS };
}

/* Inclusive times of paths are left to the page: they are sums over the rows behind them. */
static struct container_table view_session_path_table(struct container_column *columns, const struct paths *paths)
{
    const struct times *t = paths->rollup->nodes;
    view_session_mark_unknown(paths->rollup->nodes, paths->profile->node_count);
    const struct container_column filled[PATH_COLUMNS] = {
        { "parent", paths->parents, sizeof *paths->parents, CONTAINER_I32, NULL },
        { "function", paths->functions, sizeof *paths->functions, CONTAINER_U32, NULL },
        MEASURE(t, calls, paths->nodes),
        MEASURE(t, elapsed_exclusive, paths->nodes),
        MEASURE(t, application_exclusive, paths->nodes),
        MEASURE(t, blocked_exclusive, paths->nodes),
        MEASURE(t, preempted_exclusive, paths->nodes),
        MEASURE(t, page_faults_exclusive, paths->nodes),
        MEASURE(t, overhead_exclusive, paths->nodes),
        { "min", &t->shortest, sizeof *t, CONTAINER_U64, paths->nodes },
        { "max", &t->longest, sizeof *t, CONTAINER_U64, paths->nodes },
    };
    for (size_t i = 0; i < PATH_COLUMNS; i++)
        columns[i] = filled[i];
    return (struct container_table){ "paths", paths->count, columns, PATH_COLUMNS };
}

struct view_session *view_session_new(const struct analysis *l, const struct view_options *options, struct error *error)
{
    struct view_session *view = need_memory(1, sizeof *view);
    struct order *order = order_new(l);
    struct paths paths = paths_of(l, order);
    struct moments marks, events;
    struct json_object *header = facts_of(l, order);
    struct container_column path_columns[PATH_COLUMNS];
    struct view_session_group groups[4];
    struct blocks blocks;
    marks_find(&marks, l, order);
    events_find(&events, l, order);
    json_object_object_add(header, "mark_names", moments_names(&marks));
    json_object_object_add(header, "event_names", moments_names(&events));
    json_object_object_add(header, "events_left_out", json_object_new_uint64(events.left_out));
    json_object_object_add(header, "timeline", timeline_make(l, order, options->detail, &blocks));
    view->blocks = blocks.list;
    view->block_count = blocks.count;
    const struct container_table tables[] = {
        view_session_path_table(path_columns, &paths),
        view_session_group_table(&groups[0], "functions", l, BY_FUNCTION, order->functions),
        view_session_group_table(&groups[1], "modules", l, BY_MODULE, order->modules),
        view_session_group_table(&groups[2], "threads", l, BY_THREAD, order->threads),
        view_session_group_table(&groups[3], "processes", l, BY_PROCESS, NULL),
        marks_table(&marks),
        events_table(&events),
    };
    const bool good = container_pack(header, tables, sizeof tables / sizeof *tables, &view->main);
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++)
        free(groups[i].times);
    moments_drop(&events);
    moments_drop(&marks);
    paths_drop(&paths);
    order_free(order);
    if (good)
        return view;
    error_set(error, "%s: the names of this session are too many for a page", l->file->path);
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
