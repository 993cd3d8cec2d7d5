/* Looks threads up by their serial numbers. */
#include "view/thread_rank.h"

#include "base/memory.h"
#include "base/sorted.h"

int32_t thread_rank(const struct order *order, uint32_t process, uint32_t thread)
{
    const struct profile_thread *threads = order->profile->threads;
    const size_t rank = LOWER_BOUND(number, order->threads, order->profile->thread_count,
                                    threads[*number].process < process ||
                                        (threads[*number].process == process && threads[*number].thread < thread));
    if (rank == order->profile->thread_count)
        return -1;
    const struct profile_thread *found = &threads[order->threads[rank]];
    return found->process == process && found->thread == thread ? (int32_t)rank : -1;
}

int32_t *thread_ranks_of_paths(const struct order *order, const struct profile *paths)
{
    int32_t *ranks = need_memory(paths->node_count + 1, sizeof *ranks);
    for (size_t i = 0; i < paths->thread_count; i++)
        ranks[paths->threads[i].root] = thread_rank(order, paths->threads[i].process, paths->threads[i].thread);
    for (size_t i = 0; i < paths->node_count; i++)
        if (paths->nodes[i].parent != PROFILE_NONE)
            ranks[i] = ranks[paths->nodes[i].parent];
    return ranks;
}
