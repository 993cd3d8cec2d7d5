/* Prints the lines of a replay as text in fixed columns, as CSV rows, or as one JSON object per line. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/thread_titles.h"
#include "base/counted_text.h"
#include "base/csv_text.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/text_options.h"
#include "base/units.h"
#include "base/visible.h"
#include "report/replay.h"
#include "report/replay_values.h"
#include "report/table_formats.h"
#include "report/text_cut.h"
#include "symbols/display_name.h"

enum {
    MAX_THREAD_NAME = 15, /* shown characters of a name, in bytes; the kernel's names are not longer */
    MAX_TITLE = 20,       /* cells of a title, which can have a function's name */
    MIN_TIME = 11,        /* width of a time's column in characters */
    STEP = 2,             /* blanks per level */
    MAX_STEPS = 24,       /* deeper calls are not indented further; their depth is printed instead */
};

struct replay_printer {
    const struct session_file *file;
    const struct recorded_values *values; /* NULL if the session has none */
    char **titles;                        /* by thread, NULL for those whose names are enough */
    FILE *out;
    void (*print)(struct replay_printer *p, const struct replay_line *line);
    const struct time_unit *unit; /* of the moments */
    int time_width, tid_width, name_width;
    const struct trace_thread *last; /* thread of the previous line */
    uint32_t last_process;
    bool begun;
};

static uint64_t replay_ns(const struct replay_printer *p, uint64_t ticks)
{
    return ticks_to_ns(ticks, p->file->header.ticks_per_second);
}

static uint64_t replay_since_start(const struct replay_printer *p, uint64_t time)
{
    const uint64_t start = p->file->header.start_ticks;
    return replay_ns(p, time > start ? time - start : 0);
}

/* ---- text ---- */

static void replay_put_moment(const struct replay_printer *p, bool known, uint64_t ns)
{
    char text[TIME_TEXT] = "";
    if (known)
        time_text_exact(ns, p->unit, text);
    fprintf(p->out, "%*s  ", p->time_width, text);
}

/* The longest duration is not known yet, so each has its own unit. */
static void replay_put_duration(const struct replay_printer *p, bool known, uint64_t ns)
{
    char text[TIME_TEXT] = "";
    if (known && text_options()->units == UNITS_FIXED)
        time_text(ns, text_options()->unit, text);
    else if (known)
        text_time_cell(ns, false, text);
    fprintf(p->out, "%*s  ", MIN_TIME, text);
}

static void replay_put_function(const char *name, FILE *out)
{
    char *shown = text_options()->full_names ? need_copy(name, strlen(name)) : display_name(name);
    put_visible(shown, out);
    if (!strchr(shown, '('))
        fputs("()", out);
    free(shown);
}

static const struct {
    unsigned note;
    const char *says, *key;
} notes[] = {
    { REPLAY_BEGAN_BEFORE, "began before", "began_before" },
    { REPLAY_BACK, "back", "back" },
    { REPLAY_LEFT, "left", "left" },
    { REPLAY_UNENDED, "no more recorded", "no_more_recorded" },
    { REPLAY_GOES_ON, "goes on", "goes_on" },
    { REPLAY_AWAY, "away", "away" },
};
enum { NOTE_COUNT = sizeof notes / sizeof *notes };

static void replay_put_notes(unsigned set, FILE *out)
{
    const char *before = "  (";
    for (int i = 0; i < NOTE_COUNT; i++)
        if (set & notes[i].note) {
            fprintf(out, "%s%s", before, notes[i].says);
            before = ", ";
        }
    if (set)
        putc(')', out);
}

/* The title, or the name if that is enough. */
static const char *replay_thread_title(const struct replay_printer *p, const struct trace_thread *thread)
{
    const char *title = thread && p->titles ? p->titles[thread - p->file->threads] : NULL;
    return title ? title : thread ? thread->name : "";
}

/* The caller frees it. */
static char *replay_visible_name(const struct replay_printer *p, const struct trace_thread *thread)
{
    const char *title = thread && p->titles ? p->titles[thread - p->file->threads] : NULL;
    if (title) {
        char *whole = visible_cell(title), *fitting = text_cut_middle(whole, MAX_TITLE);
        free(whole);
        return fitting;
    }
    const char *name = thread ? thread->name : "";
    size_t length = strnlen(name, MAX_THREAD_NAME);
    while (name[length] && length > 0 && ((unsigned char)name[length] & 0xc0) == 0x80) /* no half of a character */
        length--;
    char *cut = need_copy(name, length), *shown = visible_cell(cut);
    free(cut);
    return shown;
}

static void replay_put_thread(const struct replay_printer *p, const struct replay_line *line)
{
    char *shown = replay_visible_name(p, line->thread);
    const bool changed = p->begun && (p->last != line->thread || p->last_process != line->process);
    const size_t width = text_width(shown);
    fprintf(p->out, "%c%*" PRIu32 " ", changed ? '>' : ' ', p->tid_width, line->thread ? line->thread->tid : 0);
    fputs(shown, p->out);
    fprintf(p->out, "%*s  ", p->name_width - (int)width, "");
    free(shown);
}

static void replay_put_indentation(size_t depth, FILE *out)
{
    if (depth <= MAX_STEPS)
        fprintf(out, "%*s", (int)depth * STEP, "");
    else
        fprintf(out, "%*s[%zu] ", (MAX_STEPS - 3) * STEP, "", depth);
}

static void replay_put_titles(const struct replay_printer *p)
{
    const struct text_options *options = text_options();
    char time[16], took[16];
    snprintf(time, sizeof time, "TIME %s", p->unit->name);
    snprintf(took, sizeof took, options->units == UNITS_FIXED ? "TOOK %s" : "TOOK", p->unit->name);
    fprintf(p->out, "%*s  %*s   %-*s  CALL\n", p->time_width, time, MIN_TIME, took, p->tid_width + 1 + p->name_width,
            "THREAD");
}

static void replay_print_text(struct replay_printer *p, const struct replay_line *line)
{
    static const char *const interval_texts[] = {
        [REPLAY_BLOCKED] = "-- blocked",
        [REPLAY_PREEMPTED] = "-- preempted",
        [REPLAY_PAUSED] = "-- paused",
        [REPLAY_RESUMED] = "-- resumed",
    };
    FILE *out = p->out;
    if (!p->begun)
        replay_put_titles(p);
    replay_put_moment(p, line->has_time, replay_since_start(p, line->time));
    replay_put_duration(p, line->has_duration, replay_ns(p, line->duration));
    replay_put_thread(p, line);
    replay_put_indentation(line->depth, out);
    if (line->kind == REPLAY_MARK) {
        fprintf(out, "-- mark %" PRIu32 "%s", line->number, line->text[0] ? ": " : "");
        put_visible(line->text, out);
    } else if (line->kind == REPLAY_PAGE_FAULTS) {
        fprintf(out, "-- %s", COUNTED(line->number, "page fault"));
    } else if (line->kind == REPLAY_EVENT) {
        fputs("-- event ", out);
        put_visible(line->text, out);
    } else if (line->kind == REPLAY_END) {
        fputs(line->far ? "} " : "}", out);
        if (line->far)
            replay_put_function(line->function, out);
    } else if (line->kind > REPLAY_END) {
        fputs(interval_texts[line->kind], out);
    } else {
        replay_put_function(line->function, out);
        fputs(line->kind == REPLAY_BEGIN ? " {" : ";", out);
        if (line->values)
            replay_put_values(p->values, line->values, out);
    }
    replay_put_notes(line->notes, out);
    putc('\n', out);
}

/* ---- data ---- */

static const char *const kind_keys[] = {
    [REPLAY_CALL] = "call",
    [REPLAY_BEGIN] = "begin",
    [REPLAY_END] = "end",
    [REPLAY_BLOCKED] = "blocked",
    [REPLAY_PREEMPTED] = "preempted",
    [REPLAY_PAUSED] = "paused",
    [REPLAY_RESUMED] = "resumed",
    [REPLAY_MARK] = "mark",
    [REPLAY_EVENT] = "event",
    [REPLAY_PAGE_FAULTS] = "page_faults",
};

static const char *replay_note_keys(unsigned set, char *room, size_t size)
{
    room[0] = '\0';
    for (int i = 0; i < NOTE_COUNT; i++)
        if (set & notes[i].note)
            snprintf(room + strlen(room), size - strlen(room), "%s%s", room[0] ? " " : "", notes[i].key);
    return room;
}

static uint32_t replay_pid(const struct replay_printer *p, const struct replay_line *line)
{
    const struct trace_process *process = session_file_process(p->file, line->process);
    return process ? process->pid : 0;
}

static void replay_put_values_field(const struct replay_printer *p, const struct replay_line *line)
{
    if (p->values)
        putc(',', p->out);
    if (!line->values)
        return;
    char *text = replay_values_json(p->values, line->values);
    csv_print_text(text, p->out);
    free(text);
}

static void replay_print_csv(struct replay_printer *p, const struct replay_line *line)
{
    char room[128];
    if (!p->begun)
        fprintf(
            p->out,
            "time_ns,duration_ns,process,tid,thread,depth,kind,function,note,mark,text,page_faults%s,thread_title\r\n",
            p->values ? ",values" : "");
    if (line->has_time)
        fprintf(p->out, "%" PRIu64, replay_since_start(p, line->time));
    putc(',', p->out);
    if (line->has_duration)
        fprintf(p->out, "%" PRIu64, replay_ns(p, line->duration));
    fprintf(p->out, ",%" PRIu32 ",%" PRIu32 ",", replay_pid(p, line), line->thread ? line->thread->tid : 0);
    csv_print_text(line->thread ? line->thread->name : "", p->out);
    fprintf(p->out, ",%zu,%s,", line->depth, kind_keys[line->kind]);
    csv_print_text(line->function ? line->function : "", p->out);
    fprintf(p->out, ",%s,", replay_note_keys(line->notes, room, sizeof room));
    if (line->kind == REPLAY_MARK)
        fprintf(p->out, "%" PRIu32, line->number);
    putc(',', p->out);
    csv_print_text(line->text ? line->text : "", p->out);
    putc(',', p->out);
    if (line->kind == REPLAY_PAGE_FAULTS)
        fprintf(p->out, "%" PRIu32, line->number);
    replay_put_values_field(p, line);
    putc(',', p->out);
    csv_print_text(replay_thread_title(p, line->thread), p->out);
    fputs("\r\n", p->out);
}

static struct json_object *replay_number_or_null(bool known, uint64_t number)
{
    return known ? json_object_new_uint64(number) : NULL;
}

static struct json_object *replay_values_object(const struct replay_printer *p, const struct replay_line *line)
{
    char *text = line->values ? replay_values_json(p->values, line->values) : NULL;
    struct json_object *object = text ? json_tokener_parse(text) : NULL;
    free(text);
    return object;
}

static void replay_print_json(struct replay_printer *p, const struct replay_line *line)
{
    char room[128];
    struct json_object *o = json_object_new_object();
    json_object_object_add(o, "time_ns", replay_number_or_null(line->has_time, replay_since_start(p, line->time)));
    json_object_object_add(o, "duration_ns", replay_number_or_null(line->has_duration, replay_ns(p, line->duration)));
    json_object_object_add(o, "process", json_object_new_uint64(replay_pid(p, line)));
    json_object_object_add(o, "tid", replay_number_or_null(line->thread, line->thread ? line->thread->tid : 0));
    json_object_object_add(o, "thread", json_new_text(line->thread ? line->thread->name : ""));
    json_object_object_add(o, "thread_title", json_new_text(replay_thread_title(p, line->thread)));
    json_object_object_add(o, "depth", json_object_new_uint64(line->depth));
    json_object_object_add(o, "kind", json_object_new_string(kind_keys[line->kind]));
    json_object_object_add(o, "function", line->function ? json_new_text(line->function) : NULL);
    json_object_object_add(o, "note",
                           line->notes ? json_new_text(replay_note_keys(line->notes, room, sizeof room)) : NULL);
    json_object_object_add(o, "mark", replay_number_or_null(line->kind == REPLAY_MARK, line->number));
    json_object_object_add(o, "text", line->text ? json_new_text(line->text) : NULL);
    json_object_object_add(o, "page_faults", replay_number_or_null(line->kind == REPLAY_PAGE_FAULTS, line->number));
    if (p->values)
        json_object_object_add(o, "values", replay_values_object(p, line));
    json_put_object(p->out, o);
    putc('\n', p->out);
}

/* ---- all formats ---- */

static int replay_wider_column(int width, int other)
{
    return other > width ? other : width;
}

/* One unit for all moments. The last one may be later: it is that of the last chunk. */
static const struct time_unit *replay_choose_unit(uint64_t last_ns)
{
    enum { SHORTEST = 10000 }; /* ns; shorter sessions have microseconds, too */
    return text_options()->units == UNITS_FIXED ? text_options()->unit
                                                : time_unit_for_all(last_ns > SHORTEST ? last_ns : SHORTEST);
}

static void replay_measure_columns(struct replay_printer *p, const struct replay_options *options)
{
    char digits[TIME_TEXT];
    const uint64_t last = session_file_last_time(p->file) < options->to ? session_file_last_time(p->file) : options->to;
    p->unit = replay_choose_unit(replay_since_start(p, last));
    time_text_exact(replay_since_start(p, last), p->unit, digits);
    p->time_width = replay_wider_column(MIN_TIME, (int)strlen(digits));
    for (size_t i = 0; i < p->file->thread_count; i++) {
        const struct trace_thread *t = &p->file->threads[i];
        if (!replay_wants(p->file, options, t->process, t->serial))
            continue;
        char *shown = replay_visible_name(p, t);
        p->tid_width = replay_wider_column(p->tid_width, snprintf(digits, sizeof digits, "%" PRIu32, t->tid));
        p->name_width = replay_wider_column(p->name_width, (int)text_width(shown));
        free(shown);
    }
}

struct replay_printer *replay_printer_new(const char *format, const struct session_file *file,
                                          const struct replay_options *options, FILE *out)
{
    static const struct {
        const char *name;
        void (*print)(struct replay_printer *p, const struct replay_line *line);
    } formats[] = { { "text", replay_print_text }, { "csv", replay_print_csv }, { "json", replay_print_json } };
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].name, format) != 0)
            continue;
        struct replay_printer *p = need_memory(1, sizeof *p);
        *p = (struct replay_printer){ .file = file, .values = options->values, .out = out, .print = formats[i].print };
        p->titles = thread_titles_read(file);
        replay_measure_columns(p, options);
        return p;
    }
    return NULL;
}

void replay_printer_free(struct replay_printer *p)
{
    thread_titles_free(p->titles, p->file);
    free(p);
}

bool replay_print(void *printer, const struct replay_line *line)
{
    struct replay_printer *p = printer;
    p->print(p, line);
    p->begun = true;
    p->last = line->thread;
    p->last_process = line->process;
    return !ferror(p->out);
}
