/*
 * A program with instrumented functions of its own under libc's names, as freestanding code, shells and allocators have
 * them. It prints how often it has called each. A call more would be the runtime's.
 */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LIST(F)                                                                                                        \
    F(memcpy)                                                                                                          \
    F(mempcpy)                                                                                                         \
    F(memmove)                                                                                                         \
    F(memset)                                                                                                          \
    F(memcmp)                                                                                                          \
    F(memchr)                                                                                                          \
    F(strlen)                                                                                                          \
    F(strnlen)                                                                                                         \
    F(strcspn)                                                                                                         \
    F(strchr)                                                                                                          \
    F(strchrnul)                                                                                                       \
    F(strrchr)                                                                                                         \
    F(strstr)                                                                                                          \
    F(strcmp)                                                                                                          \
    F(strncmp)                                                                                                         \
    F(strcpy)                                                                                                          \
    F(strncpy)                                                                                                         \
    F(stpcpy)                                                                                                          \
    F(strtol)                                                                                                          \
    F(strtoul)                                                                                                         \
    F(strtoull)                                                                                                        \
    F(getenv)                                                                                                          \
    F(clock_gettime)

enum {
#define F(name) COUNT_##name,
    LIST(F)
#undef F
        COUNTS
};
static unsigned long counts[COUNTS];
static const char *const names[] = {
#define F(name) #name,
    LIST(F)
#undef F
};

#define COUNT(name) __atomic_fetch_add(&counts[COUNT_##name], 1, __ATOMIC_RELAXED)

/* What they do is of no matter here, but libc and the loader may call some of them. So they do what they have to. */
void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    COUNT(memcpy);
    for (size_t i = 0; i < size; i++)
        ((volatile char *)to)[i] = ((const volatile char *)from)[i];
    return to;
}

void *mempcpy(void *restrict to, const void *restrict from, size_t size)
{
    COUNT(mempcpy);
    for (size_t i = 0; i < size; i++)
        ((volatile char *)to)[i] = ((const volatile char *)from)[i];
    return (char *)to + size;
}

void *memmove(void *to, const void *from, size_t size)
{
    COUNT(memmove);
    for (size_t i = 0; i < size; i++) {
        const size_t at = to < from ? i : size - 1 - i;
        ((volatile char *)to)[at] = ((const volatile char *)from)[at];
    }
    return to;
}

void *memset(void *at, int byte, size_t size)
{
    COUNT(memset);
    for (size_t i = 0; i < size; i++)
        ((volatile char *)at)[i] = (char)byte;
    return at;
}

static int compare(const volatile char *one, const volatile char *other, size_t size, int text);
__attribute__((no_instrument_function)) static int compare(const volatile char *one, const volatile char *other,
                                                           size_t size, int text)
{
    for (size_t i = 0; i < size; i++)
        if (one[i] != other[i] || (text && !one[i]))
            return (unsigned char)one[i] - (unsigned char)other[i];
    return 0;
}

__attribute__((no_instrument_function)) static size_t find(const volatile char *text, size_t size, char byte)
{
    size_t at = 0;
    while (at < size && text[at] && text[at] != byte)
        at++;
    return at;
}

int memcmp(const void *one, const void *other, size_t size)
{
    COUNT(memcmp);
    return compare(one, other, size, 0);
}

void *memchr(const void *at, int byte, size_t size)
{
    COUNT(memchr);
    const char *text = at;
    for (size_t i = 0; i < size; i++)
        if (text[i] == (char)byte)
            return (void *)(text + i);
    return NULL;
}

size_t strlen(const char *text)
{
    COUNT(strlen);
    return find(text, SIZE_MAX, '\0');
}

size_t strnlen(const char *text, size_t size)
{
    COUNT(strnlen);
    return find(text, size, '\0');
}

size_t strcspn(const char *text, const char *ends)
{
    COUNT(strcspn);
    return find(text, SIZE_MAX, *ends);
}

char *strchr(const char *text, int byte)
{
    COUNT(strchr);
    const size_t at = find(text, SIZE_MAX, (char)byte);
    return text[at] == (char)byte ? (char *)text + at : NULL;
}

char *strchrnul(const char *text, int byte)
{
    COUNT(strchrnul);
    return (char *)text + find(text, SIZE_MAX, (char)byte);
}

char *strrchr(const char *text, int byte)
{
    COUNT(strrchr);
    char *last = NULL;
    for (const volatile char *at = text; *at; at++)
        if (*at == (char)byte)
            last = (char *)at;
    return last;
}

char *strstr(const char *text, const char *part)
{
    COUNT(strstr);
    return *text == *part ? (char *)text : NULL;
}

int strcmp(const char *one, const char *other)
{
    COUNT(strcmp);
    return compare(one, other, SIZE_MAX, 1);
}

int strncmp(const char *one, const char *other, size_t size)
{
    COUNT(strncmp);
    return compare(one, other, size, 1);
}

char *strcpy(char *restrict to, const char *restrict from)
{
    COUNT(strcpy);
    for (size_t i = 0; (((volatile char *)to)[i] = ((const volatile char *)from)[i]); i++)
        continue;
    return to;
}

char *strncpy(char *restrict to, const char *restrict from, size_t size)
{
    COUNT(strncpy);
    for (size_t i = 0; i < size && (((volatile char *)to)[i] = ((const volatile char *)from)[i]); i++)
        continue;
    return to;
}

char *stpcpy(char *restrict to, const char *restrict from)
{
    COUNT(stpcpy);
    size_t i = 0;
    for (; (((volatile char *)to)[i] = ((const volatile char *)from)[i]); i++)
        continue;
    return to + i;
}

long strtol(const char *restrict text, char **restrict end, int base)
{
    (void)end, (void)base;
    COUNT(strtol);
    return *text - '0';
}

unsigned long strtoul(const char *restrict text, char **restrict end, int base)
{
    (void)end, (void)base;
    COUNT(strtoul);
    return (unsigned long)(*text - '0');
}

unsigned long long strtoull(const char *restrict text, char **restrict end, int base)
{
    (void)end, (void)base;
    COUNT(strtoull);
    return (unsigned long long)(*text - '0');
}

char *getenv(const char *name)
{
    (void)name;
    COUNT(getenv);
    return NULL;
}

int clock_gettime(clockid_t clock, struct timespec *at)
{
    COUNT(clock_gettime);
    return (int)syscall(SYS_clock_gettime, clock, at);
}

__attribute__((noinline)) static void leaf(void)
{
    __asm__ volatile("");
}

static void *use(void *unused)
{
    static const char text[] = "text";
    char other[16];
    struct timespec at;
    for (int i = 0; i < 200; i++) {
        memcpy(other, text, sizeof text);
        mempcpy(other, text, sizeof text);
        memmove(other, text, sizeof text);
        memset(other, 0, sizeof other);
        unsigned long sum =
            (unsigned long)memcmp(other, text, 4) + strlen(text) + strnlen(text, 2) + strcspn(text, "x");
        sum += (memchr(text, 'x', sizeof text) != NULL) + (strchr(text, 'x') != NULL) + (*strchrnul(text, 'y') == 0) +
               (strrchr(text, 't') != NULL);
        sum +=
            (strstr(text, "te") != NULL) + (unsigned long)strcmp(text, other) + (unsigned long)strncmp(text, other, 2);
        strcpy(other, text);
        strncpy(other, text, sizeof other);
        stpcpy(other, text);
        sum += (unsigned long)strtol("1", NULL, 10) + strtoul("1", NULL, 10) + (unsigned long)strtoull("1", NULL, 10);
        sum += getenv("HOME") != NULL;
        clock_gettime(CLOCK_MONOTONIC, &at);
        __asm__ volatile("" ::"r"(sum));
        leaf();
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, use, NULL);
    use(NULL);
    pthread_join(thread, NULL);
    unsigned long now[COUNTS]; /* as printf may call some of them */
    for (int i = 0; i < COUNTS; i++)
        now[i] = counts[i];
    for (int i = 0; i < COUNTS; i++)
        dprintf(STDOUT_FILENO, "calls %s %lu\n", names[i], now[i]);
    for (int i = 0; i < COUNTS; i++)
        if (counts[i] != now[i])
            dprintf(STDOUT_FILENO, "printf calls %s\n", names[i]);
    return 0;
}
