/*
 * Allocations that end the program if they fail. This is the only failure that libraries do not return as an error. In
 * `dwell`, allocation.c does the same for the allocations of libraries. Linux grants memory before it is used,
 * so an allocation hardly ever fails. If one fails, there is no memory to report an error or to continue either. Input
 * cannot cause a large allocation: readers check counts against the size of the file.
 */
#ifndef DWELL_BASE_MEMORY_H
#define DWELL_BASE_MEMORY_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Prints "out of memory" and ends the program. If there is a keeper, it is called first, in the thread that has no
 * memory. It need not return. Without one it is NULL. Only one thread may set it. */
void out_of_memory(void) __attribute__((noreturn));
void memory_set_keeper(void (*keeper)(void));

/* The status that the program ends with then: that of C for failures, unless the program defines another one. Memory
 * can be wanted before main. */
extern int out_of_memory_status;

/* Lets arrays of 4 MB and more go back to the system as soon as they are freed. By default, the C library keeps up to
 * 32 MB of each size that was freed once. */
void memory_return_arrays(void);

/* Zeroed memory. The caller frees it. */
void *need_memory(size_t count, size_t size) __attribute__((returns_nonnull));

/* Like realloc. The new part is not initialised. */
void *need_more(void *memory, size_t count, size_t size);

/* A copy of `length` bytes, ended by a zero byte. text may be NULL if length is 0. The caller frees the copy. */
char *need_copy(const char *text, size_t length);

/* A text in the format of printf. The caller frees it. */
char *need_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *need_vtext(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));

/* A stream that writes to memory, like open_memstream. *text is valid after need_stream_end has closed the stream. The
 * caller frees *text. */
FILE *need_stream(char **text, size_t *length);
void need_stream_end(FILE *out);

/* The bytes as text of two hexadecimal digits each. The caller frees it. */
char *need_hex(const void *bytes, size_t length);

/* Makes room for one more element in an array that grows by doubling. Changes `array` and `room`. */
#define GROW(array, count, room)                                                                                       \
    do {                                                                                                               \
        if ((count) == (room)) {                                                                                       \
            (room) = (room) ? 2 * (room) : 16;                                                                         \
            (array) = need_more((array), (room), sizeof *(array));                                                     \
        }                                                                                                              \
    } while (0)

/* The same for `more` elements. */
#define GROW_BY(array, count, more, room)                                                                              \
    do {                                                                                                               \
        if ((count) + (more) > (room)) {                                                                               \
            (room) = 2 * ((count) + (more));                                                                           \
            (array) = need_more((array), (room), sizeof *(array));                                                     \
        }                                                                                                              \
    } while (0)

#endif
