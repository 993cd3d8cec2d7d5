/* Puts together what several workers have found out about the calls of a function. */
#include <stdlib.h>

#include "base/index.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "causes/why_scan.h"
#include "profile/durations.h"

static void why_found_add(struct why_row *into, const struct why_row *from)
{
    for (int set = 0; set < WHY_SETS; set++) {
        into->sets[set].ticks += from->sets[set].ticks;
        into->sets[set].count += from->sets[set].count;
        into->sets[set].charge += from->sets[set].charge;
        into->sets[set].squares += from->sets[set].squares;
    }
}

static uint32_t why_found_row(struct why_found *f, struct number_index *rows, uint32_t node, const struct why_row *row)
{
    const uint64_t key = (uint64_t)node << 32 | row->wait;
    struct index_slot *slot = index_find(rows, key, row->kind);
    if (slot->value_plus_1)
        return slot->value_plus_1 - 1;
    index_set(rows, slot, key, row->kind, (uint32_t)f->row_count);
    GROW(f->rows, f->row_count, f->row_room);
    f->rows[f->row_count] = (struct why_row){ .node = node, .kind = row->kind, .wait = row->wait };
    return (uint32_t)f->row_count++;
}

void why_found_add_calls(struct why_found *into, const struct why_found *from, const uint32_t *rows)
{
    for (size_t i = 0; i < from->sampled_count; i++) {
        GROW(into->sampled, into->sampled_count, into->sampled_room);
        into->sampled[into->sampled_count] = from->sampled[i];
        into->sampled[into->sampled_count++].first += into->value_count;
    }
    for (size_t i = 0; i < from->value_count; i++) {
        GROW(into->values, into->value_count, into->value_room);
        into->values[into->value_count++] = (struct why_value){ rows[from->values[i].row], from->values[i].ticks };
    }
    for (size_t i = 0; i < from->first_count; i++) {
        GROW(into->firsts, into->first_count, into->first_room);
        into->firsts[into->first_count++] = from->firsts[i];
    }
    for (int set = 0; set < WHY_SETS; set++)
        into->calls[set] += from->calls[set];
    into->cut += from->cut;
}

void why_found_move(struct why_found *into, struct number_index *rows, struct why_found *from)
{
    uint32_t *nodes = profile_add_nodes(into->paths, from->paths);
    uint32_t *numbers = need_memory(from->row_count + 1, sizeof *numbers);
    for (size_t i = 0; i < from->row_count; i++) {
        const struct why_row *row = &from->rows[i];
        const uint32_t node = row->node == PROFILE_NONE ? PROFILE_NONE : nodes[row->node];
        numbers[i] = why_found_row(into, rows, node, row);
        why_found_add(&into->rows[numbers[i]], row);
    }
    for (size_t i = 0; i < from->stack_count; i++) {
        GROW(into->stacks, into->stack_count, into->stack_room);
        into->stacks[into->stack_count] = from->stacks[i];
        into->stacks[into->stack_count++].node = nodes[from->stacks[i].node];
    }
    why_found_add_calls(into, from, numbers);
    durations_merge(&into->faults, from->faults);
    free(numbers);
    free(nodes);
    why_found_drop(from);
}

static int why_found_compare(const void *a, const void *b)
{
    const struct why_sampled *x = a, *y = b;
    return ORDER_BY(x, y, thread, begin);
}

void why_found_sort(struct why_found *found)
{
    if (found->sampled_count)
        qsort(found->sampled, found->sampled_count, sizeof *found->sampled, why_found_compare);
}

void why_found_drop(struct why_found *found)
{
    if (found->paths)
        profile_free(found->paths);
    free(found->rows);
    free(found->sampled);
    free(found->values);
    free(found->stacks);
    free(found->firsts);
    free(found->faults);
}
