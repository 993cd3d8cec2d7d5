/* A thread's set of processors is changed for a moment, without the one that it is to leave. */
#include "processor.h"

#include <stdbool.h>

#include "clock.h"
#include "sys.h"

enum {
    MOST_PROCESSORS = 4096,
    SHORTEST_PAUSE = 1000000, /* nanoseconds; a move takes about 10,000 */
    LONGEST_PAUSE = 64000000,
};

uint32_t processor_here(void)
{
    uint32_t processor = 0;
    return SYS3(getcpu, &processor, 0, 0) == 0 ? processor + 1 : 0;
}

static void processor_move(uint32_t from)
{
    uint8_t all[MOST_PROCESSORS / 8], others[MOST_PROCESSORS / 8];
    const long bytes = SYS3(sched_getaffinity, 0, sizeof all, all);
    bool any = false;
    for (long i = 0; i < bytes; i++) {
        others[i] = (uint8_t)(all[i] & ~(i == from / 8 ? 1u << from % 8 : 0u));
        any |= others[i] != 0;
    }
    if (any && SYS3(sched_setaffinity, 0, bytes, others) == 0)
        SYS3(sched_setaffinity, 0, bytes, all);
}

void processor_leave(struct processor_moves *moves, uint32_t processor)
{
    if (!processor || processor_here() != processor)
        return;
    const uint64_t now = clock_monotonic();
    if (now < moves->next)
        return;
    const bool again = now - moves->next < LONGEST_PAUSE;
    moves->pause = !again ? SHORTEST_PAUSE : moves->pause < LONGEST_PAUSE ? 2 * moves->pause : LONGEST_PAUSE;
    moves->next = now + moves->pause;
    processor_move(processor - 1);
}
