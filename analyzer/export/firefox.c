/*
 * Firefox Profiler's processed profile, version 66, which its front end upgrades. Each interval between two events of a
 * thread becomes a sample with the thread's stack, weighted by the interval's length. In mode profile each call path
 * becomes a sample, weighted by its exclusive time.
 *
 * The format stores tables by column. So each thread is read once for each column of its samples, and the columns of
 * markers are kept in temporary files.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"
#include "base/units.h"
#include "export/firefox_tables.h"
#include "export/formats.h"
#include "export/slices.h"
#include "tables/value_args.h"
#include "trace/activities.h"
#include "trace/event_fields.h"
#include "trace/event_names.h"

enum firefox_sample_column { SAMPLE_TIME, SAMPLE_STACK, SAMPLE_WEIGHT, SAMPLE_CPU, SAMPLE_COLUMNS };
enum { PHASE_INSTANT = 0, PHASE_INTERVAL = 1 }; /* of a marker */
enum firefox_marker_column { MARKER_DATA, MARKER_NAME, MARKER_START, MARKER_END, MARKER_PHASE, MARKER_COLUMNS };

/* A thread of the profile, or one with trace events only. */
struct firefox_lane {
    uint32_t process, thread; /* serial numbers */
    const struct profile_thread *profile;
};

struct firefox_writer {
    struct slices_visitor slices;
    struct order_visitor visitor;
    const struct analysis *session;
    const struct order *order;
    struct firefox_tables tables;
    FILE *out;
    struct firefox_lane *lanes;
    size_t lane_count, lane_room;
    /* State of the current thread. */
    enum firefox_sample_column column;
    bool blind;          /* OS events are unknown */
    uint64_t cpu;        /* ns: of the sample before, the time on the CPU */
    uint64_t written_to; /* ticks: end of the written part of the current interval */
    bool begun;          /* a part of the interval is written */
    uint64_t flagged;    /* ticks on the CPU of its rest that are flagged, if `begun` */
    uint64_t passed;     /* mode profile: ticks */
    uint32_t *path;      /* mode profile: 1 + the stack of each node on the path */
    size_t path_room;
    size_t count;
    FILE *markers[MARKER_COLUMNS];
    struct activities activities;
    struct value_args values;
    size_t marker_count;
};

/* ---- samples ---- */

static void firefox_write_ms(const struct firefox_writer *w, uint64_t ns)
{
    char number[1 + JSON_NUMBER];
    number[0] = ',';
    char *end = json_put_millionths(number + 1, ns);
    fwrite_unlocked(w->count ? number : number + 1, 1, (size_t)(end - (w->count ? number : number + 1)), w->out);
}

static void firefox_write_number(const struct firefox_writer *w, uint64_t value)
{
    char number[1 + JSON_NUMBER];
    number[0] = ',';
    char *end = json_put_number(number + 1, value);
    fwrite_unlocked(w->count ? number : number + 1, 1, (size_t)(end - (w->count ? number : number + 1)), w->out);
}

static enum firefox_category firefox_running_category(const struct firefox_writer *w, bool flagged)
{
    return w->blind ? FIREFOX_OTHER : flagged ? FIREFOX_SYSTEM : FIREFOX_APPLICATION;
}

static void firefox_begin_slice(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice)
{
    struct firefox_writer *w = (struct firefox_writer *)visitor;
    const uint32_t parent = thread->open > 1 ? (uint32_t)slice[-1].tag : 0;
    slice->tag = firefox_stack(&w->tables, parent, slice->function, firefox_running_category(w, false));
}

/* A CPU delta is that of the time since the sample before, so the last sample's own time on the CPU has no place. */
static void firefox_write_cpu(struct firefox_writer *w, uint64_t own)
{
    if (w->count)
        firefox_write_number(w, w->cpu);
    else
        fputs("null", w->out);
    w->cpu = own;
}

static void firefox_write_sample(struct firefox_writer *w, const struct slices_thread *thread, uint64_t end,
                                 enum firefox_category category)
{
    const uint64_t from = slices_ns(w->session, w->written_to), to = slices_ns(w->session, end);
    if (end <= w->written_to || !thread->open || from == to)
        return;
    const struct call_slice *top = &thread->stack[thread->open - 1];
    w->written_to = end;
    if (w->column == SAMPLE_CPU) {
        firefox_write_cpu(w, category == FIREFOX_IDLE || category == FIREFOX_PREEMPTED ? 0 : to - from);
    } else if (w->column == SAMPLE_STACK)
        firefox_write_number(
            w,
            category == firefox_running_category(w, false)
                ? (uint32_t)top->tag - 1
                : firefox_stack(&w->tables, thread->open > 1 ? (uint32_t)top[-1].tag : 0, top->function, category) - 1);
    else
        firefox_write_ms(w, w->column == SAMPLE_TIME ? from : to - from);
    w->count++;
}

/* Writes the interval on the CPU up to `end`. Where it is flagged in part, that is its beginning. */
static void firefox_write_on_cpu(struct firefox_writer *w, const struct slices_thread *thread, uint64_t end)
{
    const struct decoded_extras *extras = thread->extras;
    if (!w->begun)
        w->flagged = !extras->flagged        ? 0
                     : !extras->flagged_part ? UINT64_MAX
                                             : less(extras->flagged_part, extras->blocked + extras->preempted);
    w->begun = true;
    const uint64_t flagged = end > w->written_to ? smaller(end - w->written_to, w->flagged) : 0;
    firefox_write_sample(w, thread, w->written_to + flagged, firefox_running_category(w, true));
    firefox_write_sample(w, thread, end, firefox_running_category(w, false));
    w->flagged -= flagged;
}

/* Writes an off-CPU time, and the part of its interval before it. */
static void firefox_add_off_cpu(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t begin,
                                uint64_t end, bool preempted)
{
    struct firefox_writer *w = (struct firefox_writer *)visitor;
    if (w->written_to < thread->last)
        w->written_to = thread->last;
    firefox_write_on_cpu(w, thread, begin);
    firefox_write_sample(w, thread, end, preempted ? FIREFOX_PREEMPTED : FIREFOX_IDLE);
}

static void firefox_add_interval(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t begin,
                                 uint64_t end, const struct decoded_extras *extras)
{
    struct firefox_writer *w = (struct firefox_writer *)visitor;
    (void)extras;
    if (w->written_to < begin)
        w->written_to = begin;
    firefox_write_on_cpu(w, thread, end);
    w->written_to = end;
    w->begun = false;
}

/* ---- samples of a call tree ---- */

/* Writes a part of a path's time. In an imported profile of samples, ticks are numbers of samples. */
static void firefox_write_part(struct firefox_writer *w, uint64_t ticks, uint32_t parent, uint32_t function,
                               enum firefox_category category)
{
    const uint64_t rate = w->session->file->header.ticks_per_second, begin = w->passed, end = begin + ticks;
    const uint64_t from = ticks_to_ns(begin, rate), to = ticks_to_ns(end, rate);
    w->passed = end;
    if (from == to)
        return;
    if (w->column == SAMPLE_STACK)
        firefox_write_number(w, firefox_stack(&w->tables, parent, function, category) - 1);
    else if (w->session->summary.samples)
        firefox_write_number(w, w->column == SAMPLE_TIME ? begin : ticks);
    else
        firefox_write_ms(w, w->column == SAMPLE_TIME ? from : to - from);
    w->count++;
}

static void firefox_visit_node(struct order_visitor *visitor, uint32_t index)
{
    struct firefox_writer *w = (struct firefox_writer *)((char *)visitor - offsetof(struct firefox_writer, visitor));
    const struct profile_node *node = &w->session->profile->nodes[index];
    const size_t at = visitor->depth - 1;
    while (visitor->depth > w->path_room)
        GROW(w->path, w->path_room, w->path_room);
    const uint32_t parent = at ? w->path[at - 1] : 0;
    w->path[at] = firefox_stack(&w->tables, parent, node->function, firefox_running_category(w, false));
    const uint64_t off_cpu = node->blocked + node->preempted,
                   flagged = node->flagged > off_cpu ? node->flagged - off_cpu : 0;
    const uint64_t other = off_cpu + flagged, rest = node->elapsed > other ? node->elapsed - other : 0;
    firefox_write_part(w, w->blind ? node->elapsed : rest, parent, node->function, firefox_running_category(w, false));
    if (w->blind)
        return;
    firefox_write_part(w, flagged, parent, node->function, FIREFOX_SYSTEM);
    firefox_write_part(w, node->blocked, parent, node->function, FIREFOX_IDLE);
    firefox_write_part(w, node->preempted, parent, node->function, FIREFOX_PREEMPTED);
}

/* ---- markers ---- */

/* Writes an interval, or an instant if `end` is NULL. */
static void firefox_write_marker(struct firefox_writer *w, uint64_t time, const uint64_t *until, const char *name)
{
    const char *comma = w->marker_count++ ? "," : "";
    char number[JSON_NUMBER];
    const char *end = json_put_millionths(number, slices_ns(w->session, time));
    fprintf(w->markers[MARKER_NAME], "%s%" PRIu32, comma, firefox_string(&w->tables, name));
    fprintf(w->markers[MARKER_START], "%s%.*s", comma, (int)(end - number), number);
    fputs(comma, w->markers[MARKER_DATA]);
    end = until ? json_put_millionths(number, slices_ns(w->session, *until)) : number;
    fprintf(w->markers[MARKER_END], "%s%.*s", comma, until ? (int)(end - number) : 4, until ? number : "null");
    fprintf(w->markers[MARKER_PHASE], "%s%d", comma, until ? PHASE_INTERVAL : PHASE_INSTANT);
}

static void firefox_add_mark(struct slices_visitor *visitor, struct slices_thread *thread, uint64_t time,
                             uint32_t number, const char *text)
{
    struct firefox_writer *w = (struct firefox_writer *)visitor;
    (void)thread;
    if (w->column != SAMPLE_TIME)
        return;
    firefox_write_marker(w, time, NULL, text[0] ? text : "mark");
    fprintf(w->markers[MARKER_DATA], "{\"type\":\"mark\",\"number\":%" PRIu32 "}", number);
}

/* A marker for the first slice of a call with values. The keys of its fields are numbers: firefox_write_schema. */
static void firefox_add_values(struct slices_visitor *visitor, struct slices_thread *thread, struct call_slice *slice,
                               uint64_t time, enum slice_end how)
{
    struct firefox_writer *w = (struct firefox_writer *)visitor;
    const struct recorded_row *row =
        slice->is_call ? value_args_of(&w->values, slice->function, thread->thread, slice->begin) : NULL;
    (void)how;
    if (!row)
        return;
    FILE *out = w->markers[MARKER_DATA];
    firefox_write_marker(w, slice->begin, &time, w->session->names[slice->function].name);
    fprintf(out, "{\"type\":\"values %" PRIu32 "\"", row->function);
    for (uint32_t i = 0; i < value_args_count(&w->values, row); i++) {
        const struct value_arg arg = value_args_get(&w->values, row, i);
        fprintf(out, ",\"%" PRIu32 "\":", i);
        json_put_text(out, arg.text);
        free(arg.text);
    }
    putc('}', out);
}

static bool firefox_add_event(void *context, const struct trace_event *event, const struct trace_event_class *class)
{
    struct firefox_writer *w = context;
    char *name = event_name(w->session->file, event, class), *data = need_hex(event->data, event->data_size);
    char *fields = event_fields_text(event_fields_layout(w->session->file, class->guid, event->type, event->version),
                                     event->data, event->data_size);
    firefox_write_marker(w, event->time, NULL, name);
    fprintf(w->markers[MARKER_DATA],
            "{\"type\":\"trace event\",\"number\":%u,\"level\":%u,\"version\":%u,\"data\":\"%s\"", event->type,
            event->severity, event->version, data);
    if (fields) {
        fputs(",\"fields\":", w->markers[MARKER_DATA]);
        json_put_text(w->markers[MARKER_DATA], fields);
    }
    putc('}', w->markers[MARKER_DATA]);
    free(name);
    free(data);
    free(fields);
    return true;
}

static int firefox_compare_activities(const void *a, const void *b)
{
    const struct trace_activity *x = a, *y = b;
    return ORDER_BY(x, y, first->thread, first);
}

/* Sorts the activities by thread. */
static void firefox_find_activities(struct firefox_writer *w)
{
    w->activities = activities_read(w->session->file);
    if (w->activities.count)
        qsort(w->activities.list, w->activities.count, sizeof *w->activities.list, firefox_compare_activities);
}

static void firefox_add_activities(struct firefox_writer *w, uint32_t thread)
{
    size_t place = LOWER_BOUND(activity, w->activities.list, w->activities.count, activity->first->thread < thread);
    for (; place < w->activities.count && w->activities.list[place].first->thread == thread; place++) {
        const struct trace_activity *activity = &w->activities.list[place];
        if (!selection_holds(w->session->selection, activity->first->time))
            continue;
        firefox_write_marker(w, activity->first->time, &activity->last->time, activity->name);
        fputs("{\"type\":\"activity\"}", w->markers[MARKER_DATA]);
    }
}

static void firefox_close_markers(struct firefox_writer *w)
{
    for (int i = 0; i < MARKER_COLUMNS; i++) {
        if (w->markers[i])
            fclose(w->markers[i]);
        w->markers[i] = NULL;
    }
}

static bool firefox_begin_markers(struct firefox_writer *w, struct error *error)
{
    w->marker_count = 0;
    for (int i = 0; i < MARKER_COLUMNS; i++) {
        w->markers[i] = tmpfile();
        if (!w->markers[i])
            return error_set(error, "cannot create a temporary file for markers; check the free space of /tmp");
    }
    return true;
}

static bool firefox_copy_column(const struct firefox_writer *w, const char *name, FILE *from, struct error *error)
{
    char part[1 << 14];
    rewind(from);
    fprintf(w->out, "\"%s\":[", name);
    for (size_t got; (got = fread(part, 1, sizeof part, from)) > 0;)
        fwrite(part, 1, got, w->out);
    fputs("],", w->out);
    return ferror(from) ? error_set(error, "cannot write or read a temporary file; check the free space of its disk")
                        : true;
}

static void firefox_repeat_column(const struct firefox_writer *w, const char *name, const char *value)
{
    fprintf(w->out, "\"%s\":[", name);
    for (size_t i = 0; i < w->marker_count; i++)
        fprintf(w->out, "%s%s", i ? "," : "", value);
    fputs("],", w->out);
}

static bool firefox_end_markers(const struct firefox_writer *w, struct error *error)
{
    fputs("\"markers\":{", w->out);
    if (!firefox_copy_column(w, "data", w->markers[MARKER_DATA], error) ||
        !firefox_copy_column(w, "name", w->markers[MARKER_NAME], error) ||
        !firefox_copy_column(w, "startTime", w->markers[MARKER_START], error) ||
        !firefox_copy_column(w, "endTime", w->markers[MARKER_END], error) ||
        !firefox_copy_column(w, "phase", w->markers[MARKER_PHASE], error))
        return false;
    firefox_repeat_column(w, "category", "0");
    fprintf(w->out, "\"length\":%zu}}", w->marker_count);
    return true;
}

/* ---- threads ---- */

static void firefox_write_column(struct firefox_writer *w, const struct firefox_lane *lane,
                                 enum firefox_sample_column column)
{
    static const char *const names[SAMPLE_COLUMNS] = { "time", "stack", "weight", "threadCPUDelta" };
    w->column = column;
    w->count = 0;
    w->written_to = w->passed = 0;
    fprintf(w->out, "\"%s\":[", names[column]);
    if (w->session->file->header.mode != DWELL_MODE_PROFILE) {
        w->slices.begin = column == SAMPLE_STACK ? firefox_begin_slice : NULL;
        w->slices.end = column == SAMPLE_TIME && w->values.values ? firefox_add_values : NULL;
        w->slices.only_process = lane->process;
        w->slices.only_thread = lane->thread;
        slices_run(w->session, &w->slices);
    } else if (lane->profile) {
        order_walk(w->order, lane->profile, &w->visitor);
    }
    fputs("],", w->out);
}

static void firefox_write_time(const struct firefox_writer *w, const char *key, uint64_t time)
{
    char number[JSON_NUMBER];
    const char *end = json_put_millionths(number, slices_ns(w->session, time));
    if (time)
        fprintf(w->out, ",\"%s\":%.*s", key, (int)(end - number), number);
    else
        fprintf(w->out, ",\"%s\":null", key);
}

/* Counts earlier uses of a PID in the session (after exec, for example). A reused PID gets a number appended. */
static unsigned firefox_pid_uses_before(const struct session_file *file, const struct trace_process *p)
{
    unsigned uses = 0;
    for (const struct trace_process *other = file->processes; p && other < p; other++)
        uses += other->pid == p->pid;
    return uses;
}

static void firefox_write_thread_head(const struct firefox_writer *w, const struct firefox_lane *lane)
{
    const struct session_file *file = w->session->file;
    const struct trace_process *p = session_file_process(file, lane->process);
    const struct trace_thread *t = session_file_thread(file, lane->thread);
    char *process = slices_process_name(w->session, lane->process),
         *thread = slices_thread_name(w->session, lane->thread);
    const unsigned uses = firefox_pid_uses_before(file, p);
    fputs("{\"processType\":\"default\",\"processName\":", w->out);
    json_put_text(w->out, process);
    fputs(",\"name\":", w->out);
    json_put_text(w->out, thread);
    fprintf(w->out, ",\"pid\":\"%" PRIu32, p ? p->pid : 0);
    fprintf(w->out, uses ? ".%u\"" : "\"", uses + 1);
    fprintf(w->out, ",\"tid\":\"%" PRIu32 "\",\"isMainThread\":%s", t ? t->tid : 0,
            p && t && p->pid == t->tid ? "true" : "false");
    firefox_write_time(w, "processStartupTime", p && p->start_time ? p->start_time : file->header.start_ticks);
    firefox_write_time(w, "processShutdownTime", p ? p->end_time : 0);
    firefox_write_time(w, "registerTime", t && t->start_time ? t->start_time : file->header.start_ticks);
    firefox_write_time(w, "unregisterTime", t ? t->end_time : 0);
    fputs(",\"pausedRanges\":[],\n\"samples\":{\"weightType\":", w->out);
    fputs(w->session->summary.samples ? "\"samples\"," : "\"tracing-ms\",", w->out);
    free(process);
    free(thread);
}

/* Whether times off the CPU are known, and samples have moments. A call tree's have none. */
static bool firefox_knows_cpu(const struct firefox_writer *w, const struct trace_thread *t)
{
    return w->session->file->header.mode != DWELL_MODE_PROFILE && t && !w->blind && t->os_source != DWELL_OS_RSEQ;
}

static bool firefox_write_thread(struct firefox_writer *w, const struct firefox_lane *lane, struct error *error)
{
    const struct session_file *file = w->session->file;
    const struct trace_thread *t = session_file_thread(file, lane->thread);
    w->blind = t && t->announced && t->os_source == DWELL_OS_NONE;
    if (!firefox_begin_markers(w, error)) {
        firefox_close_markers(w);
        return false;
    }
    firefox_write_thread_head(w, lane);
    for (int column = 0; column < SAMPLE_COLUMNS; column++)
        if (column != SAMPLE_CPU || firefox_knows_cpu(w, t))
            firefox_write_column(w, lane, (enum firefox_sample_column)column);
    fprintf(w->out, "\"length\":%zu},\n", w->count);
    if (lane->thread)
        slices_follow_events(w->session, lane->thread, firefox_add_event, w);
    if (lane->thread)
        firefox_add_activities(w, lane->thread);
    const bool good = firefox_end_markers(w, error);
    firefox_close_markers(w);
    return good;
}

static bool firefox_add_lane(void *context, const struct trace_event *event, const struct trace_event_class *class)
{
    struct firefox_writer *w = context;
    (void)class;
    for (size_t i = w->lane_count; i-- > 0;)
        if (w->lanes[i].thread == event->thread)
            return true;
    GROW(w->lanes, w->lane_count, w->lane_room);
    w->lanes[w->lane_count++] = (struct firefox_lane){ event->process, event->thread, NULL };
    return true;
}

static void firefox_find_lanes(struct firefox_writer *w)
{
    const struct profile *p = w->session->profile;
    for (size_t i = 0; i < p->thread_count; i++) {
        const struct profile_thread *thread = &p->threads[w->order->threads[i]];
        GROW(w->lanes, w->lane_count, w->lane_room);
        w->lanes[w->lane_count++] = (struct firefox_lane){ thread->process, thread->thread, thread };
    }
    slices_follow_events(w->session, 0, firefox_add_lane, w);
}

/* ---- start and end ---- */

/* The type of the markers of each function with values. Its fields are texts, as numbers would lose digits. */
static void firefox_write_schema(const struct firefox_writer *w)
{
    for (size_t i = 0; w->values.values && i < w->values.values->function_count; i++) {
        const struct recorded_function *f = &w->values.values->functions[i];
        fprintf(w->out, ",\n{\"name\":\"values %zu\",\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":[", i);
        for (uint32_t j = 0; j < f->value_count; j++) {
            fprintf(w->out, "%s{\"key\":\"%" PRIu32 "\",\"format\":\"string\",\"label\":", j ? "," : "", j);
            json_put_text(w->out, f->values[j].name);
            putc('}', w->out);
        }
        fputs("]}", w->out);
    }
}

static void firefox_write_meta(const struct firefox_writer *w)
{
    static const char *const categories[FIREFOX_CATEGORIES][2] = {
        [FIREFOX_OTHER] = { "Other", "grey" },
        [FIREFOX_APPLICATION] = { "Application", "blue" },
        [FIREFOX_SYSTEM] = { "Operating system", "orange" },
        [FIREFOX_IDLE] = { "Idle", "transparent" },
        [FIREFOX_PREEMPTED] = { "Preempted", "red" },
    };
    const struct session_file *file = w->session->file;
    const struct dwell_file_header *h = &file->header;
    char number[JSON_NUMBER];
    const char *end = json_put_millionths(number, h->start_realtime);
    char *product = slices_process_name(w->session, file->process_count ? file->processes[0].serial : 0);
    fprintf(
        w->out,
        "{\"meta\":{\"version\":24,\"preprocessedProfileVersion\":66,\"interval\":%s,\"startTime\":%.*s,\"product\":",
        "0.001", (int)(end - number), number);
    json_put_text(w->out, product);
    fputs(",\"importedFrom\":\"dwell " DWELL_VERSION_TEXT "\",\"processType\":0,\"stackwalk\":0,\"symbolicated\":true,"
          "\"usesOnlyOneStackType\":true,"
          "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\",\"threadCPUDelta\":\"ns\"},"
          "\"sourceCodeIsNotOnSearchfox\":true,\"arguments\":",
          w->out);
    json_put_text(w->out, file->process_count ? file->processes[0].arguments : "");
    if (h->end_ticks > h->start_ticks) {
        end = json_put_millionths(number, slices_ns(w->session, h->end_ticks));
        fprintf(w->out, ",\"profilingStartTime\":0,\"profilingEndTime\":%.*s", (int)(end - number), number);
    }
    if (file->host.system) {
        fputs(",\"oscpu\":", w->out);
        json_put_text(w->out, file->host.system);
    }
    fputs(",\n\"categories\":[", w->out);
    for (int i = 0; i < FIREFOX_CATEGORIES; i++)
        fprintf(w->out, "%s{\"name\":\"%s\",\"color\":\"%s\",\"subcategories\":[\"Other\"]}", i ? "," : "",
                categories[i][0], categories[i][1]);
    fputs("],\n\"markerSchema\":["
          "{\"name\":\"mark\",\"tableLabel\":\"{marker.name} "
          "({marker.data.number})\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],"
          "\"fields\":[{\"key\":\"number\",\"label\":\"Number\",\"format\":\"integer\"}]},\n"
          "{\"name\":\"trace event\",\"display\":[\"marker-chart\",\"marker-table\"],\"fields\":["
          "{\"key\":\"number\",\"label\":\"Type\",\"format\":\"integer\"},{\"key\":\"level\",\"label\":\"Level\","
          "\"format\":\"integer\"},"
          "{\"key\":\"version\",\"label\":\"Version\",\"format\":\"integer\"},{\"key\":\"data\",\"label\":\"Data\","
          "\"format\":\"string\"},{\"key\":\"fields\",\"label\":\"Fields\",\"format\":\"string\"}]},\n"
          "{\"name\":\"activity\",\"display\":[\"marker-chart\",\"marker-table\",\"timeline-overview\"],\"fields\":[]}",
          w->out);
    firefox_write_schema(w);
    fputs("]},\n", w->out);
    free(product);
}

bool export_firefox(const struct analysis *session, const struct export_options *options, FILE *out,
                    struct error *error)
{
    struct order *order = order_new(session);
    struct firefox_writer w = {
        .slices = { .interval = firefox_add_interval, .off_cpu = firefox_add_off_cpu, .mark = firefox_add_mark },
        .visitor = { .enter = firefox_visit_node },
        .session = session,
        .order = order,
        .tables = firefox_tables_begin(session, order),
        .values = value_args_begin(session, options->values),
        .out = out,
    };
    firefox_find_lanes(&w);
    firefox_find_activities(&w);
    firefox_write_meta(&w);
    firefox_write_libs(&w.tables, out);
    fputs("\"threads\":[", out);
    bool good = true;
    for (size_t i = 0; good && i < w.lane_count; i++) {
        fputs(i ? ",\n" : "\n", out);
        good = firefox_write_thread(&w, &w.lanes[i], error);
    }
    fputs("],\n", out);
    firefox_write_shared(&w.tables, out);
    fputs("}\n", out);
    firefox_tables_end(&w.tables);
    activities_free(&w.activities);
    value_args_end(&w.values);
    free(w.lanes);
    free(w.path);
    order_free(order);
    return good;
}
