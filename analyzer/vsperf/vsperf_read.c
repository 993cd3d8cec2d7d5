/* Reads the rows of a file into the run. Finds columns by their titles and ignores unknown ones. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "profile/rollup.h"
#include "vsperf/csv_reader.h"
#include "vsperf/vsperf_import.h"

enum column {
    TYPE,
    FUNCTION_NAME,
    LEVEL,
    ELAPSED_INCLUSIVE,
    ELAPSED_EXCLUSIVE,
    APPLICATION_INCLUSIVE,
    APPLICATION_EXCLUSIVE,
    INCLUSIVE_SAMPLES,
    EXCLUSIVE_SAMPLES,
    SHORTEST,
    LONGEST,
    CALLS,
    SOURCE_FILE,
    LINE_NUMBER,
    MODULE_NAME,
    MODULE_PATH,
    ADDRESS,
    PROCESS_NAME,
    PROCESS_ID,
    THREAD_ID,
    MARK_ID,
    LINE_BEGIN,
    NAME,
    VALUE,
    STATED, /* the first of DWELL_STATED_COLUMNS */
    AVERAGE_INCLUSIVE = STATED + DWELL_STATED_EACH + 1,
    AVERAGE_EXCLUSIVE = AVERAGE_INCLUSIVE + 3,
    COLUMNS = STATED + DWELL_STATED_COLUMNS,
};

static const char *const titles[COLUMNS] = {
    [TYPE] = "Type",
    [FUNCTION_NAME] = "Function Name",
    [LEVEL] = "Level",
    [ELAPSED_INCLUSIVE] = "Elapsed Inclusive Time",
    [ELAPSED_EXCLUSIVE] = "Elapsed Exclusive Time",
    [APPLICATION_INCLUSIVE] = "Application Inclusive Time",
    [APPLICATION_EXCLUSIVE] = "Application Exclusive Time",
    [INCLUSIVE_SAMPLES] = "Inclusive Samples",
    [EXCLUSIVE_SAMPLES] = "Exclusive Samples",
    [SHORTEST] = "Min Elapsed Inclusive Time",
    [LONGEST] = "Max Elapsed Inclusive Time",
    [CALLS] = "Number of Calls",
    [SOURCE_FILE] = "Source File",
    [LINE_NUMBER] = "Function Line Number",
    [MODULE_NAME] = "Module Name",
    [MODULE_PATH] = "Module Path",
    [ADDRESS] = "Function Address",
    [PROCESS_NAME] = "Process Name",
    [PROCESS_ID] = "Process ID",
    [THREAD_ID] = "Thread ID",
    [MARK_ID] = "Mark Id",
    [LINE_BEGIN] = "Source Line Begin",
    [NAME] = "Name",
    [VALUE] = "Value",
    [STATED] = "Elapsed Inclusive Time %",
    "Elapsed Exclusive Time %",
    "Application Inclusive Time %",
    "Application Exclusive Time %",
    "Time Inclusive Probe Overhead",
    "Time Exclusive Probe Overhead",
    "Min Elapsed Inclusive Time",
    "Avg Elapsed Inclusive Time",
    "Max Elapsed Inclusive Time",
    "Min Elapsed Exclusive Time",
    "Avg Elapsed Exclusive Time",
    "Max Elapsed Exclusive Time",
    "Min Application Inclusive Time",
    "Avg Application Inclusive Time",
    "Max Application Inclusive Time",
    "Min Application Exclusive Time",
    "Avg Application Exclusive Time",
    "Max Application Exclusive Time",
};

/* Sampled reports have these columns instead. */
static const struct {
    const char *title;
    int column;
} of_samples[] = {
    { "Inclusive Samples %", STATED + DWELL_STATED_PERCENT },
    { "Exclusive Samples %", STATED + DWELL_STATED_PERCENT + 1 },
    { "Avg Inclusive Samples", STATED + DWELL_STATED_EACH + 1 },
    { "Avg Exclusive Samples", STATED + DWELL_STATED_EACH + 4 },
};
enum { COLUMNS_OF_SAMPLES = sizeof of_samples / sizeof *of_samples };

/* The columns of the first reports, which have no line of titles. */
static const int without_titles[] = {
    TYPE, FUNCTION_NAME, INCLUSIVE_SAMPLES, EXCLUSIVE_SAMPLES, STATED, STATED + 1,
};
enum { FIRST_PERCENT = 4, LAST_PERCENT = 5 };

enum { MAX_ROWS = 1 << 24, MAX_OF_A_KIND = 65000 };

struct vsperf_reading {
    struct vsperf *v;
    struct csv csv;
    const char *name;
    int at[COLUMNS]; /* the field of each column; -1 if there is none */
    bool *percent;   /* by field: whether it is a percentage */
    size_t percent_count;
    enum vsperf_kind kind;
    uint32_t root; /* 1 + the last Root row; zero if there was none */
    uint32_t depth;
    bool has_depth; /* there was a row of the tree before */
};

static bool vsperf_wrong_here(struct vsperf_reading *r, const char *what)
{
    return error_set(r->v->error, "%s:%lu: %s", r->name, r->csv.record, what);
}

static const char *vsperf_field_text(const struct vsperf_reading *r, int column)
{
    const int at = r->at[column];
    return at >= 0 && (size_t)at < r->csv.count ? r->csv.fields[at] : "";
}

static bool vsperf_has_column(const struct vsperf_reading *r, enum column column)
{
    return r->at[column] >= 0;
}

/* ---- titles ---- */

static bool vsperf_same_title(const char *text, const char *title)
{
    text += strspn(text, " \t");
    const size_t length = strlen(title);
    return strncasecmp(text, title, length) == 0 && text[length + strspn(text + length, " \t")] == '\0';
}

static void vsperf_find_columns(struct vsperf_reading *r)
{
    r->percent = need_memory(r->csv.count, sizeof *r->percent);
    r->percent_count = r->csv.count;
    for (size_t i = 0; i < r->csv.count; i++) {
        const char *text = r->csv.fields[i], *percent = strrchr(text, '%');
        r->percent[i] = percent && percent[1 + strspn(percent + 1, " ")] == '\0';
        for (int column = 0; column < COLUMNS; column++)
            if (r->at[column] < 0 && vsperf_same_title(text, titles[column]))
                r->at[column] = (int)i;
        for (int j = 0; j < COLUMNS_OF_SAMPLES; j++)
            if (r->at[of_samples[j].column] < 0 && vsperf_same_title(text, of_samples[j].title))
                r->at[of_samples[j].column] = (int)i;
    }
}

static bool vsperf_is_row_type(const char *text)
{
    return strcasecmp(text, "Root") == 0 || strcasecmp(text, "Caller") == 0 || strcasecmp(text, "Callee") == 0;
}

/* Whether times are known by their averages and the number of calls alone, as in some call trees. */
static bool vsperf_has_averages(const struct vsperf_reading *r)
{
    return !vsperf_has_column(r, ELAPSED_INCLUSIVE) && !vsperf_has_column(r, INCLUSIVE_SAMPLES) &&
           vsperf_has_column(r, AVERAGE_INCLUSIVE) && vsperf_has_column(r, AVERAGE_EXCLUSIVE) &&
           vsperf_has_column(r, CALLS);
}

static bool vsperf_has_values(const struct vsperf_reading *r)
{
    return (vsperf_has_column(r, ELAPSED_INCLUSIVE) && vsperf_has_column(r, ELAPSED_EXCLUSIVE)) ||
           (vsperf_has_column(r, INCLUSIVE_SAMPLES) && vsperf_has_column(r, EXCLUSIVE_SAMPLES)) ||
           vsperf_has_averages(r);
}

/* The kind of summary that has these columns. */
static enum vsperf_kind vsperf_kind_of_columns(const struct vsperf_reading *r)
{
    if (vsperf_has_column(r, MARK_ID) || vsperf_has_column(r, LINE_BEGIN))
        return VSPERF_OTHER;
    if (vsperf_has_column(r, FUNCTION_NAME))
        return vsperf_has_column(r, TYPE)    ? VSPERF_CALLER_CALLEE
               : vsperf_has_column(r, LEVEL) ? VSPERF_CALL_TREE
                                             : VSPERF_FUNCTION;
    if (vsperf_has_column(r, NAME) && vsperf_has_column(r, VALUE))
        return VSPERF_HEADER;
    if (vsperf_has_values(r) && vsperf_has_column(r, MODULE_NAME))
        return VSPERF_MODULE;
    if (vsperf_has_values(r) && (vsperf_has_column(r, THREAD_ID) || vsperf_has_column(r, PROCESS_ID)))
        return VSPERF_OTHER;
    return VSPERF_UNKNOWN;
}

static const char *vsperf_kind_name(enum vsperf_kind kind)
{
    static const char *const names[] = { "", "callers and callees", "functions", "a call tree", "modules", "a header" };
    return names[kind];
}

/* Reads the first record: titles, or a row. */
static bool vsperf_read_titles(struct vsperf_reading *r, bool *is_row)
{
    *is_row = vsperf_is_row_type(r->csv.fields[0]);
    if (*is_row) {
        for (int i = 0; i < (int)(sizeof without_titles / sizeof *without_titles); i++)
            r->at[without_titles[i]] = i;
        r->percent = need_memory(LAST_PERCENT + 1, sizeof *r->percent);
        r->percent_count = LAST_PERCENT + 1;
        r->percent[FIRST_PERCENT] = r->percent[LAST_PERCENT] = true;
    } else {
        vsperf_find_columns(r);
    }
    r->kind = vsperf_kind_of_columns(r);
    if (r->kind == VSPERF_UNKNOWN)
        return vsperf_wrong_here(r, "not a report of VSPerfReport: it has none of the columns of one");
    if (r->kind == VSPERF_HEADER || r->kind == VSPERF_OTHER)
        return true;
    if (!vsperf_has_values(r))
        return vsperf_wrong_here(
            r, "needs the columns 'Elapsed Inclusive Time' and 'Elapsed Exclusive Time', their averages and 'Number of "
               "Calls', or 'Inclusive Samples' and 'Exclusive Samples'");
    const bool sampled = !vsperf_has_column(r, ELAPSED_INCLUSIVE) && !vsperf_has_averages(r);
    if (sampled ? r->v->traced : r->v->sampled)
        return vsperf_wrong_here(r, sampled ? "samples, but the file before it has times"
                                            : "times, but the file before it has samples");
    r->v->sampled |= sampled;
    r->v->traced |= !sampled;
    if (!sampled && vsperf_has_column(r, APPLICATION_INCLUSIVE) != vsperf_has_column(r, APPLICATION_EXCLUSIVE))
        return vsperf_wrong_here(
            r, "only one of the columns 'Application Inclusive Time' and 'Application Exclusive Time'");
    if (r->v->file_of[r->kind])
        return error_set(r->v->error, "%s: has %s, like %s; import one run at a time", r->name,
                         vsperf_kind_name(r->kind), r->v->file_of[r->kind]);
    return true;
}

/* ---- numbers ---- */

static bool vsperf_wrong_number(struct vsperf_reading *r, const char *title, const char *text, const char *wrong)
{
    return error_set(r->v->error, "%s:%lu: %s: '%.40s' %s", r->name, r->csv.record, title, text, wrong);
}

/* An empty field is zero and not `known`. */
static bool vsperf_read_count(struct vsperf_reading *r, enum column column, uint64_t *count, bool *known)
{
    const char *text = vsperf_field_text(r, column);
    *count = 0;
    if (known)
        *known = text[0] != '\0';
    if (!text[0])
        return true;
    const char *wrong = csv_count(text, count);
    return !wrong || vsperf_wrong_number(r, titles[column], text, wrong);
}

static bool vsperf_check_percents(struct vsperf_reading *r)
{
    for (size_t i = 0; i < r->csv.count && i < r->percent_count; i++) {
        double percent;
        if (!r->percent[i] || !r->csv.fields[i][0])
            continue;
        const char *wrong = csv_percent(r->csv.fields[i], &percent);
        if (wrong)
            return vsperf_wrong_number(r, "a percentage", r->csv.fields[i], wrong);
    }
    return true;
}

static bool vsperf_read_application(struct vsperf_reading *r, struct times *t)
{
    bool inclusive = false, exclusive = false;
    if (!vsperf_read_count(r, APPLICATION_INCLUSIVE, &t->application_inclusive, &inclusive) ||
        !vsperf_read_count(r, APPLICATION_EXCLUSIVE, &t->application_exclusive, &exclusive))
        return false;
    if (inclusive && exclusive) {
        r->v->application_known = true;
    } else { /* all of it if it is unknown */
        r->v->application_missing = true;
        t->application_inclusive = t->elapsed_inclusive;
        t->application_exclusive = t->elapsed_exclusive;
    }
    if (t->application_inclusive > t->elapsed_inclusive || t->application_exclusive > t->elapsed_exclusive)
        return vsperf_wrong_here(r, "more application than elapsed time");
    return true;
}

/* Checks that later sums of the rows cannot overflow. */
static bool vsperf_check_sums(struct vsperf_reading *r, const struct times *t)
{
    const uint64_t most = (uint64_t)1 << 58;
    r->v->times_sum += t->elapsed_inclusive + t->elapsed_exclusive; /* each is at most 2^56 */
    r->v->calls_sum += t->calls;
    if (r->v->times_sum > most || r->v->calls_sum > most)
        return vsperf_wrong_here(r, "the rows up to this one add up to more than is possible");
    return true;
}

/* A row without its two numbers would count as zero. The row of a process in a call tree needs none: its values are
 * those of what follows. */
static bool vsperf_check_numbers(struct vsperf_reading *r, enum column inclusive, enum column exclusive)
{
    const bool of_process = r->kind == VSPERF_CALL_TREE && strcmp(vsperf_field_text(r, LEVEL), "0") == 0;
    const bool has_inclusive = vsperf_field_text(r, inclusive)[0], has_exclusive = vsperf_field_text(r, exclusive)[0];
    if ((has_inclusive && has_exclusive) || of_process)
        return true;
    if (!has_inclusive && !has_exclusive)
        return vsperf_wrong_here(r, "a row without numbers");
    return error_set(r->v->error, "%s:%lu: a row without a number in the column '%s'", r->name, r->csv.record,
                     titles[has_inclusive ? exclusive : inclusive]);
}

/* A time that is its average times the calls, to the nearest tick. */
static bool vsperf_multiply_average(struct vsperf_reading *r, enum column column, uint64_t calls, uint64_t *time)
{
    const char *text = vsperf_field_text(r, column);
    double average = 0;
    const char *wrong = text[0] ? csv_decimal(text, &average) : NULL;
    const double product = average * (double)calls;
    if (!wrong && !(product >= 0 && product < 0x1p56))
        wrong = "is impossible";
    *time = wrong ? 0 : (uint64_t)llround(product);
    return !wrong || vsperf_wrong_number(r, titles[column], text, wrong);
}

/* The averages are rounded, so that the exclusive time can seem to be a little more than the inclusive one. */
static bool vsperf_read_averages(struct vsperf_reading *r, struct times *t)
{
    if (!vsperf_check_numbers(r, AVERAGE_INCLUSIVE, AVERAGE_EXCLUSIVE) ||
        !vsperf_multiply_average(r, AVERAGE_INCLUSIVE, t->calls, &t->elapsed_inclusive) ||
        !vsperf_multiply_average(r, AVERAGE_EXCLUSIVE, t->calls, &t->elapsed_exclusive))
        return false;
    if (t->elapsed_exclusive > t->elapsed_inclusive &&
        t->elapsed_exclusive - t->elapsed_inclusive <= t->calls / 100 + 1)
        t->elapsed_exclusive = t->elapsed_inclusive;
    r->v->averaged = true;
    return true;
}

static bool vsperf_read_totals(struct vsperf_reading *r, struct times *t)
{
    const enum column inclusive = r->v->sampled ? INCLUSIVE_SAMPLES : ELAPSED_INCLUSIVE;
    const enum column exclusive = r->v->sampled ? EXCLUSIVE_SAMPLES : ELAPSED_EXCLUSIVE;
    return vsperf_check_numbers(r, inclusive, exclusive) &&
           vsperf_read_count(r, inclusive, &t->elapsed_inclusive, NULL) &&
           vsperf_read_count(r, exclusive, &t->elapsed_exclusive, NULL);
}

static bool vsperf_read_times(struct vsperf_reading *r, struct times *t)
{
    const bool sampled = r->v->sampled;
    bool shortest = false, longest = false;
    *t = (struct times){ .shortest = UINT64_MAX };
    if (!vsperf_read_count(r, CALLS, &t->calls, NULL) ||
        !(vsperf_has_averages(r) ? vsperf_read_averages(r, t) : vsperf_read_totals(r, t)) ||
        !vsperf_check_percents(r) || !vsperf_check_sums(r, t))
        return false;
    if (sampled) {
        t->application_inclusive = t->elapsed_inclusive;
        t->application_exclusive = t->elapsed_exclusive;
        return true;
    }
    if (!vsperf_read_application(r, t) || !vsperf_read_count(r, SHORTEST, &t->shortest, &shortest) ||
        !vsperf_read_count(r, LONGEST, &t->longest, &longest))
        return false;
    if (!shortest || !longest || t->shortest > t->longest) {
        t->shortest = UINT64_MAX;
        t->longest = 0;
    }
    return true;
}

/* Reads the columns that are kept as they are. Percentages have been checked. */
static bool vsperf_read_stated(struct vsperf_reading *r, struct dwell_stated *stated)
{
    *stated = (struct dwell_stated){ 0 };
    for (int i = 0; i < DWELL_STATED_COLUMNS; i++) {
        const char *text = vsperf_field_text(r, STATED + i);
        if (!text[0])
            continue;
        const char *wrong =
            i < DWELL_STATED_OVERHEAD ? csv_percent(text, &stated->values[i]) : csv_decimal(text, &stated->values[i]);
        if (wrong)
            return vsperf_wrong_number(r, titles[STATED + i], text, wrong);
        stated->columns |= (uint64_t)1 << i;
    }
    return true;
}

/* ---- rows ---- */

/* Visual Studio writes the addresses of 32-bit programs so: 0x00401000. */
static bool vsperf_is_narrow(const char *address)
{
    const bool prefixed = address[0] == '0' && (address[1] == 'x' || address[1] == 'X');
    return strlen(address) - (prefixed ? 2 : 0) == 8;
}

static bool vsperf_read_place(struct vsperf_reading *r, struct vsperf_place *place, uint32_t *process)
{
    uint64_t pid, line;
    if (!vsperf_read_count(r, PROCESS_ID, &pid, NULL) || !vsperf_read_count(r, LINE_NUMBER, &line, NULL))
        return false;
    *process = vsperf_find_process(r->v, vsperf_field_text(r, PROCESS_NAME), pid <= UINT32_MAX ? (uint32_t)pid : 0);
    *place = (struct vsperf_place){
        .name = vsperf_field_text(r, FUNCTION_NAME),
        .module_name = vsperf_field_text(r, MODULE_NAME),
        .module_path = vsperf_field_text(r, MODULE_PATH),
        .file = vsperf_field_text(r, SOURCE_FILE),
        .line = line <= UINT32_MAX ? (uint32_t)line : 0,
    };
    if (r->v->module_count > MAX_OF_A_KIND || r->v->process_count > MAX_OF_A_KIND)
        return vsperf_wrong_here(r, "more modules or processes than can be imported");
    if (r->kind == VSPERF_MODULE && !place->module_name[0] && !place->module_path[0])
        return vsperf_wrong_here(r, "a row without a module name");
    if (r->kind != VSPERF_MODULE && !place->name[0])
        return vsperf_wrong_here(r, "a row without a function name");
    const char *address = vsperf_field_text(r, ADDRESS);
    if (address[0]) {
        char *end;
        errno = 0;
        place->address = strtoull(address, &end, 16);
        if (errno || *end || address[0] == '-')
            return vsperf_wrong_number(r, titles[ADDRESS], address, "is not an address");
        place->has_address = place->address != 0;
        *(vsperf_is_narrow(address) ? &r->v->narrow_addresses : &r->v->wide_addresses) = true;
    }
    return true;
}

static bool vsperf_check_inclusive(struct vsperf_reading *r, const struct times *t)
{
    if (t->elapsed_exclusive > t->elapsed_inclusive || t->application_exclusive > t->application_inclusive)
        return vsperf_wrong_here(r, "more exclusive than inclusive");
    return true;
}

/* Sums of several rows are not what the report states. */
static void vsperf_keep_stated(struct dwell_stated *into, const struct dwell_stated *stated, bool first)
{
    *into = first ? *stated : (struct dwell_stated){ 0 };
}

static bool vsperf_read_related(struct vsperf_reading *r, const struct times *t, const struct dwell_stated *stated,
                                const struct vsperf_place *place, uint32_t process)
{
    const char *type = vsperf_field_text(r, TYPE);
    if (!vsperf_is_row_type(type))
        return error_set(r->v->error, "%s:%lu: Type: '%.40s' is not Root, Caller or Callee", r->name, r->csv.record,
                         type);
    if (strcasecmp(type, "Root") == 0) {
        const uint32_t row = vsperf_find_row(r->v, process, place);
        times_add(&r->v->rows[row].root, t);
        vsperf_keep_stated(&r->v->rows[row].stated, stated, !r->v->rows[row].has_root);
        r->v->rows[row].has_root = true;
        r->root = row + 1;
        return vsperf_check_inclusive(r, t);
    }
    if (!r->root)
        return error_set(r->v->error, "%s:%lu: a %s row before any Root row", r->name, r->csv.record, type);
    const uint32_t root = r->root - 1, row = vsperf_find_row(r->v, r->v->rows[root].process, place);
    const bool is_caller = strcasecmp(type, "Caller") == 0;
    const uint32_t edge = is_caller ? vsperf_find_edge(r->v, row, root) : vsperf_find_edge(r->v, root, row);
    struct vsperf_edge *e = &r->v->edges[edge];
    times_add(is_caller ? &e->as_caller : &e->as_callee, t);
    vsperf_keep_stated(is_caller ? &e->caller_stated : &e->callee_stated, stated,
                       is_caller ? !e->has_caller : !e->has_callee);
    e->has_caller |= is_caller;
    e->has_callee |= !is_caller;
    return true;
}

/* Level 0 is the process. It is not a function and has no exclusive time. */
static bool vsperf_is_process(const struct vsperf_reading *r, uint64_t depth, const struct times *t)
{
    if (depth != 0 || t->calls != 0 || t->elapsed_exclusive != 0)
        return false;
    return !vsperf_field_text(r, MODULE_NAME)[0] ||
           strcmp(vsperf_field_text(r, FUNCTION_NAME), vsperf_field_text(r, PROCESS_NAME)) == 0 ||
           strcmp(vsperf_field_text(r, FUNCTION_NAME), vsperf_field_text(r, MODULE_NAME)) == 0;
}

static bool vsperf_read_path(struct vsperf_reading *r, const struct times *t, const struct vsperf_place *place,
                             uint32_t process)
{
    struct vsperf *v = r->v;
    uint64_t depth;
    if (!vsperf_field_text(r, LEVEL)[0])
        return vsperf_wrong_here(r, "a row without a level");
    if (!vsperf_read_count(r, LEVEL, &depth, NULL))
        return false;
    if (depth > (r->has_depth ? (uint64_t)r->depth + 1 : 0) && !(depth == 1 && !r->has_depth))
        return error_set(v->error, "%s:%lu: Level: %" PRIu64 " has no row of the level above before it", r->name,
                         r->csv.record, depth);
    r->depth = (uint32_t)depth;
    r->has_depth = true;
    GROW(v->paths, v->path_count, v->path_room);
    struct vsperf_path *path = &v->paths[v->path_count++];
    const bool of_process = vsperf_is_process(r, depth, t);
    *path = (struct vsperf_path){ (uint32_t)depth, of_process ? PROFILE_NONE : vsperf_find_row(v, process, place), *t };
    if (of_process) /* its times are those of what follows */
        path->times = (struct times){ .shortest = UINT64_MAX };
    return of_process || vsperf_check_inclusive(r, t);
}

static bool vsperf_read_fact(struct vsperf_reading *r)
{
    if (strcasecmp(vsperf_field_text(r, NAME), "Ticks per Second") != 0)
        return true;
    uint64_t resolution;
    const char *wrong = csv_count(vsperf_field_text(r, VALUE), &resolution);
    if (!wrong && (resolution < 1000 || resolution > 1000000000000))
        wrong = "is impossible: from 1000 to 10^12 are";
    if (wrong)
        return vsperf_wrong_number(r, vsperf_field_text(r, NAME), vsperf_field_text(r, VALUE), wrong);
    r->v->resolution = resolution;
    return true;
}

static bool vsperf_read_row(struct vsperf_reading *r)
{
    struct vsperf_place place;
    struct times t;
    struct dwell_stated stated;
    uint32_t process;
    if (r->kind == VSPERF_OTHER)
        return true;
    if (r->kind == VSPERF_HEADER)
        return vsperf_read_fact(r);
    if (r->v->row_count + r->v->edge_count + r->v->path_count + r->v->module_row_count >= MAX_ROWS)
        return vsperf_wrong_here(r, "more rows than can be imported");
    if (!vsperf_read_times(r, &t) || !vsperf_read_stated(r, &stated) || !vsperf_read_place(r, &place, &process))
        return false;
    if (r->kind == VSPERF_CALLER_CALLEE)
        return vsperf_read_related(r, &t, &stated, &place, process);
    if (r->kind == VSPERF_CALL_TREE)
        return vsperf_read_path(r, &t, &place, process);
    if (r->kind == VSPERF_MODULE) {
        struct vsperf *v = r->v;
        GROW(v->module_rows, v->module_row_count, v->module_row_room);
        v->module_rows[v->module_row_count++] =
            (struct vsperf_module_row){ process, vsperf_find_module(v, &place), t, stated };
        return vsperf_check_inclusive(r, &t);
    }
    const uint32_t row = vsperf_find_row(r->v, process, &place);
    times_add(&r->v->rows[row].summed, &t);
    vsperf_keep_stated(&r->v->rows[row].summed_stated, &stated, !r->v->rows[row].has_summed);
    r->v->rows[row].has_summed = true;
    return vsperf_check_inclusive(r, &t);
}

static bool vsperf_read_rows(struct vsperf_reading *r)
{
    bool is_row = false;
    if (!csv_next(&r->csv))
        return r->csv.error ? false : error_set(r->v->error, "%s: the file is empty", r->name);
    if (!vsperf_read_titles(r, &is_row) || (is_row && !vsperf_read_row(r)))
        return false;
    while (csv_next(&r->csv))
        if (!vsperf_read_row(r))
            return false;
    return !r->csv.error;
}

bool vsperf_read(struct vsperf *v, const char *name, const void *bytes, size_t length, enum vsperf_kind *kind)
{
    struct vsperf_reading r = { .v = v, .name = name };
    memset(r.at, 0xff, sizeof r.at);
    const bool opened = csv_open(&r.csv, bytes, length), done = opened && vsperf_read_rows(&r);
    if (r.csv.error)
        error_set(v->error, "%s:%lu: %s", name, r.csv.line, r.csv.error);
    *kind = r.kind;
    if (done && r.kind != VSPERF_OTHER) {
        free(v->file_of[r.kind]);
        v->file_of[r.kind] = need_copy(name, strlen(name));
    }
    csv_close(&r.csv);
    free(r.percent);
    return done;
}
