/* A hash table of the open calls on stacks that were set aside, by function and age. */
#include "trace/set_aside.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"

enum { FIRST_BUCKETS = 64 };

static uint32_t *set_aside_bucket_of(const struct set_aside *list, uint64_t function, uint64_t age)
{
    return &list->buckets[index_hash(function ^ age << 20, 0) & list->mask];
}

static void set_aside_link_call(struct set_aside *list, uint32_t index)
{
    struct set_aside_call *call = &list->calls[index];
    uint32_t *bucket = set_aside_bucket_of(list, call->call.function, call->age);
    call->next_plus_1 = *bucket;
    *bucket = index + 1;
}

/* All entries must be in buckets, so that the order within each bucket stays the same. */
static void set_aside_grow_buckets(struct set_aside *list)
{
    const size_t count = list->mask ? (list->mask + 1) * 2 : FIRST_BUCKETS;
    free(list->buckets);
    list->buckets = need_memory(count, sizeof *list->buckets);
    list->mask = count - 1;
    for (uint32_t i = 0; i < list->count; i++)
        set_aside_link_call(list, i);
}

void set_aside_add(struct set_aside *list, const struct timeline_call *call, uint64_t time, uint32_t thread)
{
    uint32_t index = list->free_plus_1 - 1;
    if (list->free_plus_1) {
        list->free_plus_1 = list->calls[index].next_plus_1;
    } else {
        if (list->count >= list->mask)
            set_aside_grow_buckets(list);
        GROW(list->calls, list->count, list->room);
        index = (uint32_t)list->count++;
    }
    list->calls[index] = (struct set_aside_call){ .call = *call, .age = time - call->enter_time, .thread = thread };
    set_aside_link_call(list, index);
    list->used++;
}

bool set_aside_remove(struct set_aside *list, const struct dwell_frame *frame, uint64_t time,
                      struct timeline_call *call)
{
    const uint64_t age = time - frame->enter_time;
    if (!list->used)
        return false;
    for (uint32_t *at = set_aside_bucket_of(list, frame->function, age); *at; at = &list->calls[*at - 1].next_plus_1) {
        const uint32_t index = *at - 1;
        struct set_aside_call *found = &list->calls[index];
        if (found->call.function != frame->function || found->age != age)
            continue;
        *call = found->call;
        call->delay += frame->enter_time - call->enter_time;
        call->enter_time = frame->enter_time;
        *at = found->next_plus_1;
        found->call.function = 0;
        found->next_plus_1 = list->free_plus_1;
        list->free_plus_1 = index + 1;
        list->used--;
        return true;
    }
    return false;
}

const struct set_aside_call *set_aside_next(const struct set_aside *list, size_t *at)
{
    while (*at < list->count) {
        const struct set_aside_call *call = &list->calls[(*at)++];
        if (call->call.function)
            return call;
    }
    return NULL;
}

void set_aside_free(struct set_aside *list)
{
    free(list->calls);
    free(list->buckets);
}
