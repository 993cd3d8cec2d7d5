/* Keeps the descriptors that a session describes, sorted by their numbers. */
#include "trace/descriptor_list.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"

void descriptor_list_add(struct descriptor_list *d, const struct trace_descriptor *added)
{
    GROW(d->list, d->count, d->room);
    d->list[d->count++] = *added;
}

/* A known peer first. The rest of the order only has to be the same each time. */
static int descriptor_list_compare(const void *a, const void *b)
{
    const struct trace_descriptor *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    if (x->peer != y->peer)
        return x->peer > y->peer ? -1 : 1;
    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    return strcmp(x->name, y->name);
}

void descriptor_list_sort(struct descriptor_list *d)
{
    size_t kept = 0;
    if (d->count)
        qsort(d->list, d->count, sizeof *d->list, descriptor_list_compare);
    for (size_t i = 0; i < d->count; i++) {
        if (kept && d->list[kept - 1].id == d->list[i].id)
            free(d->list[i].name);
        else
            d->list[kept++] = d->list[i];
    }
    d->count = kept;
}

const struct trace_descriptor *descriptor_list_find(const struct descriptor_list *d, uint64_t id)
{
    const size_t place = LOWER_BOUND(descriptor, d->list, d->count, descriptor->id < id);
    return place < d->count && d->list[place].id == id ? &d->list[place] : NULL;
}

void descriptor_list_drop(struct descriptor_list *d)
{
    for (size_t i = 0; i < d->count; i++)
        free(d->list[i].name);
    free(d->list);
}
