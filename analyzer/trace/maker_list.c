/* Keeps where objects were made, sorted by object and time. */
#include "trace/maker_list.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"

void maker_list_add(struct maker_list *m, const struct trace_maker *added)
{
    GROW(m->list, m->count, m->room);
    m->list[m->count++] = *added;
}

static int maker_list_compare_objects(const struct trace_maker *x, const struct trace_maker *y)
{
    return ORDER_BY(x, y, process, kind, id);
}

static int maker_list_compare(const void *a, const void *b)
{
    const struct trace_maker *x = a, *y = b;
    const int order = maker_list_compare_objects(x, y);
    if (order || x->time != y->time)
        return order ? order : x->time < y->time ? -1 : 1;
    return ORDER_BY(x, y, function);
}

/* Two threads may record the same one. */
void maker_list_sort(struct maker_list *m)
{
    size_t kept = 0;
    if (m->count)
        qsort(m->list, m->count, sizeof *m->list, maker_list_compare);
    for (size_t i = 0; i < m->count; i++)
        if (!kept || maker_list_compare(&m->list[kept - 1], &m->list[i]) != 0)
            m->list[kept++] = m->list[i];
    m->count = kept;
}

const struct trace_maker *maker_list_find(const struct maker_list *m, uint32_t process, uint32_t kind, uint64_t id,
                                          uint64_t time)
{
    const struct trace_maker wanted = { process, kind, id, time, UINT64_MAX };
    /* the first one that is later */
    const size_t place = LOWER_BOUND(maker, m->list, m->count, maker_list_compare(maker, &wanted) <= 0);
    const struct trace_maker *last = place ? &m->list[place - 1] : NULL;
    return last && last->function && maker_list_compare_objects(last, &wanted) == 0 ? last : NULL;
}

void maker_list_drop(struct maker_list *m)
{
    free(m->list);
}
