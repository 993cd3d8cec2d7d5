/*
 * The runtime's own versions of libc's functions. The compiler reads this header before each file of the runtime.
 *
 * A recorded program may have functions of its own under these names, and they may be instrumented: freestanding code,
 * shells and allocators do that. If the runtime called them, a probe would call itself. So all calls of these names go
 * to hidden functions of other names, even those that the compiler makes. What the runtime does need of libc (libc.c)
 * it takes from libc itself. tests/e2e/test_own_libc.c checks that the library needs no other function.
 */
#ifndef DWELL_OWN_LIBC_H
#define DWELL_OWN_LIBC_H

/* No header is included, as some files choose features of libc's headers first. */
struct timespec;

#define OWN(name) __asm__("dwell_own_" #name) __attribute__((visibility("hidden")))

void *memcpy(void *restrict to, const void *restrict from, __SIZE_TYPE__ size) OWN(memcpy);
void *mempcpy(void *restrict to, const void *restrict from, __SIZE_TYPE__ size) OWN(mempcpy);
void *memmove(void *to, const void *from, __SIZE_TYPE__ size) OWN(memmove);
void *memset(void *at, int byte, __SIZE_TYPE__ size) OWN(memset);
int memcmp(const void *one, const void *other, __SIZE_TYPE__ size) OWN(memcmp);
void *memchr(const void *at, int byte, __SIZE_TYPE__ size) OWN(memchr);
__SIZE_TYPE__ strlen(const char *text) OWN(strlen);
__SIZE_TYPE__ strnlen(const char *text, __SIZE_TYPE__ size) OWN(strnlen);
__SIZE_TYPE__ strcspn(const char *text, const char *ends) OWN(strcspn);
char *strchr(const char *text, int byte) OWN(strchr);
char *strchrnul(const char *text, int byte) OWN(strchrnul);
char *strrchr(const char *text, int byte) OWN(strrchr);
char *strstr(const char *text, const char *part) OWN(strstr);
int strcmp(const char *one, const char *other) OWN(strcmp);
int strncmp(const char *one, const char *other, __SIZE_TYPE__ size) OWN(strncmp);
char *strcpy(char *restrict to, const char *restrict from) OWN(strcpy);
char *strncpy(char *restrict to, const char *restrict from, __SIZE_TYPE__ size) OWN(strncpy);
char *stpcpy(char *restrict to, const char *restrict from) OWN(stpcpy);
long strtol(const char *restrict text, char **restrict end, int base) OWN(strtol);
unsigned long strtoul(const char *restrict text, char **restrict end, int base) OWN(strtoul);
unsigned long long strtoull(const char *restrict text, char **restrict end, int base) OWN(strtoull);
char *getenv(const char *name) OWN(getenv);
int clock_gettime(int clock, struct timespec *time) OWN(clock_gettime);
int pthread_atfork(void (*before)(void), void (*parent)(void), void (*child)(void)) OWN(pthread_atfork);
int at_quick_exit(void (*function)(void)) OWN(at_quick_exit);

/* clang's own calls of these have libc's names, whatever the declarations say. */
#if defined(__clang__)
__asm__(".set memcpy, dwell_own_memcpy\n"
        ".set memmove, dwell_own_memmove\n"
        ".set memset, dwell_own_memset\n");
#endif

/* The functions of libc.c. The pragma needs no type. */
#include "libc_names.h"

#define LIBC_PRAGMA(text) _Pragma(#text)
#define LIBC_NAME(name) LIBC_PRAGMA(redefine_extname name dwell_libc_##name)
LIBC_FUNCTIONS(LIBC_NAME)

#endif
