#include "trace/away.h"

#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"

enum { FIRST_BUCKETS = 64 };

static uint32_t *away_bucket_of(const struct away *away, uint64_t function, uint64_t age)
{
    return &away->buckets[index_hash(function ^ age << 20, 0) & away->mask];
}

static void away_link_call(struct away *away, uint32_t index)
{
    struct away_call *call = &away->calls[index];
    uint32_t *bucket = away_bucket_of(away, call->call.function, call->age);
    call->next_plus_1 = *bucket;
    *bucket = index + 1;
}

/* Only when all entries are in buckets: the order within each stays. */
static void away_grow_buckets(struct away *away)
{
    const size_t count = away->mask ? (away->mask + 1) * 2 : FIRST_BUCKETS;
    free(away->buckets);
    away->buckets = need_memory(count, sizeof *away->buckets);
    away->mask = count - 1;
    for (uint32_t i = 0; i < away->count; i++)
        away_link_call(away, i);
}

void away_put(struct away *away, const struct timeline_call *call, uint64_t time, uint32_t thread)
{
    uint32_t index = away->free_plus_1 - 1;
    if (away->free_plus_1) {
        away->free_plus_1 = away->calls[index].next_plus_1;
    } else {
        if (away->count >= away->mask)
            away_grow_buckets(away);
        GROW(away->calls, away->count, away->room);
        index = (uint32_t)away->count++;
    }
    away->calls[index] = (struct away_call){ .call = *call, .age = time - call->enter_time, .thread = thread };
    away_link_call(away, index);
    away->used++;
}

bool away_take(struct away *away, const struct dwell_frame *frame, uint64_t time, struct timeline_call *call)
{
    const uint64_t age = time - frame->enter_time;
    if (!away->used)
        return false;
    for (uint32_t *at = away_bucket_of(away, frame->function, age); *at; at = &away->calls[*at - 1].next_plus_1) {
        const uint32_t index = *at - 1;
        struct away_call *found = &away->calls[index];
        if (found->call.function != frame->function || found->age != age)
            continue;
        *call = found->call;
        call->delay += frame->enter_time - call->enter_time;
        call->enter_time = frame->enter_time;
        *at = found->next_plus_1;
        found->call.function = 0;
        found->next_plus_1 = away->free_plus_1;
        away->free_plus_1 = index + 1;
        away->used--;
        return true;
    }
    return false;
}

const struct away_call *away_next(const struct away *away, size_t *at)
{
    while (*at < away->count) {
        const struct away_call *call = &away->calls[(*at)++];
        if (call->call.function)
            return call;
    }
    return NULL;
}

void away_free(struct away *away)
{
    free(away->calls);
    free(away->buckets);
}
