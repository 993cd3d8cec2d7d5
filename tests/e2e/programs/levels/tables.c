/* tables: one thread changes levels of functions, and others look functions up, as probes do. Built with
 * ThreadSanitizer, which ends it with an error if they race. Prints the number of wrong states. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "level_table.h"
#include "sys.h"

enum { FUNCTIONS = 20000, ROUNDS = 5, READERS = 3 };

static uint32_t added; /* functions with another level than timed */
static bool done;

void *sys_memory(size_t size)
{
    return calloc(1, size);
}

static uint64_t function_of(uint32_t number)
{
    return 0x401000 + (uint64_t)number * 48;
}

static bool is_state(uint32_t state)
{
    return state == LEVEL_COUNTED || state == LEVEL_OUT || state == (LEVEL_COUNTED | LEVEL_LEAVING);
}

static void *read_levels(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument, mistakes = 0;
    while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
        const uint32_t known = __atomic_load_n(&added, __ATOMIC_ACQUIRE);
        random = random * 6364136223846793005u + 1442695040888963407u;
        const uint32_t number = (uint32_t)(random >> 33) % FUNCTIONS, state = levels_state(function_of(number));
        mistakes += !is_state(state) && (number < known || state != LEVEL_TIMED);
    }
    return (void *)(uintptr_t)mistakes;
}

static void change_levels(void)
{
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        struct level_slot *slot = level_table_need(function_of(i));
        __atomic_store_n(&slot->state, LEVEL_COUNTED | LEVEL_LEAVING, __ATOMIC_RELEASE);
        __atomic_store_n(&added, i + 1, __ATOMIC_RELEASE);
    }
    for (uint32_t i = 0; i < ROUNDS * FUNCTIONS; i++) {
        struct level_slot *slot = level_table_find(levels_table, function_of(i % FUNCTIONS));
        slot->wanted = i % 2 ? LEVEL_COUNTED : LEVEL_OUT;
        __atomic_store_n(&slot->state, slot->wanted, __ATOMIC_RELEASE);
    }
}

int main(void)
{
    pthread_t readers[READERS];
    uintptr_t mistakes = 0;
    for (uintptr_t i = 0; i < READERS; i++)
        pthread_create(&readers[i], NULL, read_levels, (void *)(i + 1)); // NOLINT(performance-no-int-to-ptr)
    change_levels();
    __atomic_store_n(&done, true, __ATOMIC_RELEASE);
    for (int i = 0; i < READERS; i++) {
        void *own;
        pthread_join(readers[i], &own);
        mistakes += (uintptr_t)own;
    }
    printf("mistakes %lu\n", (unsigned long)mistakes);
    return mistakes > 0;
}
