/* Lists the columns of tables of values, by the table of all values. */
#include "view/value_columns.h"

void value_columns_mark_unknown(struct times *times, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (times[i].shortest > times[i].longest) {
            times[i].shortest = 1;
            times[i].longest = 0;
        }
    }
}

size_t value_columns_list(struct container_column *columns, const struct times *times, const uint32_t *order,
                          bool inclusive)
{
    size_t count = 0;
    for (enum value_id i = 0; i < VALUE_COUNT; i++) {
        const struct value *v = &value_table[i];
        for (unsigned form = v->forms == 2 && !inclusive ? EXCLUSIVE : 0; !v->part_count && form < v->forms; form++)
            columns[count++] = (struct container_column){ v->names[form], (const char *)times + v->offsets[form],
                                                          sizeof *times, CONTAINER_U64, order };
    }
    return count;
}
