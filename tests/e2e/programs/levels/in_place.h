/* Waits until calls of a function are counted in place. */
#ifndef DWELL_TESTS_IN_PLACE_H
#define DWELL_TESTS_IN_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Whether there is the instruction `incq %gs:0(%rdi)` in the function's first bytes. */
__attribute__((no_instrument_function)) static inline int is_in_place(void (*function)(void))
{
    static const unsigned char count[] = { 0x65, 0x48, 0xff, 0x47, 0 };
    return memmem((const void *)(uintptr_t)function, 64, count, sizeof count) != NULL;
}

/* Whether the machine can count in place, as far as the recording knows. */
__attribute__((no_instrument_function)) static inline bool can_be_in_place(void)
{
#if defined(__x86_64__)
    const char *told = getenv("TEST_FSGSBASE");
    return !(told && strcmp(told, "none") == 0);
#else
    return false;
#endif
}

/* Calls `meanwhile` again and again. Exits with status 3 if the machine can count in place and does not after a minute.
 */
__attribute__((no_instrument_function)) static inline void wait_for_place(void (*function)(void),
                                                                          void (*meanwhile)(void))
{
    for (int i = 0; !is_in_place(function); i++) {
        if (!can_be_in_place())
            return;
        if (i == 60000)
            exit(3);
        usleep(1000);
        meanwhile();
    }
}

#endif
