/* Looks threads up by their serial numbers. */
#include "view/thread_rank.h"

int32_t thread_rank(const struct order *order, uint32_t process, uint32_t thread)
{
    const struct profile_thread *threads = order->profile->threads;
    size_t low = 0, high = order->profile->thread_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct profile_thread *t = &threads[order->threads[middle]];
        if (t->process == process && t->thread == thread)
            return (int32_t)middle;
        if (t->process < process || (t->process == process && t->thread < thread))
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}
