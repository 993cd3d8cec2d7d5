/* Makes the columns about how the times of a page's tables are known. */
#include "view/timing_columns.h"

#include "base/memory.h"

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
        for (int j = 0; j < ESTIMATED_VALUES; j++)
            rows[i].intervals[j] = times_error(t, estimated_values[j].value, estimated_values[j].form);
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
    for (int i = 0; i < ESTIMATED_VALUES; i++)
        columns[count++] = (struct container_column){ estimated_values[i].name, &rows->intervals[i], sizeof *rows,
                                                      CONTAINER_U64, order };
    return count;
}
