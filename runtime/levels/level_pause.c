/* The functions that have open calls while a program is paused. Only they need their probes. */
#include "levels/level_pause.h"

#include <string.h>

#include "call.h"
#include "process.h"
#include "process_lock.h"
#include "runtime.h"
#include "thread.h"

uint32_t level_pause;
uint8_t level_open[LEVEL_OPEN_PLACES] = { [0 ... LEVEL_OPEN_PLACES - 1] = 1 };
bool level_open_any = true;

void level_open_forget(void)
{
    memset(level_open, 1, sizeof level_open);
    level_open_any = true;
}

void level_open_begin(void)
{
    memset(level_open, 0, sizeof level_open);
    level_open_any = false;
}

/* The depth is read before the shadow stack, which only grows. */
static void level_open_add_calls(const struct thread *t, uint8_t *open)
{
    const uint64_t state = __atomic_load_n(&t->state, __ATOMIC_ACQUIRE);
    const char *const shadow = *(char *const volatile *)&t->shadow;
    const struct call *call = (const struct call *)shadow + 1, *end = (const struct call *)(shadow + (state >> 32));
    for (; call < end; call++)
        open[*(const volatile uint64_t *)&call->function / 16 % LEVEL_OPEN_PLACES] = 1;
}

bool level_open_find(bool anew)
{
    static uint8_t open[LEVEL_OPEN_PLACES]; /* under the levels' lock */
    bool fewer = anew;
    memset(open, 0, sizeof open);
    process_lock();
    for (const struct thread *t = runtime.process->threads.live; t; t = t->next)
        if (!t->stopped && t->shadow)
            level_open_add_calls(t, open);
    process_unlock();
    level_open_any = false;
    for (int i = 0; i < LEVEL_OPEN_PLACES; i++) {
        if (!level_open[i])
            continue;
        fewer |= !open[i];
        __atomic_store_n(&level_open[i], open[i], __ATOMIC_RELAXED);
        level_open_any |= open[i] != 0;
    }
    return fewer;
}
