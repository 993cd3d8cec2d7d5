/* Says in words what separates slow calls from usual ones, and makes a table row of each line. */
#include "causes/why_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/counted_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/text_options.h"
#include "base/units.h"
#include "symbols/display_name.h"

const struct column view_why_columns[] = {
    { "path", "PATH", CELL_PATH, USE_DATA, false },
    { "kind", "KIND", CELL_TEXT, USE_DATA, false },
    { "object.kind", "OBJECT KIND", CELL_TEXT, USE_DATA, false },
    { "object.name", "OBJECT", CELL_TEXT, USE_DATA, false },
    { "cause", "CAUSE", CELL_TEXT, USE_DATA, false },
    { "cause_function", "CAUSED BY", CELL_NAME, USE_DATA, false },
    { "cause_path", "CAUSED BY PATH", CELL_PATH, USE_DATA, false },
    { "cause_thread", "IN THREAD", CELL_TEXT, USE_DATA, false },
    { "cause_thread_title", "CAUSE TITLE", CELL_TEXT, USE_DATA, false },
    { "cause_tid", "CAUSE TID", CELL_COUNT, USE_DATA, false },
    { "meanwhile", "MEANWHILE", CELL_TEXT, USE_DATA, false },
    { "where", "WHERE", CELL_NAME, USE_TEXT, false },
    { "slow_calls", "SLOW CALLS", CELL_COUNT, USE_DATA, false },
    { "usual_calls", "USUAL CALLS", CELL_COUNT, USE_DATA, false },
    { "slow", "SLOW", CELL_NS, USE_ALWAYS, false },
    { "usual", "USUAL", CELL_NS, USE_ALWAYS, false },
    { "difference", "MORE", CELL_CHANGE, USE_ALWAYS, false },
    { "share_percent", "SHARE %", CELL_PERCENT, USE_ALWAYS, false },
    { "ci95", "+-95 %", CELL_NS, USE_DATA, false },
    { "probability", "CHANCE", CELL_DIGITS, USE_DATA, false },
    { "estimated", "ESTIMATED", CELL_DIGITS, USE_DATA, false },
    { "times", "CALLS", CELL_TEXT, USE_TEXT, false },
    { "what", "WHAT", CELL_OBJECT, USE_TEXT, false },
    { "caused_by", "CAUSED BY", CELL_NAME, USE_TEXT, false },
};
enum {
    PATH,
    KIND,
    OBJECT_KIND,
    OBJECT_NAME,
    CAUSE,
    CAUSE_FUNCTION,
    CAUSE_PATH,
    CAUSE_THREAD,
    CAUSE_THREAD_TITLE,
    CAUSE_TID,
    MEANWHILE,
    WHERE,
    SLOW_CALLS,
    USUAL_CALLS,
    SLOW,
    USUAL,
    DIFFERENCE,
    SHARE,
    CI95,
    PROBABILITY,
    ESTIMATED,
    TIMES,
    WHAT,
    CAUSED_BY,
    COLUMN_COUNT
};
const size_t view_why_column_count = COLUMN_COUNT;
_Static_assert(sizeof view_why_columns / sizeof *view_why_columns == COLUMN_COUNT, "each column has its number");
const char why_columns_with_intervals[] = "slow,usual,difference,ci95,share_percent,times,what,where,caused_by";

static const char *const kind_names[] = { [WHY_CPU] = "cpu",     [WHY_BLOCKED] = "blocked", [WHY_RUNNABLE] = "runnable",
                                          [WHY_FAULT] = "fault", [WHY_FILE] = "file",       [WHY_PROBE] = "probe" };

/* ---- words ---- */

/* Whether the text of the wait is the call that waited. Descriptors that a call waits for together have no name. */
static bool why_is_call(const struct why_wait *wait)
{
    return strcmp(wait->kind, "call") == 0 || strcmp(wait->kind, "sleep") == 0 ||
           (strcmp(wait->kind, "descriptors") == 0 && !*wait->name);
}

static bool why_is_blocked_in_code(const struct why_line *line)
{
    return line->kind == WHY_BLOCKED && (!line->wait || strcmp(line->wait->kind, "other") == 0);
}

/* What the line's time is, for a column: a blocked time is named by what it waited for. The caller frees it. */
static char *why_what(const struct why_line *line)
{
    switch (line->kind) {
    case WHY_CPU:
        return need_text("%s", "cpu");
    case WHY_RUNNABLE:
        return need_text("%s", "preempted");
    case WHY_PROBE:
        return need_text("%s", "probes");
    case WHY_FAULT:
        return need_text("%s", "page faults");
    case WHY_FILE:
        return need_text("%s", line->wait ? line->wait->text : "file");
    case WHY_BLOCKED:
        break;
    }
    return need_text("%s", why_is_blocked_in_code(line) ? "blocked in its own code" : line->wait->text);
}

/* The same for a sentence. */
static char *why_what_in_words(const struct why_line *line)
{
    if (line->kind != WHY_BLOCKED || why_is_blocked_in_code(line))
        return why_what(line);
    if (strcmp(line->wait->kind, "recording") == 0)
        return need_text("blocked as %s", line->wait->text);
    return need_text("blocked %s %s", why_is_call(line->wait) ? "in" : "on", line->wait->text);
}

/* The last names of a path that ends with `last`, the innermost first: "evict < shrink". All of the path's end counts
 * if there is no such name. The caller frees it. */
static char *why_innermost(const char *path, const char *last, size_t most)
{
    size_t length, end = strlen(path);
    char *text;
    FILE *out = need_stream(&text, &length);
    bool begun = !last;
    for (size_t printed = 0; printed < most && end;) {
        size_t begin = end;
        while (begin > 0 && path[begin - 1] != ';')
            begin--;
        begun = begun || (strlen(last) == end - begin && strncmp(path + begin, last, end - begin) == 0);
        if (begun) {
            char *name = need_copy(path + begin, end - begin), *shown = display_name(name);
            fprintf(out, "%s%s", printed++ ? " < " : "", text_options()->full_names ? name : shown);
            free(shown);
            free(name);
        }
        end = begin ? begin - 1 : 0;
    }
    need_stream_end(out);
    return text;
}

/* Where the time was: the path below the function, or the function itself. A call of it within it shows both. The
 * caller frees it. */
static char *why_where(const struct why_line *line, size_t most)
{
    const char *below = strchr(line->path, ';');
    const size_t length = below ? (size_t)(below - line->path) : 0;
    const bool again = below && strncmp(below + 1, line->path, length) == 0 && strchr(";", below[1 + length]);
    if (line->kind == WHY_PROBE || line->kind == WHY_RUNNABLE)
        return need_text("%s", "");
    return why_innermost(below && !again ? below + 1 : line->path, NULL, again ? most + 1 : most);
}

/* Who made the thread wait: "held by evict < shrink"; empty if that is unknown. The caller frees it. */
static char *why_caused_by(const struct why_line *line)
{
    enum { CALLERS = 3 };
    const struct why_wait *w = line->wait;
    if (!w || strcmp(w->cause, "none") == 0 || !*w->cause)
        return need_text("%s", "");
    char *path = why_innermost(w->path, w->function, CALLERS);
    const char *how = strcmp(w->cause, "holder") == 0 ? "held by" : "woken by";
    char *text = *path       ? need_text("%s %s", how, path)
                 : *w->title ? need_text("%s thread %s", how, w->title)
                             : need_text("%s %s", how, w->function);
    free(path);
    return text;
}

/* How many times as many calls of the path, waits or faults a slow call has; zero if there are none in a set, or
 * others than those that were recorded. */
static double why_times_as_many(const struct why *why, const struct why_line *line)
{
    if (line->uncounted)
        return 0;
    const double slow = (double)line->count[WHY_SLOW] / (double)why->sets[WHY_SLOW].calls;
    const double usual = (double)line->count[WHY_USUAL] / (double)why->sets[WHY_USUAL].calls;
    return usual > 0 ? slow / usual : 0;
}

static const double many_more = 2;

/* In three digits, or all before the point. */
static char *why_times_text(double times)
{
    return need_text(times < 100 ? "%.3g" : "%.0f", times);
}

/* ---- the sentence ---- */

static uint64_t why_difference(const struct why *why)
{
    const uint64_t slow = why->sets[WHY_SLOW].ns, usual = why->sets[WHY_USUAL].ns;
    return why_is_more(why) ? slow - usual : usual - slow;
}

static void why_say_line(FILE *out, const struct why *why, const struct why_line *line)
{
    enum { CALLERS = 2 };
    char time[TIME_TEXT];
    char *what = why_what_in_words(line), *where = why_where(line, CALLERS), *cause = why_caused_by(line);
    text_time((uint64_t)(line->difference < 0 ? -line->difference : line->difference), time);
    if (line->kind == WHY_CPU)
        fprintf(out, "%s%s of CPU time in %s", line->estimated ? "about " : "", time, where);
    else if (line->kind == WHY_FAULT)
        fprintf(out, "%s in page faults of %s", time, where);
    else if (line->kind == WHY_FILE)
        fprintf(out, "%s waiting for %s in %s", time, what, where);
    else if (line->kind == WHY_PROBE)
        fprintf(out, "%s in probes", time);
    else if (why_is_blocked_in_code(line))
        fprintf(out, "%s blocked in the own code of %s", time, where);
    else
        fprintf(out, "%s %s", time, what);
    const double times = why_times_as_many(why, line);
    if (line->kind == WHY_CPU && times >= many_more) {
        char *text = why_times_text(times);
        fprintf(out, ", called %s times as often", text);
        free(text);
    }
    if (line->follows)
        fputs(", which follows from CPU time", out);
    if (*cause)
        fprintf(out, ", %s", cause);
    free(what);
    free(where);
    free(cause);
}

static const struct analysis *why_call_session(const struct why *why)
{
    return why->parts[why->call.session].session.analysis;
}

/* When the single slow call began: nanoseconds since its session did. */
static uint64_t why_moment(const struct why *why)
{
    const struct analysis *analysis = why_call_session(why);
    return ticks_to_ns(less(why->call.begin, analysis->file->header.start_ticks), analysis->summary.ticks_per_second);
}

static void why_say_sets(FILE *out, const struct why *why, const char *name, const struct why_choice *choice)
{
    const uint64_t slow = why->sets[WHY_SLOW].calls;
    char time[TIME_TEXT];
    text_time(choice->slow == WHY_ABOVE ? choice->number : why_moment(why), time);
    if (choice->slow == WHY_RANK || choice->slow == WHY_MOMENT)
        fprintf(out, "of %s of %s, the one at %s%s%s", COUNTED(why->calls, "call"), name, time,
                why->part_count > 1 ? " of " : "", why->part_count > 1 ? why_call_session(why)->file->path : "");
    else if (choice->slow == WHY_ABOVE)
        fprintf(out, "the %" PRIu64 " of %s of %s above %s", slow, COUNTED(why->calls, "call"), name, time);
    else if (choice->slow == WHY_PERCENTILE)
        fprintf(out, "the %" PRIu64 " of %s of %s above p%g", slow, COUNTED(why->calls, "call"), name, choice->percent);
    else if (slow == 1)
        fprintf(out, "the slowest of %s of %s", COUNTED(why->calls, "call"), name);
    else
        fprintf(out, "the slowest %" PRIu64 " of %s of %s", slow, COUNTED(why->calls, "call"), name);
    text_time(why_difference(why), time);
    fprintf(out, " take%s %s %s", slow == 1 ? "s" : "", time, why_is_more(why) ? "more" : "less");
    if (choice->between)
        fprintf(out, " than those from p%g to p%g", choice->from, choice->to);
}

/* The line that has the largest part of the difference; NULL if none has more than a little of it. */
static const struct why_line *why_largest(const struct why *why)
{
    const double sign = why_is_more(why) ? 1 : -1;
    const struct why_line *largest = NULL;
    double most = (double)why_difference(why) * WHY_LITTLE_PERCENT / 100;
    for (size_t i = 0; i < why->line_count; i++)
        if (sign * (double)why->lines[i].difference > most) {
            largest = &why->lines[i];
            most = sign * (double)largest->difference;
        }
    return largest;
}

/* The largest part is said even if chance alone may have made it so: the reader would look for it in the table. What a
 * single call took longer for is a fact, whether or not other calls have it, too. */
static void why_say_no_line(FILE *out, const struct why *why, const struct why_choice *choice)
{
    enum { MOSTLY_PERCENT = 50 };
    const bool single = choice->slow == WHY_RANK || choice->slow == WHY_MOMENT;
    const struct why_line *largest = why_largest(why);
    if (!largest) {
        fputs(": nothing separates them. No row differs by more than chance", out);
        return;
    }
    const double share = 100 * fabs((double)largest->difference) / (double)why_difference(why);
    const bool mostly = single && share > MOSTLY_PERCENT;
    fputs(mostly ? ": mostly " : ": ", out);
    why_say_line(out, why, largest);
    if (mostly)
        fputs(". No row differs by more than chance", out);
    else
        fprintf(out, " (%.0f %%). Chance alone could explain this: nothing separates them", share);
}

/* Says how many calls are in which set, and what would choose others. */
static void why_say_nothing_to_compare(FILE *out, const struct why *why, const char *name,
                                       const struct why_choice *choice)
{
    const uint64_t slow = why->sets[WHY_SLOW].calls, usual = why->sets[WHY_USUAL].calls;
    fprintf(out, "of %s of %s, %" PRIu64 " count%s as slow and %" PRIu64 " as usual: there is nothing to compare",
            COUNTED(why->calls, "call"), name, slow, slow == 1 ? "s" : "", usual);
    if (why->calls < 2)
        return;
    if (!slow)
        fputs("; --slow 1% takes the slowest ones", out);
    else
        fputs(choice->between ? "; --against rest takes all that are not slow" : "; --slow 1% takes fewer as slow",
              out);
}

char *why_answer(const struct why *why, const struct why_session *session, const struct why_choice *choice)
{
    enum { SAID = 3 };
    size_t length;
    char *text;
    FILE *out = need_stream(&text, &length);
    const char *name = session->analysis->names[session->function].name;
    char *shown = text_options()->full_names ? need_copy(name, strlen(name)) : display_name(name);
    if (why_has_sets(why))
        why_say_sets(out, why, shown, choice);
    else
        why_say_nothing_to_compare(out, why, shown, choice);
    if (!why->found && why_has_sets(why))
        why_say_no_line(out, why, choice);
    for (size_t i = 0, said = 0; i < why->line_count && said < SAID; i++)
        if (why->lines[i].found) {
            fputs(said++ ? "; " : ": ", out);
            why_say_line(out, why, &why->lines[i]);
        }
    need_stream_end(out);
    free(shown);
    return text;
}

/* ---- the table ---- */

static void why_fill_words(struct cell *cells, const struct why *why, const struct why_line *line)
{
    enum { CALLERS = 8 };
    const double times = why_times_as_many(why, line);
    char *what = why_what(line), *where = why_where(line, CALLERS), *cause = why_caused_by(line);
    cell_text(&cells[WHAT], what);
    cell_text(&cells[WHERE], where);
    if (*cause)
        cell_text(&cells[CAUSED_BY], cause);
    if (times >= many_more) {
        char *number = why_times_text(times), *text = need_text("%s times as many", number);
        cell_text(&cells[TIMES], text);
        free(text);
        free(number);
    }
    free(what);
    free(where);
    free(cause);
}

static void why_fill_wait(struct cell *cells, const struct why_wait *wait)
{
    cell_text(&cells[OBJECT_KIND], wait->kind);
    cell_text(&cells[OBJECT_NAME], wait->name);
    cell_text(&cells[CAUSE], wait->cause);
    if (*wait->function)
        cell_text(&cells[CAUSE_FUNCTION], wait->function);
    if (*wait->path)
        cell_text(&cells[CAUSE_PATH], wait->path);
    if (*wait->thread)
        cell_text(&cells[CAUSE_THREAD], wait->thread);
    if (*wait->title)
        cell_text(&cells[CAUSE_THREAD_TITLE], wait->title);
    if (wait->tid)
        cell_number(&cells[CAUSE_TID], wait->tid);
}

/* Text marks the row as that of a report with such a time. */
static void why_mark_estimate(struct cell *cell, double error)
{
    enum { MOST = 999 };
    const double spread = cell->number ? 100 * error / (double)cell->number : MOST;
    cell->estimated = true;
    cell->spread = (uint16_t)fmin(spread, MOST);
}

static void why_fill_numbers(struct cell *cells, const struct why *why, const struct why_line *line)
{
    const double difference = (double)why->sets[WHY_SLOW].ns - (double)why->sets[WHY_USUAL].ns;
    if (!line->uncounted) {
        cell_number(&cells[SLOW_CALLS], line->count[WHY_SLOW]);
        cell_number(&cells[USUAL_CALLS], line->count[WHY_USUAL]);
    }
    cell_number(&cells[SLOW], line->ns[WHY_SLOW]);
    cell_number(&cells[USUAL], line->ns[WHY_USUAL]);
    if (line->estimated) {
        why_mark_estimate(&cells[SLOW], line->error[WHY_SLOW]);
        why_mark_estimate(&cells[USUAL], line->error[WHY_USUAL]);
    }
    cell_text(&cells[ESTIMATED], line->estimated ? "true" : "false");
    cell_change(&cells[DIFFERENCE], line->difference);
    if (difference != 0)
        cell_percent(&cells[SHARE], 100 * (double)line->difference / difference);
    if (!isnan(line->ci95))
        cell_number(&cells[CI95], (uint64_t)llround(line->ci95));
    if (!isnan(line->probability)) {
        char *digits = need_text("%.3f", line->probability);
        cell_text(&cells[PROBABILITY], digits);
        free(digits);
    }
}

struct table view_why(const struct why *why)
{
    static const char *const optional[] = { "times", "share_percent", "usual", "slow", NULL };
    struct table t = table_make(view_why_columns, COLUMN_COUNT, NULL); /* ticks are nanoseconds */
    t.optional = optional;
    t.note_column = MEANWHILE;
    for (size_t i = 0; i < why->line_count; i++) {
        const struct why_line *line = &why->lines[i];
        struct cell *cells = table_row(&t);
        cell_text(&cells[PATH], line->path);
        cell_text(&cells[KIND], kind_names[line->kind]);
        if (line->wait)
            why_fill_wait(cells, line->wait);
        if (line->meanwhile)
            cell_text(&cells[MEANWHILE], line->meanwhile);
        why_fill_words(cells, why, line);
        why_fill_numbers(cells, why, line);
    }
    return t;
}
