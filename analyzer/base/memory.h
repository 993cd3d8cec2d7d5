/*
 * Memory that is there or ends the program: the analyzer has nothing sensible to do without it.
 */
#ifndef DWELL_BASE_MEMORY_H
#define DWELL_BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>

/* Zeroed. */
void *need_memory(size_t count, size_t size);

/* As realloc; the new part is not set. */
void *need_more(void *memory, size_t count, size_t size);

/* A copy of `length` bytes, ended by a zero byte. */
char *need_copy(const char *text, size_t length);

/* A text as printf makes it, to be freed by the caller. */
char *need_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *need_vtext(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* Two digits a byte, likewise. */
char *need_hex(const void *bytes, size_t length);

/* Makes room for one more in an array that grows by doubling; `array` and `room` are changed. */
#define GROW(array, count, room)                                                                                       \
    do {                                                                                                               \
        if ((count) == (room)) {                                                                                       \
            (room) = (room) ? 2 * (room) : 16;                                                                         \
            (array) = need_more((array), (room), sizeof *(array));                                                     \
        }                                                                                                              \
    } while (0)

#endif
