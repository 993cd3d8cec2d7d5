/* The runtime's own versions of libc's functions for memory, text and numbers. Each does what libc's does. This file is
 * compiled without the compiler's knowledge of these functions. */
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* So that the compiler does not make a loop into a call of the function that it is in. */
#ifndef __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif

extern char **environ;

/* ---- memory ---- */

/* Anywhere in memory. The compiler makes no vectors of them, as probes call these functions, too. */
typedef uint64_t __attribute__((may_alias, aligned(1))) own_word;

/* The copy may overlap what it is of if it begins before that. */
static void memory_move(char *t, const char *f, size_t size)
{
    for (; size >= sizeof(own_word); size -= sizeof(own_word), t += sizeof(own_word), f += sizeof(own_word))
        *(own_word *)t = *(const own_word *)f;
    for (; size > 0; size--)
        *t++ = *f++;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    memory_move(to, from, size);
    return to;
}

void *mempcpy(void *restrict to, const void *restrict from, size_t size)
{
    return (char *)memcpy(to, from, size) + size;
}

static void memory_move_last_first(char *to, const char *from, size_t size)
{
    for (; size >= sizeof(own_word); size -= sizeof(own_word))
        *(own_word *)(to + size - sizeof(own_word)) = *(const own_word *)(from + size - sizeof(own_word));
    while (size-- > 0)
        to[size] = from[size];
}

void *memmove(void *to, const void *from, size_t size)
{
    if ((uintptr_t)to <= (uintptr_t)from)
        memory_move(to, from, size);
    else
        memory_move_last_first(to, from, size);
    return to;
}

void *memset(void *at, int byte, size_t size)
{
    const uint64_t word = UINT64_MAX / UINT8_MAX * (unsigned char)byte;
    char *a = at;
    for (; size >= sizeof word; size -= sizeof word, a += sizeof word)
        *(own_word *)a = word;
    for (; size > 0; size--)
        *a++ = (char)byte;
    return at;
}

int memcmp(const void *one, const void *other, size_t size)
{
    const unsigned char *a = one, *b = other;
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i])
            return a[i] - b[i];
    return 0;
}

static const unsigned char *memory_find(const unsigned char *at, unsigned char byte, size_t size)
{
    for (; size; at++, size--)
        if (*at == byte)
            return at;
    return NULL;
}

/* By words between the first and the last bytes. An aligned word is within a page, so nothing is read that may not be
 * there: the size may be more than the memory has if the byte comes before its end. */
void *memchr(const void *at, int byte, size_t size)
{
    const uint64_t ones = UINT64_MAX / UINT8_MAX, tops = ones << 7, wanted = ones * (unsigned char)byte;
    const unsigned char *a = at;
    const size_t unaligned = -(uintptr_t)a % sizeof wanted, first = unaligned < size ? unaligned : size;
    const unsigned char *found = memory_find(a, (unsigned char)byte, first);
    if (found)
        return (void *)found;
    for (a += first, size -= first; size >= sizeof wanted; a += sizeof wanted, size -= sizeof wanted) {
        uint64_t word;
        __builtin_memcpy(&word, a, sizeof word);
        word ^= wanted;
        if ((word - ones) & ~word & tops)
            break;
    }
    return (void *)memory_find(a, (unsigned char)byte, size);
}

/* ---- text ---- */

size_t strnlen(const char *text, size_t size)
{
    size_t length = 0;
    while (length < size && text[length])
        length++;
    return length;
}

size_t strlen(const char *text)
{
    return strnlen(text, SIZE_MAX);
}

char *strchrnul(const char *text, int byte)
{
    while (*text && *text != (char)byte)
        text++;
    return (char *)text;
}

char *strchr(const char *text, int byte)
{
    char *at = strchrnul(text, byte);
    return *at == (char)byte ? at : NULL;
}

char *strrchr(const char *text, int byte)
{
    char *last = NULL;
    for (;; text++) {
        if (*text == (char)byte)
            last = (char *)text;
        if (!*text)
            return last;
    }
}

size_t strcspn(const char *text, const char *ends)
{
    size_t length = 0;
    while (text[length] && !strchr(ends, text[length]))
        length++;
    return length;
}

char *strstr(const char *text, const char *part)
{
    const size_t length = strlen(part);
    for (; strncmp(text, part, length) != 0; text++)
        if (!*text)
            return NULL;
    return (char *)text;
}

int strncmp(const char *one, const char *other, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (one[i] != other[i] || !one[i])
            return (unsigned char)one[i] - (unsigned char)other[i];
    return 0;
}

int strcmp(const char *one, const char *other)
{
    return strncmp(one, other, SIZE_MAX);
}

char *stpcpy(char *restrict to, const char *restrict from)
{
    while ((*to = *from++))
        to++;
    return to;
}

char *strcpy(char *restrict to, const char *restrict from)
{
    stpcpy(to, from);
    return to;
}

char *strncpy(char *restrict to, const char *restrict from, size_t size)
{
    const size_t length = strnlen(from, size);
    memcpy(to, from, length);
    memset(to + length, 0, size - length);
    return to;
}

/* ---- numbers ---- */

static int own_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'Z' ? c - 'A' + 10 : INT_MAX;
}

struct own_number {
    unsigned long long value; /* without its sign; the largest one if it does not fit into 64 bits */
    bool negative, fits;
};

/* The digits of a number. `base` is 10 or 16. */
static unsigned long long own_digits(const char **text, int base, bool *all_fit)
{
    unsigned long long number = 0;
    bool fits = true;
    for (; own_digit(**text) < base; ++*text) {
        const unsigned digit = (unsigned)own_digit(**text);
        fits = fits && number <= (ULLONG_MAX - digit) / (unsigned)base;
        number = number * (unsigned)base + digit;
    }
    *all_fit = fits;
    return fits ? number : ULLONG_MAX;
}

static struct own_number own_number(const char *text, char **end, int base)
{
    const char *at = text;
    struct own_number number;
    while (*at == ' ' || (*at >= '\t' && *at <= '\r'))
        at++;
    number.negative = *at == '-';
    at += *at == '-' || *at == '+';
    if (base == 16 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X') && own_digit(at[2]) < 16)
        at += 2;
    const char *digits = at;
    number.value = own_digits(&at, base, &number.fits);
    if (end)
        *end = (char *)(at == digits ? text : at);
    return number;
}

unsigned long long strtoull(const char *restrict text, char **restrict end, int base)
{
    const struct own_number number = own_number(text, end, base);
    return number.negative && number.fits ? -number.value : number.value;
}

unsigned long strtoul(const char *restrict text, char **restrict end, int base)
{
    return strtoull(text, end, base);
}

long strtol(const char *restrict text, char **restrict end, int base)
{
    const struct own_number number = own_number(text, end, base);
    if (number.value > LONG_MAX)
        return number.negative ? LONG_MIN : LONG_MAX;
    return number.negative ? -(long)number.value : (long)number.value;
}

/* ---- the environment ---- */

char *getenv(const char *name)
{
    const size_t length = strlen(name);
    for (char **at = environ; at && *at; at++)
        if (strncmp(*at, name, length) == 0 && (*at)[length] == '=')
            return *at + length + 1;
    return NULL;
}
