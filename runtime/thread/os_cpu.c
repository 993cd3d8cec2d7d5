/* The kernel keeps the number in the thread's rseq area, which glibc 2.35 and later register. */
#include "os_cpu.h"

#include <stddef.h>

#include "dwell/format.h"

extern const ptrdiff_t __rseq_offset __attribute__((weak, visibility("default")));
extern const unsigned __rseq_size __attribute__((weak, visibility("default")));

int32_t os_cpu_number(void)
{
    enum { CPU_ID = 4 }; /* offset of the member of struct rseq */
    if (!&__rseq_size || !__rseq_size)
        return -1;
    return *(const volatile int32_t *)((const char *)__builtin_thread_pointer() + __rseq_offset + CPU_ID);
}

void os_cpu_put(struct extensions *e)
{
    const int32_t number = os_cpu_number();
    if (number < 0 || number > UINT16_MAX)
        return;
    extensions_put(e, DWELL_EXT_CPU << DWELL_EXTENSION_LENGTH_BITS | 1);
    extensions_put(e, (uint16_t)number);
}
