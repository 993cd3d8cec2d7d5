/* Puts together what was found in several sessions. Their clocks differ, so ticks become nanoseconds. */
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/memory.h"
#include "causes/why.h"

/* The rows of a session add up to what its calls take, rounded once: each row ends where the next one begins. */
static void why_scale_set(struct why_row *rows, size_t count, int set, uint64_t rate)
{
    const double factor = 1e9 / (double)rate;
    uint64_t ticks = 0, begin = 0;
    for (size_t i = 0; i < count; i++) {
        struct why_sum *sum = &rows[i].sets[set];
        ticks += sum->ticks;
        const uint64_t end = ticks_to_ns(ticks, rate);
        sum->ticks = end - begin;
        sum->charge = ticks_to_ns(sum->charge, rate);
        sum->squares = (uint128)((double)sum->squares * factor * factor);
        begin = end;
    }
}

static void why_scale(struct why_found *found, uint64_t rate)
{
    for (int set = 0; set < WHY_SETS; set++)
        why_scale_set(found->rows, found->row_count, set, rate);
    for (size_t i = 0; i < found->value_count; i++)
        found->values[i].ticks *= 1e9 / (double)rate;
}

static void why_join_rows(struct why_found *into, const struct why_found *from)
{
    uint32_t *numbers = need_memory(from->row_count + 1, sizeof *numbers);
    for (size_t i = 0; i < from->row_count; i++) {
        GROW(into->rows, into->row_count, into->row_room);
        numbers[i] = (uint32_t)into->row_count;
        into->rows[into->row_count++] = from->rows[i];
    }
    for (size_t i = 0; i < from->stack_count; i++) {
        GROW(into->stacks, into->stack_count, into->stack_room);
        into->stacks[into->stack_count++] = from->stacks[i];
    }
    why_found_add_calls(into, from, numbers);
    free(numbers);
}

void why_join(struct why *why, const struct why_session *session, const struct why_plan *plan, struct why_found *found,
              const struct why_waits *waits)
{
    struct why_found *into = &why->scan;
    if (plan->rate)
        why_scale(found, plan->rate);
    why->parts[why->part_count++] = (struct why_part){
        .session = *session,
        .rate = plan->rate,
        .waits = *waits,
        .paths = found->paths,
        .first_row = into->row_count,
        .row_count = found->row_count,
        .first_sample = into->sampled_count,
        .sample_count = found->sampled_count,
        .first_stack = into->stack_count,
        .stack_count = found->stack_count,
    };
    why_join_rows(into, found);
    found->paths = NULL;
    why_found_drop(found);
}

static void why_join_wait(struct intern *known, struct why_wait *wait)
{
    const char *const texts[] = { wait->kind,     wait->name, wait->text,  wait->cause,
                                  wait->function, wait->path, wait->thread };
    char *key;
    size_t length;
    FILE *out = need_stream(&key, &length);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        fwrite(texts[i], 1, strlen(texts[i]) + 1, out);
    need_stream_end(out);
    wait->number = intern(known, key, length);
    free(key);
}

/* Calls `use` for each wait of all sessions. */
static void why_join_each(struct why *why, struct why_wait **firsts,
                          void (*use)(struct why_waits *waits, struct why_wait *first, struct why_wait *wait))
{
    for (size_t i = 0; i < why->part_count; i++)
        for (size_t j = 0; j < why->parts[i].waits.count; j++) {
            struct why_wait *wait = &why->parts[i].waits.list[j];
            if (!firsts[wait->number])
                firsts[wait->number] = wait;
            use(&why->parts[i].waits, firsts[wait->number], wait);
        }
}

static void why_join_first(struct why_waits *waits, struct why_wait *first, struct why_wait *wait)
{
    why_waits_join_threads(waits, first, wait);
}

static void why_join_title(struct why_waits *waits, struct why_wait *first, struct why_wait *wait)
{
    (void)waits;
    wait->title = first->title;
    wait->tid = first->tid;
}

void why_join_waits(struct why *why)
{
    struct intern known = { 0 };
    for (size_t i = 0; i < why->part_count; i++)
        for (size_t j = 0; j < why->parts[i].waits.count; j++)
            why_join_wait(&known, &why->parts[i].waits.list[j]);
    struct why_wait **firsts = need_memory(known.count + 1, sizeof *firsts);
    why_join_each(why, firsts, why_join_first);
    why_join_each(why, firsts, why_join_title);
    free(firsts);
    intern_drop(&known);
}
