/* Allocations that end the program if they fail. */
#include "base/memory.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"

int out_of_memory_status __attribute__((weak)) = EXIT_FAILURE;

static void (*memory_keeper)(void);

void memory_set_keeper(void (*keeper)(void))
{
    __atomic_store_n(&memory_keeper, keeper, __ATOMIC_RELEASE);
}

/* Needs no memory, and no lock that a failed allocation may be under. */
void out_of_memory(void)
{
    static const char text[] = "dwell: out of memory\n";
    static bool again, said; /* what runs at exit needs memory, too, and so may other threads */
    const bool first = !__atomic_exchange_n(&again, true, __ATOMIC_RELAXED);
    void (*keeper)(void) = __atomic_load_n(&memory_keeper, __ATOMIC_ACQUIRE);
    progress_abandon();
    if (first) {
        (void)!write(STDERR_FILENO, text, sizeof text - 1);
        __atomic_store_n(&said, true, __ATOMIC_RELEASE);
    }
    while (!__atomic_load_n(&said, __ATOMIC_ACQUIRE)) /* another thread is about to */
        usleep(1000);
    if (keeper)
        keeper();
    if (!first)
        _exit(out_of_memory_status);
    exit(out_of_memory_status);
}

void memory_return_arrays(void)
{
    mallopt(M_MMAP_THRESHOLD, 4 << 20);
}

void *need_memory(size_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        out_of_memory();
    return memory;
}

void *need_more(void *memory, size_t count, size_t size)
{
    void *more = reallocarray(memory, count ? count : 1, size ? size : 1);
    if (!more)
        out_of_memory();
    return more;
}

char *need_copy(const char *text, size_t length)
{
    char *copy = need_memory(length + 1, 1);
    if (length)
        memcpy(copy, text, length);
    return copy;
}

char *need_vtext(const char *format, va_list arguments)
{
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0)
        out_of_memory();
    return text;
}

char *need_text(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = need_vtext(format, arguments);
    va_end(arguments);
    return text;
}

FILE *need_stream(char **text, size_t *length)
{
    FILE *out = open_memstream(text, length);
    if (!out)
        out_of_memory();
    return out;
}

void need_stream_end(FILE *out)
{
    if (fclose(out) != 0)
        out_of_memory();
}

char *need_hex(const void *bytes, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *from = bytes;
    char *text = need_memory(2 * length + 1, 1);
    for (size_t i = 0; i < length; i++) {
        text[2 * i] = digits[from[i] >> 4];
        text[2 * i + 1] = digits[from[i] & 15];
    }
    return text;
}
