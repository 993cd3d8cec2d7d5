/* Collects the records of logs into runs, markers with their durations, and measurements of CPU and memory. */
#include "perflog/perflog_log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/index.h"
#include "base/intern.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/quote.h"
#include "perflog/perflog_parser.h"

enum { MAX_ATTRIBUTES = 100 }; /* of a marker */
enum { MAX_REPORTED = 20 };    /* bad lines of a file that are reported, and unknown kinds of events */

static const char *const field_names[] = { "OSVERSION", "BUILD", "PLATFORM", "CPU", "DEVNAME" };

struct perflog {
    bool instances;
    uint32_t file_count;
    struct intern texts; /* applications, markers' strings, header's values, files */
    struct intern marker_keys, series_keys, other_names;
    struct perflog_run *runs;
    size_t run_count, run_room;
    struct perflog_marker *markers;
    size_t marker_count, marker_room;
    struct perflog_series *series;
    size_t series_count, series_room;
    struct perflog_other *others;
    size_t other_count, other_room;
    struct number_index *current; /* by application and file: its run */
    struct number_index *ids;     /* by run and id: the marker */
    struct perflog_totals totals;
};

/* A log that is being read. */
struct perflog_reading {
    struct perflog *log;
    const char *file;
    uint32_t file_number;
    size_t first_run;
    const char *fields[FIELD_COUNT]; /* of the last header */
    bool header_named;               /* the last header names an application */
    uint64_t resolution;             /* the last one that the file states */
    size_t last_run;                 /* 1 + the run of the last header, or zero */
    size_t unnamed_since;            /* runs before this one are older than the last header without an application */
    size_t unnamed_before;           /* unnamed_since before the last header */
    uint64_t second_line;            /* of a second RESOLUTION of last_run, or zero */
    bool guessed;                    /* an application without a header has been reported */
    uint64_t last_bad_line, bad_lines, reported;
};

static const char *perflog_log_intern_text(struct perflog *log, struct perflog_text text, uint32_t *number)
{
    const uint32_t n = intern(&log->texts, text.at ? text.at : "", text.length);
    if (number)
        *number = n;
    return log->texts.pieces[n].bytes;
}

struct perflog *perflog_new(bool instances)
{
    struct perflog *log = need_memory(1, sizeof *log);
    log->instances = instances;
    log->current = index_new();
    log->ids = index_new();
    return log;
}

static void perflog_log_drop_marker(struct perflog_marker *marker)
{
    histogram_drop(&marker->durations);
    for (size_t i = 0; i < marker->attribute_count; i++)
        free(marker->attributes[i].value);
    free(marker->attributes);
}

void perflog_free(struct perflog *log)
{
    for (size_t i = 0; i < log->marker_count; i++)
        perflog_log_drop_marker(&log->markers[i]);
    free(log->runs);
    free(log->markers);
    free(log->series);
    free(log->others);
    intern_drop(&log->texts);
    intern_drop(&log->marker_keys);
    intern_drop(&log->series_keys);
    intern_drop(&log->other_names);
    index_free(log->current);
    index_free(log->ids);
    free(log);
}

/* ---- lines that cannot be parsed ---- */

static void perflog_log_report_bad(struct perflog_reading *r, const struct perflog_record *record)
{
    char quoted[QUOTE_ROOM];
    if (record->line != r->last_bad_line)
        r->bad_lines++;
    r->last_bad_line = record->line;
    if (r->reported++ >= MAX_REPORTED)
        return;
    if (record->text.length)
        say("%s:%" PRIu64 ": %s: '%s'", r->file, record->line, record->problem,
            quote(quoted, record->text.at, record->text.length));
    else
        say("%s:%" PRIu64 ": %s", r->file, record->line, record->problem);
}

/* ---- runs ---- */

static uint32_t perflog_log_add_run(struct perflog_reading *r, const char *app, uint32_t app_number, uint64_t line)
{
    struct perflog *log = r->log;
    GROW(log->runs, log->run_count, log->run_room);
    struct perflog_run *run = &log->runs[log->run_count];
    *run = (struct perflog_run){
        .file = r->file,
        .line = line,
        .app = app,
        .resolution = r->resolution,
        .app_number = app_number,
        .file_number = r->file_number,
    };
    memcpy(run->fields, r->fields, sizeof run->fields);
    struct index_slot *slot = index_find(log->current, app_number, r->file_number);
    if (slot->value_plus_1)
        slot->value_plus_1 = (uint32_t)log->run_count + 1;
    else
        index_set(log->current, slot, app_number, r->file_number, (uint32_t)log->run_count);
    return (uint32_t)log->run_count++;
}

/* The run that a line of the application belongs to. An application without a header gets a run of the last header: one
 * that names no application, or else another application's. RESOLUTION is a property of the device, so it holds for
 * both.
 */
static uint32_t perflog_log_run_of(struct perflog_reading *r, const struct perflog_record *record)
{
    uint32_t number;
    const char *app = perflog_log_intern_text(r->log, record->app, &number);
    const struct index_slot *slot = index_find(r->log->current, number, r->file_number);
    if (slot->value_plus_1 && slot->value_plus_1 > r->unnamed_since)
        return slot->value_plus_1 - 1;
    const uint32_t run = perflog_log_add_run(r, app, number, record->line);
    r->unnamed_before = r->unnamed_since;
    if (r->header_named && r->resolution && !r->guessed) {
        char quoted[QUOTE_ROOM];
        say("%s:%" PRIu64 ": application '%s' has no header; using the previous header's resolution of %" PRIu64
            " ticks per second",
            r->file, record->line, quote(quoted, app, record->app.length), r->resolution);
        r->guessed = true;
    }
    return run;
}

static void perflog_log_set_field(struct perflog_reading *r, const struct perflog_record *record)
{
    for (int i = 0; i < FIELD_COUNT; i++) {
        if (record->name.length != strlen(field_names[i]) ||
            strncasecmp(record->name.at, field_names[i], record->name.length) != 0)
            continue;
        if (i == FIELD_OSVERSION) { /* a header begins */
            memset(r->fields, 0, sizeof r->fields);
            r->header_named = false;
            r->last_run = 0;
            r->second_line = 0;
            r->unnamed_before = r->unnamed_since;
        }
        r->fields[i] = perflog_log_intern_text(r->log, record->text, NULL);
    }
}

static void perflog_log_add_app(struct perflog_reading *r, const struct perflog_record *record)
{
    uint32_t number;
    const char *app = perflog_log_intern_text(r->log, record->app, &number);
    const uint32_t run = perflog_log_add_run(r, app, number, record->line);
    r->log->runs[run].pid_known = record->known;
    r->log->runs[run].pid = record->number;
    r->header_named = true;
    r->last_run = (size_t)run + 1;
    r->unnamed_since = r->unnamed_before; /* a RESOLUTION before this line is of this header */
    r->second_line = 0;
}

/* RESOLUTION holds for the header that it is in, and for all runs after it in the file until another one is stated. */
static void perflog_log_set_resolution(struct perflog_reading *r, const struct perflog_record *record)
{
    struct perflog *log = r->log;
    r->resolution = record->number;
    if (!r->last_run) { /* a header that names no application so far */
        r->header_named = false;
        r->unnamed_since = log->run_count;
        return;
    }
    struct perflog_run *run = &log->runs[r->last_run - 1];
    if (run->resolution && run->resolution != record->number && (run->stated || run->durations)) {
        r->second_line = record->line;
        return;
    }
    run->resolution = record->number;
    run->stated = true;
    /* Headers of several programs that log at once can be interleaved. */
    for (size_t i = r->last_run - 1; i > r->first_run && !log->runs[i - 1].stated && !log->runs[i - 1].durations; i--)
        log->runs[i - 1].resolution = record->number;
}

/* A second RESOLUTION belongs to the header of the REGISTERED APP that follows. If none follows, a header was lost: the
 * application's earlier run keeps its own resolution, and another run begins. */
static void perflog_log_begin_second(struct perflog_reading *r)
{
    const struct perflog_run before = r->log->runs[r->last_run - 1];
    const uint32_t run = perflog_log_add_run(r, before.app, before.app_number, r->second_line);
    r->log->runs[run].stated = true;
    r->last_run = (size_t)run + 1;
    r->second_line = 0;
}

/* ---- markers ---- */

/* Two registrations with equal keys are the same marker. */
struct marker_key {
    uint64_t resolution, run, instance; /* the run only if its header states no resolution so far */
    uint32_t app, text, id;             /* the id only if there is no text */
    uint32_t zero;
};

static uint32_t perflog_log_add_marker(struct perflog_reading *r, uint32_t run_number,
                                       const struct perflog_record *record, bool registered)
{
    struct perflog *log = r->log;
    const struct perflog_run *run = &log->runs[run_number];
    const bool named = registered && record->text.length > 0;
    uint32_t text_number;
    const char *text =
        perflog_log_intern_text(log, registered ? record->text : (struct perflog_text){ "", 0 }, &text_number);
    const struct marker_key key = {
        .resolution = run->stated ? run->resolution : 0,
        .run = run->stated ? 0 : run_number + 1ull,
        .instance = log->instances ? log->marker_count + 1 : 0,
        .app = run->app_number,
        .text = text_number,
        .id = named ? UINT32_MAX : record->id,
    };
    const uint32_t number = intern(&log->marker_keys, &key, sizeof key);
    if (number < log->marker_count)
        return number;
    GROW(log->markers, log->marker_count, log->marker_room);
    const bool monitor = record->id == PERFLOG_ID_CPU || record->id == PERFLOG_ID_MEMORY ||
                         strncmp(text, "CPU: ", 5) == 0 || strncmp(text, "MEM: ", 5) == 0;
    log->markers[log->marker_count++] = (struct perflog_marker){
        .run = run_number,
        .app = run->app,
        .text = text,
        .id = record->id,
        .registered = registered,
        .file = r->file,
        .line = record->line,
        .monitor = monitor,
    };
    return number;
}

/* Whether the marker's string is that of the library's calibration, which has none or "calibration". */
static bool perflog_log_names_calibration(struct perflog_text text)
{
    static const char word[] = "calibrat";
    for (size_t at = 0; at + sizeof word - 1 <= text.length; at++)
        if (strncasecmp(text.at + at, word, sizeof word - 1) == 0)
            return true;
    return text.length == 0;
}

/* Whether the record belongs to the library's calibration. A program can register that id with another string: then it
 * is a marker of the program. */
static bool perflog_log_is_calibration(struct perflog_reading *r, const struct perflog_record *record)
{
    if (record->kind < PERFLOG_MARKER || record->kind == PERFLOG_NAMED || record->id != PERFLOG_ID_CALIBRATION)
        return false;
    if (record->kind == PERFLOG_MARKER && !perflog_log_names_calibration(record->text)) {
        const uint32_t run = perflog_log_run_of(r, record); /* can move the array of runs */
        r->log->runs[run].uses_calibration_id = true;
        return false;
    }
    uint32_t number;
    perflog_log_intern_text(r->log, record->app, &number);
    const struct index_slot *slot = index_find(r->log->current, number, r->file_number);
    if (!slot->value_plus_1)
        return true;
    struct perflog_run *run = &r->log->runs[slot->value_plus_1 - 1];
    if (record->kind == PERFLOG_MARKER)
        run->uses_calibration_id = false;
    return !run->uses_calibration_id;
}

static void perflog_log_register_marker(struct perflog_reading *r, const struct perflog_record *record)
{
    const uint32_t run = perflog_log_run_of(r, record);
    const uint32_t marker = perflog_log_add_marker(r, run, record, true);
    const uint64_t key = (uint64_t)run << 32 | record->id;
    struct index_slot *slot = index_find(r->log->ids, key, 0);
    if (slot->value_plus_1)
        slot->value_plus_1 = marker + 1;
    else
        index_set(r->log->ids, slot, key, 0, marker);
}

/* The last marker that was registered under the event's id. An id need not be registered. */
static uint32_t perflog_log_marker_of(struct perflog_reading *r, uint32_t run, const struct perflog_record *record)
{
    const uint64_t key = (uint64_t)run << 32 | record->id;
    struct index_slot *slot = index_find(r->log->ids, key, 0);
    if (!slot->value_plus_1)
        index_set(r->log->ids, slot, key, 0, perflog_log_add_marker(r, run, record, false));
    return index_find(r->log->ids, key, 0)->value_plus_1 - 1;
}

static void perflog_log_add_duration(struct perflog_reading *r, uint32_t run_number, uint32_t marker,
                                     const struct perflog_record *record)
{
    struct perflog_run *run = &r->log->runs[run_number];
    if (run->durations++ == 0)
        run->first_duration_line = record->line;
    histogram_add(&r->log->markers[marker].durations, record->number, 1);
}

/* Only its name identifies such a marker. It gets the next free id. */
static void perflog_log_add_named(struct perflog_reading *r, const struct perflog_record *record)
{
    const uint32_t run = perflog_log_run_of(r, record);
    const size_t before = r->log->marker_count;
    const bool instances = r->log->instances;
    r->log->instances = false;
    const uint32_t marker = perflog_log_add_marker(r, run, record, true);
    r->log->instances = instances;
    if (marker == before)
        r->log->markers[marker].id = (uint32_t)r->log->runs[run].named++;
    perflog_log_add_duration(r, run, marker, record);
}

static void perflog_log_add_error(struct perflog_reading *r, const struct perflog_record *record)
{
    const uint32_t marker = perflog_log_marker_of(r, perflog_log_run_of(r, record), record);
    r->log->markers[marker].errors++;
}

static void perflog_log_add_attribute(struct perflog_reading *r, const struct perflog_record *record)
{
    const uint32_t number = perflog_log_marker_of(r, perflog_log_run_of(r, record), record);
    struct perflog_marker *marker = &r->log->markers[number];
    const char *name = perflog_log_intern_text(r->log, record->name, NULL);
    size_t i = 0;
    while (i < marker->attribute_count && marker->attributes[i].name != name)
        i++;
    if (i == marker->attribute_count) {
        if (i == MAX_ATTRIBUTES)
            return;
        GROW(marker->attributes, marker->attribute_count, marker->attribute_room);
        marker->attributes[marker->attribute_count++] = (struct perflog_attribute){ name, NULL };
    }
    free(marker->attributes[i].value);
    marker->attributes[i].value = need_copy(record->text.at, record->text.length);
}

/* ---- CPU and memory ---- */

static void perflog_log_add_point(struct perflog_plot *plot, int128 value)
{
    if (plot->width == 0)
        plot->width = 1;
    if (plot->used == PLOT_POINTS && plot->counts[PLOT_POINTS - 1] == plot->width) {
        for (size_t i = 0; i < PLOT_POINTS / 2; i++) {
            plot->sums[i] = plot->sums[2 * i] + plot->sums[2 * i + 1];
            plot->counts[i] = plot->counts[2 * i] + plot->counts[2 * i + 1];
        }
        plot->used = PLOT_POINTS / 2;
        plot->width *= 2;
    }
    if (plot->used == 0 || plot->counts[plot->used - 1] == plot->width) {
        plot->sums[plot->used] = 0;
        plot->counts[plot->used++] = 0;
    }
    plot->sums[plot->used - 1] += value;
    plot->counts[plot->used - 1]++;
}

static void perflog_log_add_value(struct perflog_reading *r, const struct perflog_record *record)
{
    struct perflog *log = r->log;
    const uint32_t run = perflog_log_run_of(r, record), marker = perflog_log_marker_of(r, run, record);
    const uint32_t key[] = { log->runs[run].app_number, record->kind == PERFLOG_MEMORY,
                             log->instances ? marker + 1 : 0 };
    log->markers[marker].monitor = true;
    const uint32_t number = intern(&log->series_keys, key, sizeof key);
    if (number == log->series_count) {
        GROW(log->series, log->series_count, log->series_room);
        log->series[log->series_count++] = (struct perflog_series){
            .app = log->runs[run].app,
            .memory = record->kind == PERFLOG_MEMORY,
            .marker = marker,
            .least = record->value,
            .greatest = record->value,
        };
    }
    struct perflog_series *series = &log->series[number];
    series->count++;
    series->sum += record->value;
    if (record->value < series->least)
        series->least = record->value;
    if (record->value > series->greatest)
        series->greatest = record->value;
    perflog_log_add_point(&series->plot, record->value);
}

static void perflog_log_add_other(struct perflog_reading *r, const struct perflog_record *record)
{
    struct perflog *log = r->log;
    char quoted[QUOTE_ROOM];
    const uint32_t number = intern(&log->other_names, record->name.at, record->name.length);
    if (number == log->other_count) {
        GROW(log->others, log->other_count, log->other_room);
        log->others[log->other_count++] = (struct perflog_other){ log->other_names.pieces[number].bytes, 0 };
        if (number < MAX_REPORTED)
            say("%s:%" PRIu64 ": events of the unknown kind '%s' are only counted", r->file, record->line,
                quote(quoted, record->name.at, record->name.length));
    }
    log->others[number].count++;
    const uint32_t marker =
        perflog_log_marker_of(r, perflog_log_run_of(r, record), record); /* can move the array of markers */
    log->markers[marker].monitor = true;
}

/* ---- */

static void perflog_log_add_record(const struct perflog_record *record, void *context)
{
    struct perflog_reading *r = context;
    if (record->kind == PERFLOG_BAD) {
        perflog_log_report_bad(r, record);
        return;
    }
    r->log->totals.understood++;
    if (r->second_line && record->kind != PERFLOG_FIELD && record->kind != PERFLOG_APP &&
        record->kind != PERFLOG_RESOLUTION)
        perflog_log_begin_second(r);
    if (perflog_log_is_calibration(r, record))
        return;
    if (record->kind >= PERFLOG_DURATION && record->kind <= PERFLOG_OTHER)
        r->log->totals.events++;
    switch (record->kind) {
    case PERFLOG_FIELD:
        perflog_log_set_field(r, record);
        break;
    case PERFLOG_APP:
        perflog_log_add_app(r, record);
        break;
    case PERFLOG_RESOLUTION:
        perflog_log_set_resolution(r, record);
        break;
    case PERFLOG_MARKER:
        perflog_log_register_marker(r, record);
        break;
    case PERFLOG_DURATION: {
        const uint32_t run = perflog_log_run_of(r, record);
        perflog_log_add_duration(r, run, perflog_log_marker_of(r, run, record), record);
        break;
    }
    case PERFLOG_NAMED:
        perflog_log_add_named(r, record);
        break;
    case PERFLOG_CPU:
    case PERFLOG_MEMORY:
        perflog_log_add_value(r, record);
        break;
    case PERFLOG_ERROR:
        perflog_log_add_error(r, record);
        break;
    case PERFLOG_ATTRIBUTE:
        perflog_log_add_attribute(r, record);
        break;
    case PERFLOG_OTHER:
        perflog_log_add_other(r, record);
        break;
    case PERFLOG_CALIBRATION:
    case PERFLOG_BAD:
        break;
    }
}

bool perflog_load(struct perflog *log, FILE *in, const char *file)
{
    struct perflog_reading r = { .log = log };
    /* A file that is loaded twice is two logs. */
    r.file = perflog_log_intern_text(log, (struct perflog_text){ file, strlen(file) }, NULL);
    r.file_number = log->file_count++;
    r.first_run = r.unnamed_since = r.unnamed_before = log->run_count;
    const bool read = perflog_read(in, perflog_log_add_record, &r);
    if (r.reported > MAX_REPORTED)
        say("%s: %" PRIu64 " more like these", file, r.reported - MAX_REPORTED);
    log->totals.bad_lines += r.bad_lines;
    return read;
}

void perflog_finish(struct perflog *log, uint64_t resolution)
{
    uint64_t reported = 0;
    for (size_t i = 0; i < log->run_count; i++) {
        struct perflog_run *run = &log->runs[i];
        if (run->resolution)
            continue;
        run->resolution = resolution;
        if (resolution || !run->durations)
            continue;
        char quoted[QUOTE_ROOM];
        if (reported++ < MAX_REPORTED)
            say("%s:%" PRIu64 ": application '%s' has no RESOLUTION; durations shown in ticks: %" PRIu64
                " (set the ticks per second with --resolution)",
                run->file, run->first_duration_line, quote(quoted, run->app, strlen(run->app)), run->durations);
    }
    if (reported > MAX_REPORTED)
        say("%" PRIu64 " more runs like these", reported - MAX_REPORTED);
}

const struct perflog_run *perflog_runs(const struct perflog *log, size_t *count)
{
    *count = log->run_count;
    return log->runs;
}

const struct perflog_marker *perflog_markers(const struct perflog *log, size_t *count)
{
    *count = log->marker_count;
    return log->markers;
}

const struct perflog_series *perflog_series(const struct perflog *log, size_t *count)
{
    *count = log->series_count;
    return log->series;
}

const struct perflog_other *perflog_others(const struct perflog *log, size_t *count)
{
    *count = log->other_count;
    return log->others;
}

struct perflog_totals perflog_totals(const struct perflog *log)
{
    return log->totals;
}
