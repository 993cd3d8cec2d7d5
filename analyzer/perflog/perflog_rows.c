/* Makes rows of markers: sums up markers of one name and converts ticks to nanoseconds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "perflog/perflog_views.h"

/* The sum of a row's parts, which may have different resolutions. */
struct perflog_sum {
    struct histogram ns; /* used if there are several parts */
    uint128 total;       /* ns */
    double squares;      /* sum of squared distances from the mean, in ns * ns */
    double mean;
    uint64_t count;
};

static uint64_t perflog_saturate(uint128 number)
{
    return number > UINT64_MAX ? UINT64_MAX : (uint64_t)number;
}

static uint64_t perflog_saturate_double(double number)
{
    return number >= 0x1p64 ? UINT64_MAX : (uint64_t)number;
}

/* The resolution of durations whose unit is unknown: they stay in ticks. */
enum { TICKS_STAY = 1000000000 };

/* Like ticks_to_ns, for sums of more than 64 bits. */
static uint128 perflog_wide_ticks_to_ns(uint128 ticks, uint64_t resolution)
{
    return (ticks * 1000000000u + resolution / 2) / resolution;
}

static uint64_t perflog_ticks_to_ns(uint64_t ticks, uint64_t resolution)
{
    return perflog_saturate(perflog_wide_ticks_to_ns(ticks, resolution));
}

static uint64_t perflog_rounded_quotient(uint128 number, uint128 divisor)
{
    return perflog_saturate((number + divisor / 2) / divisor);
}

static void perflog_sum_part(struct perflog_sum *sum, const struct perflog_marker *marker, uint64_t resolution)
{
    const struct histogram *h = &marker->durations;
    if (h->count == 0)
        return;
    const double scale = 1e9 / (double)resolution, mean = histogram_mean(h) * scale;
    const double squares = histogram_deviation_squares(h) * scale * scale;
    const double count = (double)h->count, before = (double)sum->count, apart = mean - sum->mean;
    sum->squares += squares + apart * apart * count * before / (count + before);
    sum->mean += apart * count / (count + before);
    sum->total += perflog_wide_ticks_to_ns(h->sum, resolution);
    sum->count += h->count;
}

/* Adds a histogram in ticks step by step, converting each step to nanoseconds. */
static void perflog_sum_steps(struct perflog_sum *sum, const struct histogram *h, uint64_t resolution)
{
    for (size_t i = 0; i < h->step_count; i++)
        histogram_add(&sum->ns, perflog_ticks_to_ns(h->steps[i].value, resolution), h->steps[i].count);
}

static void perflog_fill_percentiles(struct perflog_row *row, const struct histogram *h, uint64_t resolution)
{
    row->median = perflog_ticks_to_ns(histogram_percentile(h, 50), resolution);
    row->p90 = perflog_ticks_to_ns(histogram_percentile(h, 90), resolution);
    row->p99 = perflog_ticks_to_ns(histogram_percentile(h, 99), resolution);
}

static uint64_t perflog_clamp(uint64_t number, uint64_t least, uint64_t greatest)
{
    return number < least ? least : number > greatest ? greatest : number;
}

struct perflog_part {
    const struct perflog_marker *marker;
    uint64_t resolution;
    bool in_ticks; /* the resolution is unknown */
    size_t order;
};

static void perflog_fill_sums(struct perflog_row *row, const struct perflog_part *parts, size_t count)
{
    struct perflog_sum sum = { 0 };
    const struct perflog_part *only = NULL;
    size_t with_durations = 0;
    for (size_t i = 0; i < count; i++) {
        const struct histogram *h = &parts[i].marker->durations;
        if (h->count == 0)
            continue;
        const uint64_t least = perflog_ticks_to_ns(h->least, parts[i].resolution),
                       greatest = perflog_ticks_to_ns(h->greatest, parts[i].resolution);
        row->least = with_durations == 0 || least < row->least ? least : row->least;
        row->greatest = greatest > row->greatest ? greatest : row->greatest;
        perflog_sum_part(&sum, parts[i].marker, parts[i].resolution);
        only = &parts[i];
        with_durations++;
    }
    if (with_durations == 0)
        return;
    row->count = sum.count;
    row->total = perflog_saturate(sum.total);
    row->deviation = perflog_saturate_double(round(sqrt(sum.squares / (double)sum.count)));
    if (with_durations == 1) {
        const struct histogram *h = &only->marker->durations;
        row->mean = perflog_rounded_quotient(h->sum * 1000000000u, (uint128)only->resolution * h->count);
        perflog_fill_percentiles(row, h, only->resolution);
        return;
    }
    for (size_t i = 0; i < count; i++)
        perflog_sum_steps(&sum, &parts[i].marker->durations, parts[i].resolution);
    row->mean = perflog_rounded_quotient(sum.total, sum.count);
    perflog_fill_percentiles(row, &sum.ns, 1000000000);
    row->median = perflog_clamp(row->median, row->least, row->greatest);
    row->p90 = perflog_clamp(row->p90, row->least, row->greatest);
    row->p99 = perflog_clamp(row->p99, row->least, row->greatest);
    histogram_drop(&sum.ns);
}

/* Parts of one row compare equal. Markers without a string are distinguished by their ids. Ticks of an unknown
 * resolution cannot be added to times. */
static int perflog_compare_part_names(const struct perflog_part *x, const struct perflog_part *y)
{
    int order = strcmp(x->marker->app, y->marker->app);
    if (order == 0)
        order = strcmp(x->marker->text, y->marker->text);
    if (order == 0 && !*x->marker->text)
        order = ORDER(x->marker->id, y->marker->id);
    return order ? order : x->in_ticks - y->in_ticks;
}

static int perflog_compare_parts(const void *a, const void *b)
{
    const struct perflog_part *x = a, *y = b;
    const int order = perflog_compare_part_names(x, y);
    return order ? order : ORDER(x->order, y->order);
}

static struct perflog_row perflog_make_row(const struct perflog_part *parts, size_t count)
{
    const struct perflog_marker *marker = parts[0].marker;
    struct perflog_row row = {
        .app = marker->app,
        .marker = marker->text,
        .id = marker->id,
        .file = marker->registered ? marker->file : NULL,
        .line = marker->line,
        .order = parts[0].order,
        .in_ticks = parts[0].in_ticks,
    };
    for (size_t i = 0; i < count; i++) {
        row.errors += parts[i].marker->errors;
        if (parts[i].marker->attribute_count) {
            row.attributes = parts[i].marker->attributes;
            row.attribute_count = parts[i].marker->attribute_count;
        }
    }
    perflog_fill_sums(&row, parts, count);
    return row;
}

struct perflog_row *perflog_rows(const struct perflog *log, bool instances, size_t *count)
{
    size_t marker_count, run_count, part_count = 0;
    const struct perflog_marker *markers = perflog_markers(log, &marker_count);
    const struct perflog_run *runs = perflog_runs(log, &run_count);
    struct perflog_part *parts = need_memory(marker_count, sizeof *parts);
    for (size_t i = 0; i < marker_count; i++) {
        const uint64_t resolution = runs[markers[i].run].resolution;
        if (markers[i].durations.count || markers[i].errors || !markers[i].monitor)
            parts[part_count++] = (struct perflog_part){ &markers[i], resolution ? resolution : TICKS_STAY,
                                                         !resolution && markers[i].durations.count, i };
    }
    qsort(parts, part_count, sizeof *parts, perflog_compare_parts);
    struct perflog_row *rows = need_memory(part_count, sizeof *rows);
    *count = 0;
    for (size_t from = 0, to; from < part_count; from = to) {
        for (to = from + 1; to < part_count && !instances && perflog_compare_part_names(&parts[from], &parts[to]) == 0;)
            to++;
        rows[(*count)++] = perflog_make_row(&parts[from], to - from);
    }
    free(parts);
    return rows;
}

/* ---- the order ---- */

static const struct {
    const char *key;
    size_t offset;
} numbers[] = {
    { "total", offsetof(struct perflog_row, total) },      { "count", offsetof(struct perflog_row, count) },
    { "min", offsetof(struct perflog_row, least) },        { "mean", offsetof(struct perflog_row, mean) },
    { "max", offsetof(struct perflog_row, greatest) },     { "median", offsetof(struct perflog_row, median) },
    { "p90", offsetof(struct perflog_row, p90) },          { "p99", offsetof(struct perflog_row, p99) },
    { "stddev", offsetof(struct perflog_row, deviation) }, { "errors", offsetof(struct perflog_row, errors) },
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

const char perflog_sort_keys[] = "total, count, min, mean, max, median, p90, p99, stddev, errors, name, order";

bool perflog_can_sort(const char *key)
{
    for (size_t i = 0; i < NUMBERS; i++)
        if (strcmp(numbers[i].key, key) == 0)
            return true;
    return strcmp(key, "name") == 0 || strcmp(key, "order") == 0;
}

struct perflog_order {
    const char *key;
    size_t offset;
};

static uint64_t perflog_row_number(const struct perflog_row *row, size_t offset)
{
    uint64_t number;
    memcpy(&number, (const char *)row + offset, sizeof number);
    return number;
}

static int perflog_compare_rows(const void *a, const void *b, void *data)
{
    const struct perflog_row *x = a, *y = b;
    const struct perflog_order *by = data;
    const bool by_name = strcmp(by->key, "name") == 0, by_order = strcmp(by->key, "order") == 0;
    if (!by_name && !by_order && x->in_ticks != y->in_ticks)
        return x->in_ticks - y->in_ticks;
    if (!by_name && !by_order) {
        const uint64_t of_x = perflog_row_number(x, by->offset), of_y = perflog_row_number(y, by->offset);
        if (of_x != of_y)
            return of_x < of_y ? 1 : -1;
    }
    int order = 0;
    if (!by_order)
        order = strcmp(x->marker, y->marker);
    if (order == 0 && !by_order)
        order = strcmp(x->app, y->app);
    return order ? order : ORDER(x->order, y->order);
}

void perflog_sort(struct perflog_row *rows, size_t count, const char *key)
{
    struct perflog_order by = { key, 0 };
    for (size_t i = 0; i < NUMBERS; i++)
        if (strcmp(numbers[i].key, key) == 0)
            by.offset = numbers[i].offset;
    qsort_r(rows, count, sizeof *rows, perflog_compare_rows, &by);
}
