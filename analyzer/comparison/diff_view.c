/* The tables of a comparison: its rows, its sessions, and its remarks. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "comparison/change.h"
#include "comparison/diff.h"

/* The columns of each value. */
static const struct diff_view_column {
    const char *behind_key, *title; /* suffixes; a title that does not begin with a blank is the whole title */
    enum cell_kind kind, kind_of_counts;
} value_columns_of[] = {
    { "_before", " 1", CELL_TICKS, CELL_DIGITS },   { "_after", " 2", CELL_TICKS, CELL_DIGITS },
    { "_change", " +-", CELL_CHANGE, CELL_DIGITS }, { "_change_percent", "%", CELL_PERCENT, CELL_PERCENT },
    { "_p", " p", CELL_DIGITS, CELL_DIGITS },       { "_change_ci95", " CI95", CELL_TICKS, CELL_DIGITS },
    { "_judged", " JUDGED", CELL_TEXT, CELL_TEXT },
};
enum { BEFORE, AFTER, CHANGE, CHANGE_PERCENT, PROBABILITY, INTERVAL, JUDGED, COLUMNS_A_VALUE };

static const struct column judged_columns[] = {
    { "mark", "", CELL_TEXT, USE_TEXT, false },
    { "judged", "JUDGED", CELL_TEXT, USE_DATA, false },
    { "in", "IN", CELL_TEXT, USE_ALWAYS, false },
};
enum { JUDGED_COLUMNS = sizeof judged_columns / sizeof *judged_columns };

static const struct column function_columns[] = {
    { "function", "FUNCTION", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
};
static const struct column module_columns[] = {
    { "module", "MODULE", CELL_TEXT, USE_ALWAYS, false },
};
static const struct column path_columns[] = {
    { "depth", "DEPTH", CELL_COUNT, USE_DATA, false },
    { "path", "CALL PATH", CELL_NAME, USE_ALWAYS, false },
    { "module", "MODULE", CELL_TEXT, USE_DATA, false },
};

static const struct {
    const struct column *columns;
    size_t count;
} subjects[] = {
    [DIFF_FUNCTIONS] = { function_columns, sizeof function_columns / sizeof *function_columns },
    [DIFF_MODULES] = { module_columns, sizeof module_columns / sizeof *module_columns },
    [DIFF_PATHS] = { path_columns, sizeof path_columns / sizeof *path_columns },
};

/* The columns of a comparison and the texts of its values' columns, in one piece of memory, which the table owns. */
struct diff_view_columns {
    struct {
        char key[64], title[32];
    } texts[DIFF_VALUES][COLUMNS_A_VALUE];
    struct column list[JUDGED_COLUMNS + 3 + DIFF_VALUES * COLUMNS_A_VALUE];
    size_t unit_groups[JUDGED_COLUMNS + 3 + DIFF_VALUES * COLUMNS_A_VALUE]; /* times of one value share a unit */
    size_t count;
};

/* Percentiles come last. */
static enum diff_value diff_view_values(const struct diff *d)
{
    return d->percentiles ? DIFF_VALUES : DIFF_SUMS;
}

static const char *diff_view_title(enum diff_value value)
{
    static const char *const percentiles[] = { "P50", "P90", "P99", "MAX" };
    const struct diff_compared *c = &diff_compared[value];
    return diff_is_percentile(value) ? percentiles[value - DIFF_SUMS] : value_table[c->value].titles[c->form];
}

static void diff_view_add_value_columns(struct diff_view_columns *columns, const struct diff *d, enum diff_value value)
{
    const struct value *v = &value_table[diff_compared[value].value];
    for (int i = 0; i < COLUMNS_A_VALUE; i++) {
        const struct diff_view_column *c = &value_columns_of[i];
        char *key = columns->texts[value][i].key, *title = columns->texts[value][i].title;
        snprintf(key, sizeof columns->texts[value][i].key, "%s%s", diff_value_name(value), c->behind_key);
        snprintf(title, sizeof columns->texts[value][i].title, "%s%s", c->title[0] == ' ' ? diff_view_title(value) : "",
                 c->title);
        const enum cell_kind kind = v->kind == VALUE_IS_COUNT ? c->kind_of_counts : c->kind;
        columns->unit_groups[columns->count] = (size_t)value + 1;
        const bool is_data = i == INTERVAL ? d->estimated && value != DIFF_CALLS : value == DIFF_CALLS;
        const enum column_use use = i != INTERVAL && i != JUDGED ? USE_ALWAYS : is_data ? USE_DATA : USE_CHOSEN;
        columns->list[columns->count++] = (struct column){ key, title, kind, use, false };
    }
}

static struct table diff_view_make_table(const struct diff *d, const struct summary *session)
{
    struct diff_view_columns *columns = need_memory(1, sizeof *columns);
    for (size_t i = 0; i < JUDGED_COLUMNS; i++)
        columns->list[columns->count++] = judged_columns[i];
    for (size_t i = 0; i < subjects[d->by].count; i++)
        columns->list[columns->count++] = subjects[d->by].columns[i];
    const size_t first_value = columns->count;
    for (enum diff_value i = 0; i < diff_view_values(d); i++)
        diff_view_add_value_columns(columns, d, i);
    struct table t = table_make(columns->list, columns->count, session);
    t.marks_cells = true; /* the sessions may know their times in different ways */
    t.own_columns = columns;
    t.unit_groups = columns->unit_groups;
    t.first_value = first_value;
    return t;
}

void view_diff_list_columns(FILE *out)
{
    for (enum diff_value i = 0; i < DIFF_SUMS; i++)
        fprintf(out, "%-30s %s\n", diff_value_name(i),
                value_table[diff_compared[i].value].meanings[diff_compared[i].form]);
    fprintf(out, "%-30s %s\n", "p50, p90, p99, max", "percentiles of completed calls, elapsed inclusive, to 2 %");
    fputs("\nA name alone stands for the columns _before, _after and _change_percent. The suffixes are:\n", out);
    fprintf(out, "%-30s %s\n", "_before, _after", "the mean of the side's sessions");
    fprintf(out, "%-30s %s\n", "_change, _change_percent", "from before to after");
    fprintf(out, "%-30s %s\n", "_change_ci95", "the half width of the 95 % interval of a change of estimated times");
    fprintf(out, "%-30s %s\n", "_judged", "certain, significant or large, or that chance decides it");
    fprintf(out, "%-30s %s\n", "_p", "the probability of such a change by chance, if both sides have several sessions");
}

/* The value of this name or title, in upper or lower case; DIFF_VALUES if there is none. */
static enum diff_value diff_view_value(const char *name, size_t length)
{
    for (enum diff_value i = 0; i < DIFF_VALUES; i++) {
        const char *const names[] = { diff_value_name(i), diff_view_title(i) };
        for (size_t j = 0; j < sizeof names / sizeof *names; j++)
            if (strlen(names[j]) == length && strncasecmp(names[j], name, length) == 0)
                return i;
    }
    return DIFF_VALUES;
}

char *view_diff_columns(const char *keys)
{
    size_t size;
    char *text;
    FILE *out = need_stream(&text, &size);
    for (const char *key = keys, *end; *key; key = end + (*end == ',')) {
        end = key + strcspn(key, ",");
        const enum diff_value value = diff_view_value(key, (size_t)(end - key));
        if (value < DIFF_VALUES) {
            const char *name = diff_value_name(value);
            fprintf(out, "%s_before,%s_after,%s_change_percent", name, name, name);
        } else {
            fwrite(key, 1, (size_t)(end - key), out);
        }
        fwrite(end, 1, *end == ',', out);
    }
    need_stream_end(out);
    return text;
}

/* ---- sessions ---- */

static const struct column session_columns[] = {
    { "run", "RAN", CELL_TICKS, USE_ALWAYS, false },
    { "elapsed_inclusive", "ELAPSED", CELL_TICKS, USE_ALWAYS, false },
    { "application_inclusive", "APPLICATION", CELL_TICKS, USE_ALWAYS, false },
    { "cpu_inclusive", "CPU", CELL_TICKS, USE_ALWAYS, false },
    { "calls", "CALLS", CELL_COUNT, USE_ALWAYS, false },
    { "lost_events", "LOST", CELL_COUNT, USE_ALWAYS, false },
    { "side", "", CELL_TEXT, USE_ALWAYS, false },
    { "session", "SESSION", CELL_TEXT, USE_ALWAYS, false },
    { "part", "PART", CELL_TEXT, USE_ALWAYS, false }, /* if parts are compared */
};
enum { RAN, ELAPSED, APPLICATION, CPU, CALLS, LOST, SIDE, SESSION, SESSION_PART };

static bool diff_has_parts(const struct diff *d)
{
    for (size_t i = 0; i < d->run_count; i++)
        if (d->runs[i].part)
            return true;
    return false;
}

/* Defines the unit of values. It has no path, so no facts of a session are printed. */
static const struct summary of_samples = { .ticks_per_second = 1000000000, .samples = true, .imported = true };

struct table view_diff_sessions(const struct diff *d)
{
    const bool parts = diff_has_parts(d);
    struct table t = table_make(session_columns, SESSION_PART + parts, d->samples ? &of_samples : NULL);
    for (size_t i = 0; i < d->run_count; i++) {
        const struct diff_run *run = &d->runs[i];
        struct cell *cells = table_row(&t);
        if (run->ran)
            cell_number(&cells[RAN], run->ran);
        cell_number(&cells[ELAPSED], run->total.of[DIFF_ELAPSED_INCLUSIVE]);
        if (run->application_known)
            cell_number(&cells[APPLICATION], run->total.of[DIFF_APPLICATION_INCLUSIVE]);
        if (run->cpu_known)
            cell_number(&cells[CPU], run->total.of[DIFF_CPU_INCLUSIVE]);
        if (!d->samples) {
            cell_number(&cells[CALLS], run->total.of[DIFF_CALLS]);
            cell_number(&cells[LOST], run->lost_events);
        }
        cell_text(&cells[SIDE], run->side == DIFF_BEFORE ? "before" : "after");
        cell_text(&cells[SESSION], run->path);
        if (parts)
            cell_text(&cells[SESSION_PART], run->part);
    }
    return t;
}

static const struct column remark_columns[] = {
    { "code", "CODE", CELL_TEXT, USE_ALWAYS, false },
    { "text", "TEXT", CELL_TEXT, USE_ALWAYS, false },
    { "remark", "REMARK", CELL_TEXT, USE_ALWAYS, false }, /* the same, by its first name */
};

struct table view_diff_remarks(const struct diff *d)
{
    struct table t = table_make(remark_columns, sizeof remark_columns / sizeof *remark_columns, NULL);
    for (size_t i = 0; i < d->remark_count; i++) {
        struct cell *row = table_row(&t);
        cell_text(&row[0], d->remark_codes[i]);
        cell_text(&row[1], d->remarks[i]);
        cell_text(&row[2], d->remarks[i]);
    }
    return t;
}

char *diff_judgement(const struct diff *d, const struct diff_options *options)
{
    static const char test[] = "by Welch's t-test, at most 5 % of the findings false (Benjamini and Hochberg)";
    if (options->sort == DIFF_CALLS)
        return need_text("certain (!): the sessions of a side agree, and chance does not decide the calls%s%s",
                         diff_is_tested(d) ? "; significant (*): " : "", diff_is_tested(d) ? test : "");
    if (diff_is_tested(d))
        return need_text("significant: %s", test);
    if (options->sort < DIFF_VALUES && diff_is_percentile(options->sort))
        return need_text("large: 10 %% or more, and more calls are longer than chance explains; with one session on a "
                         "side, no time is significant: record --runs 5");
    char large[AMOUNT_TEXT];
    amount_text(&options->large, large);
    return need_text("large: %s or more%s; with one session on a side, no time is significant: record --runs 5", large,
                     options->large.ns ? "" : " of the session's time");
}

/* ---- rows ---- */

static void diff_view_fill_whole_number(struct cell *cell, const char *sign, uint64_t number)
{
    char digits[32];
    snprintf(digits, sizeof digits, "%s%" PRIu64, sign, number);
    cell_text(cell, digits);
}

/* The mean of calls is a fraction if the sessions of a side do not agree. */
static void diff_view_fill_mean(struct cell *cell, const char *sign, double mean)
{
    char digits[64];
    const double whole = floor(mean), rest = mean - whole;
    const unsigned hundredths = (unsigned)lround(rest * 100);
    snprintf(digits, sizeof digits, "%s%.0f.%02u", sign, hundredths == 100 ? whole + 1 : whole, hundredths % 100);
    cell_text(cell, digits);
}

static void diff_view_fill_calls(struct cell *cells, const struct diff *d, const struct diff_pair *pair,
                                 const bool *present, bool people)
{
    bool whole = true;
    double mean[DIFF_SIDES];
    for (int side = 0; side < DIFF_SIDES; side++) {
        whole &= pair->sum[side] % d->side_count[side] == 0;
        mean[side] = (double)pair->sum[side] / (double)d->side_count[side];
    }
    const bool less = mean[DIFF_AFTER] < mean[DIFF_BEFORE];
    const char *sign = less ? "-" : people ? "+" : "";
    for (int side = 0; side < DIFF_SIDES; side++) {
        if (present[side] && whole)
            diff_view_fill_whole_number(&cells[side], "", pair->mean[side]);
        else if (present[side])
            diff_view_fill_mean(&cells[side], "", mean[side]);
    }
    if (whole)
        diff_view_fill_whole_number(&cells[CHANGE], sign,
                                    less ? pair->mean[DIFF_BEFORE] - pair->mean[DIFF_AFTER]
                                         : pair->mean[DIFF_AFTER] - pair->mean[DIFF_BEFORE]);
    else
        diff_view_fill_mean(&cells[CHANGE], sign, fabs(mean[DIFF_AFTER] - mean[DIFF_BEFORE]));
    if (pair->sum[DIFF_BEFORE])
        cell_percent(&cells[CHANGE_PERCENT], 100 * (mean[DIFF_AFTER] - mean[DIFF_BEFORE]) / mean[DIFF_BEFORE]);
}

static void diff_view_fill_judged(struct cell *cell, const struct diff_row *row, enum diff_value value)
{
    static const char *const words[] = { [JUDGED_NOTHING] = "",
                                         [JUDGED_LARGE] = "large",
                                         [JUDGED_SIGNIFICANT] = "significant",
                                         [JUDGED_CERTAIN] = "certain" };
    const enum diff_judged judged = row->values[value].judged;
    const bool chance = value == DIFF_CALLS && row->chance != CHANCE_NONE && judged == JUDGED_NOTHING;
    cell_text(cell, chance ? "chance" : words[judged]);
}

static void diff_view_fill_values(const struct diff *d, struct cell *cells, const struct diff_row *row, bool people)
{
    for (int value = 0; value < (int)diff_view_values(d); value++, cells += COLUMNS_A_VALUE) {
        const struct diff_pair *pair = &row->values[value];
        if (!diff_row_knows(d, row, value))
            continue;
        diff_view_fill_judged(&cells[JUDGED], row, (enum diff_value)value);
        fill_probability(&cells[PROBABILITY], pair->probability);
        if (value == DIFF_CALLS) {
            diff_view_fill_calls(cells, d, pair, row->present, people);
            continue;
        }
        for (int side = 0; side < DIFF_SIDES; side++)
            if (row->present[side]) {
                cell_number(&cells[BEFORE + side], pair->mean[side]);
                cells[BEFORE + side].estimated = pair->error[side] > 0;
            }
        fill_change(&cells[CHANGE], change_between(pair->mean[DIFF_BEFORE], pair->mean[DIFF_AFTER]),
                    pair->mean[DIFF_BEFORE]);
        cells[CHANGE].estimated = diff_pair_error(pair) > 0;
        if (people && !diff_pair_is_certain(d, pair)) /* a percentage would look like a finding */
            cells[CHANGE_PERCENT].known = false;
        if (diff_pair_error(pair) > 0)
            cell_number(&cells[INTERVAL], (uint64_t)llround(diff_pair_error(pair)));
    }
}

static void diff_view_fill_key(const struct diff *d, struct cell *cells, uint32_t key)
{
    if (d->by == DIFF_MODULES) {
        cell_text(&cells[0], d->keys->modules[key].path);
        return;
    }
    if (d->by == DIFF_FUNCTIONS) {
        cell_text(&cells[0], diff_function_name(d, key));
        cell_text(&cells[1], diff_function_module(d, key));
        return;
    }
    char *path = diff_path(d, key);
    cell_number(&cells[0], d->places[key].depth);
    cell_text(&cells[1], path);
    cell_text(&cells[2], diff_function_module(d, d->keys->nodes[key].function));
    free(path);
}

struct table view_diff(const struct diff *d, const struct diff_options *options, bool people)
{
    static const char *const marks[] = {
        [JUDGED_NOTHING] = "", [JUDGED_LARGE] = "#", [JUDGED_SIGNIFICANT] = "*", [JUDGED_CERTAIN] = "!"
    };
    static const char *const with_calls[] = {
        [JUDGED_NOTHING] = "!", [JUDGED_LARGE] = "#!", [JUDGED_SIGNIFICANT] = "*!", [JUDGED_CERTAIN] = "!"
    };
    static const char *const words[] = { [JUDGED_NOTHING] = "",
                                         [JUDGED_LARGE] = "large",
                                         [JUDGED_SIGNIFICANT] = "significant",
                                         [JUDGED_CERTAIN] = "certain" };
    const enum diff_value value = diff_judged_value(d, options);
    struct table t = diff_view_make_table(d, d->samples ? &of_samples : NULL);
    const size_t shown = options->limit && options->limit < d->row_count ? options->limit : d->row_count;
    for (size_t i = 0; i < shown; i++) {
        const struct diff_row *row = &d->rows[i];
        const enum diff_judged judged = row->values[value].judged;
        const bool certain = row->values[DIFF_CALLS].judged == JUDGED_CERTAIN;
        struct cell *cells = table_row(&t);
        cell_text(&cells[0], (certain ? with_calls : marks)[judged]);
        cell_text(&cells[1], words[judged]);
        cell_text(&cells[2], !row->present[DIFF_BEFORE] ? "after" : !row->present[DIFF_AFTER] ? "before" : "both");
        diff_view_fill_key(d, &cells[3], row->key);
        diff_view_fill_values(d, &cells[t.first_value], row, people);
    }
    t.hidden_rows = d->row_count - shown;
    return t;
}

static enum diff_value diff_first_value(const struct diff *d, const struct diff_options *options)
{
    return options->sort == DIFF_CALLS ? diff_work_value(d) : diff_judged_value(d, options);
}

void view_diff_optional_columns(const struct diff *d, const struct diff_options *options,
                                const char *keys[MAX_DIFF_OPTIONAL])
{
    static const char *const all[] = {
        "application_inclusive_change_percent",
        "application_inclusive_change",
        "application_exclusive_change_percent",
        "application_exclusive_change",
        "elapsed_exclusive_before",
        "elapsed_exclusive_after",
        "elapsed_exclusive_change_percent",
        "elapsed_exclusive_change",
        "elapsed_inclusive_change_percent",
        "elapsed_inclusive_change",
        "module",
        "calls_before",
        "calls_after",
    };
    const char *judged = diff_value_name(options->sort == DIFF_CALLS ? DIFF_CALLS : diff_first_value(d, options));
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strncmp(all[i], judged, strlen(judged)) != 0)
            keys[count++] = all[i];
    keys[count] = NULL;
}

/* The columns are the calls, the value that sorts the rows, and the changes of the other times. */
char *view_diff_usual_columns(const struct diff *d, const struct diff_options *options)
{
    const enum diff_value first = diff_first_value(d, options);
    char *keys = NULL;
    size_t length = 0;
    FILE *out = need_stream(&keys, &length);
    const char *name = diff_value_name(first);
    if (d->known[DIFF_CALLS])
        fputs("calls_before,calls_after,", out);
    if (d->known[DIFF_CALLS] && options->sort == DIFF_CALLS)
        fputs("calls_change,calls_change_percent,", out);
    fprintf(out, "%s_before,%s_after,%s_change,%s_change_percent", name, name, name, name);
    if (diff_is_tested(d))
        fprintf(out, ",%s_p", options->sort == DIFF_CALLS ? "calls" : name);
    for (int value = DIFF_ELAPSED_INCLUSIVE; value <= DIFF_APPLICATION_EXCLUSIVE; value++)
        if (value != (int)first && d->known[value])
            fprintf(out, ",%s_change,%s_change_percent", diff_value_name((enum diff_value)value),
                    diff_value_name((enum diff_value)value));
    need_stream_end(out);
    return keys;
}
