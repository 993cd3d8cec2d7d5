/* Makes the columns about how the times of a page's tables are known. */
#include "view/timing_columns.h"

#include "base/memory.h"

static const struct timing_interval_of {
    const char *name;
    enum value_id value;
    enum value_form form;
} timing_intervals[TIMING_INTERVALS] = {
    { "elapsed_inclusive_ci95", VALUE_ELAPSED, INCLUSIVE },
    { "elapsed_exclusive_ci95", VALUE_ELAPSED, EXCLUSIVE },
    { "application_inclusive_ci95", VALUE_APPLICATION, INCLUSIVE },
    { "application_exclusive_ci95", VALUE_APPLICATION, EXCLUSIVE },
    { "cpu_inclusive_ci95", VALUE_CPU, INCLUSIVE },
    { "cpu_exclusive_ci95", VALUE_CPU, EXCLUSIVE },
};

struct timing_row *timing_rows(const struct times *times, size_t count, bool functions)
{
    struct timing_row *rows = need_memory(count + 1, sizeof *rows);
    for (size_t i = 0; i < count; i++) {
        const struct times *t = &times[i];
        rows[i] = (struct timing_row){
            .timing = times_are_counted(t)                ? 3
                      : times_are_sampled(t)              ? 2
                      : functions && times_are_partial(t) ? 1
                                                          : 0,
            .timed_calls = t->calls - t->counted,
            .samples = t->samples,
        };
        for (int j = 0; j < TIMING_INTERVALS; j++)
            rows[i].intervals[j] = times_error(t, timing_intervals[j].value, timing_intervals[j].form);
    }
    return rows;
}

size_t timing_columns_list(struct container_column *columns, const struct timing_row *rows, const uint32_t *order)
{
    const struct container_column fixed[] = {
        { "timing", &rows->timing, sizeof *rows, CONTAINER_U64, order },
        { "timed_calls", &rows->timed_calls, sizeof *rows, CONTAINER_U64, order },
        { "samples", &rows->samples, sizeof *rows, CONTAINER_U64, order },
    };
    size_t count = 0;
    for (; count < sizeof fixed / sizeof *fixed; count++)
        columns[count] = fixed[count];
    for (int i = 0; i < TIMING_INTERVALS; i++)
        columns[count++] = (struct container_column){ timing_intervals[i].name, &rows->intervals[i], sizeof *rows,
                                                      CONTAINER_U64, order };
    return count;
}
