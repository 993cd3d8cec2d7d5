/* Keeps the places of the runtime's code, sorted by process and address, and joined where they overlap. */
#include "trace/stub_list.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/numbers.h"
#include "base/sorted.h"

void stub_list_add(struct stub_list *s, const struct trace_stubs *added)
{
    GROW(s->list, s->count, s->room);
    s->list[s->count++] = *added;
}

static int stub_list_compare(const void *a, const void *b)
{
    const struct trace_stubs *x = a, *y = b;
    return ORDER_BY(x, y, process, begin, end);
}

/* Memory of a module that is gone can be used again. */
void stub_list_sort(struct stub_list *s)
{
    size_t kept = 0;
    if (s->count)
        qsort(s->list, s->count, sizeof *s->list, stub_list_compare);
    for (size_t i = 0; i < s->count; i++) {
        struct trace_stubs *last = kept ? &s->list[kept - 1] : NULL;
        if (last && last->process == s->list[i].process && s->list[i].begin <= last->end)
            last->end = larger(last->end, s->list[i].end);
        else
            s->list[kept++] = s->list[i];
    }
    s->count = kept;
}

bool stub_list_has(const struct stub_list *s, uint32_t process, uint64_t address)
{
    const struct trace_stubs wanted = { process, address, UINT64_MAX };
    const size_t place = LOWER_BOUND(stubs, s->list, s->count, stub_list_compare(stubs, &wanted) <= 0);
    const struct trace_stubs *last = place ? &s->list[place - 1] : NULL;
    return last && last->process == process && address < last->end;
}

void stub_list_drop(struct stub_list *s)
{
    free(s->list);
}
