/* A child that a signal handler forked in the middle of a probe: what the probe may still write to is mapped. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <sys/mman.h>

#include "forked.h"
#include "sys.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_runtime_forked);

enum { PAGES = 8 };

/* A finished chunk lay where a part of the current one lies now. */
Test(unit_runtime_forked, chunks_that_overlap)
{
    struct thread *t = runtime_block();
    char *room = sys_memory(PAGES * PAGE);
    sys_unmap(room, PAGES * PAGE);
    t->wiped->alive = 0;
    t->chunks.last[2] = (struct area){ room + PAGE, 3 * PAGE };
    t->chunks.current = (struct dwell_chunk_header *)(room + 2 * PAGE);
    t->base = room + 2 * PAGE - 100;
    t->chunks.end = 4 * PAGE + 100;
    const uint64_t state = t->state;
    thread_forked();
    t->wiped->alive = 1;
    for (int page = 1; page < 6; page++)
        room[page * PAGE] = room[page * PAGE + PAGE - 1] = 1;
    unsigned char mapped[PAGES];
    cr_assert(ne(int, mincore(room, PAGE, mapped), 0));
    cr_assert(ne(int, mincore(room + 6 * PAGE, PAGE, mapped), 0));
    cr_assert(gt(u64, t->state, state));
    cr_assert(eq(ptr, t->chunks.last[2].at, NULL));
}
