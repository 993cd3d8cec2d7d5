/* The runtime's own versions of libc's functions give what libc's give. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

TestSuite(unit_runtime_own_libc);

#define OWN(name) __asm__("dwell_own_" #name)

void *own_memcpy(void *to, const void *from, size_t size) OWN(memcpy);
void *own_mempcpy(void *to, const void *from, size_t size) OWN(mempcpy);
void *own_memmove(void *to, const void *from, size_t size) OWN(memmove);
void *own_memset(void *at, int byte, size_t size) OWN(memset);
int own_memcmp(const void *one, const void *other, size_t size) OWN(memcmp);
size_t own_strlen(const char *text) OWN(strlen);
void *own_memchr(const void *at, int byte, size_t size) OWN(memchr);
size_t own_strnlen(const char *text, size_t size) OWN(strnlen);
size_t own_strcspn(const char *text, const char *ends) OWN(strcspn);
char *own_strchr(const char *text, int byte) OWN(strchr);
char *own_strchrnul(const char *text, int byte) OWN(strchrnul);
char *own_strrchr(const char *text, int byte) OWN(strrchr);
char *own_strstr(const char *text, const char *part) OWN(strstr);
int own_strcmp(const char *one, const char *other) OWN(strcmp);
int own_strncmp(const char *one, const char *other, size_t size) OWN(strncmp);
char *own_strcpy(char *to, const char *from) OWN(strcpy);
char *own_strncpy(char *to, const char *from, size_t size) OWN(strncpy);
char *own_stpcpy(char *to, const char *from) OWN(stpcpy);
long own_strtol(const char *text, char **end, int base) OWN(strtol);
unsigned long long own_strtoull(const char *text, char **end, int base) OWN(strtoull);
char *own_getenv(const char *name) OWN(getenv);

static const char *const texts[] = { "",     "a",        "ab",        "abc", "abcab", "b",  "xyz:12 ",
                                     "\xff", "\xff\x01", "aaaaaaaab", "=",   "ab=",   "bc", ":" };
enum { TEXTS = sizeof texts / sizeof *texts, SIZE = 300 };

static int own_sign(int number)
{
    return (number > 0) - (number < 0);
}

Test(unit_runtime_own_libc, memory)
{
    char own[SIZE], usual[SIZE], from[SIZE];
    for (int i = 0; i < SIZE; i++)
        from[i] = (char)(i * 7);
    for (size_t size = 0; size < SIZE - 3; size++) {
        memset(usual, 1, SIZE);
        cr_assert(eq(ptr, own_memset(own, 1, SIZE), own));
        memcpy(usual + 3, from, size);
        cr_assert(eq(ptr, own_memcpy(own + 3, from, size), own + 3));
        cr_assert(eq(int, memcmp(own, usual, SIZE), 0));
        cr_assert(eq(ptr, own_mempcpy(own, from, size), own + size));
        memcpy(usual, from, size);
        memmove(usual + 2, usual, size);
        cr_assert(eq(ptr, own_memmove(own + 2, own, size), own + 2));
        memmove(usual, usual + 3, size);
        own_memmove(own, own + 3, size);
        cr_assert(eq(int, memcmp(own, usual, SIZE), 0));
        cr_assert(eq(int, own_memcmp(own, usual, SIZE), 0));
        usual[size] = (char)(own[size] + 1);
        cr_assert(eq(int, own_sign(own_memcmp(own, usual, SIZE)), own_sign(memcmp(own, usual, SIZE))));
    }
}

Test(unit_runtime_own_libc, one_text)
{
    for (int i = 0; i < TEXTS; i++) {
        const char *text = texts[i];
        cr_assert(eq(sz, own_strlen(text), strlen(text)));
        for (size_t size = 0; size < 6; size++)
            cr_assert(eq(sz, own_strnlen(text, size), strnlen(text, size)));
        static const char bytes[] = "abz:=\xff";
        for (const char *byte = bytes; byte < bytes + sizeof bytes; byte++) {
            for (size_t size = 0; size <= strlen(text) + 1; size++)
                cr_assert(eq(ptr, own_memchr(text, *byte, size), memchr(text, *byte, size)));
            cr_assert(eq(ptr, own_strchr(text, *byte), strchr(text, *byte)));
            cr_assert(eq(ptr, own_strchrnul(text, *byte), strchrnul(text, *byte)));
            cr_assert(eq(ptr, own_strrchr(text, *byte), strrchr(text, *byte)));
        }
    }
}

/* At all places in words, also if a byte of the other half of the word differs by one bit. */
Test(unit_runtime_own_libc, bytes_in_words)
{
    _Alignas(8) char bytes[40];
    static const char wanted[] = { 0, 1, 'a', '\x7f', '\x80', '\xff' };
    for (size_t w = 0; w < sizeof wanted; w++)
        for (size_t begin = 0; begin < 9; begin++)
            for (size_t at = begin; at < sizeof bytes; at++) {
                memset(bytes, wanted[w] ^ 1, sizeof bytes);
                bytes[at] = wanted[w];
                for (size_t size = 0; begin + size <= sizeof bytes; size++)
                    cr_assert(
                        eq(ptr, own_memchr(bytes + begin, wanted[w], size), begin + size > at ? bytes + at : NULL));
            }
}

/* The size may be more than there is if the byte comes before. */
Test(unit_runtime_own_libc, bytes_at_the_end_of_a_page)
{
    char *pages = mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(ne(ptr, pages, MAP_FAILED));
    cr_assert(eq(int, mprotect(pages + 4096, 4096, PROT_NONE), 0));
    char *const last = pages + 4096 - 1;
    *last = 'x';
    for (size_t before = 0; before < 20; before++)
        cr_assert(eq(ptr, own_memchr(last - before, 'x', SIZE_MAX), last));
}

Test(unit_runtime_own_libc, two_texts)
{
    for (int i = 0; i < TEXTS * TEXTS; i++) {
        const char *one = texts[i / TEXTS], *other = texts[i % TEXTS];
        cr_assert(eq(sz, own_strcspn(one, other), strcspn(one, other)));
        cr_assert(eq(ptr, own_strstr(one, other), strstr(one, other)));
        cr_assert(eq(int, own_sign(own_strcmp(one, other)), own_sign(strcmp(one, other))));
        for (size_t size = 0; size < 6; size++)
            cr_assert(eq(int, own_sign(own_strncmp(one, other, size)), own_sign(strncmp(one, other, size))));
    }
}

Test(unit_runtime_own_libc, copies)
{
    for (int i = 0; i < TEXTS; i++) {
        char own[16], usual[16];
        cr_assert(eq(ptr, own_strcpy(own, texts[i]), own));
        cr_assert(eq(str, own, (char *)texts[i]));
        cr_assert(eq(ptr, own_stpcpy(own, texts[i]), own + strlen(texts[i])));
        for (size_t size = 1; size < 16; size++) {
            memset(own, 'o', sizeof own);
            memset(usual, 'o', sizeof usual);
            own_strncpy(own, texts[i], size);
            memcpy(usual, texts[i], strnlen(texts[i], size));
            memset(usual + strnlen(texts[i], size), 0, size - strnlen(texts[i], size));
            cr_assert(eq(int, memcmp(own, usual, sizeof own), 0), "%s %zu", texts[i], size);
        }
    }
}

Test(unit_runtime_own_libc, numbers)
{
    static const char *const numbers[] = { "",
                                           "0",
                                           "7",
                                           " \t42x",
                                           "-13",
                                           "+5",
                                           "0x1f",
                                           "0x",
                                           "ffff",
                                           "FfG",
                                           "-",
                                           "18446744073709551615",
                                           "-18446744073709551615",
                                           "9223372036854775807",
                                           "9223372036854775808",
                                           "-9223372036854775808",
                                           "-9223372036854775809",
                                           "99999999999999999999999",
                                           "x1" };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        for (int base = 10; base <= 16; base += 6) {
            char *own_end, *end;
            cr_assert(eq(i64, own_strtol(numbers[i], &own_end, base), strtol(numbers[i], &end, base)), "%s",
                      numbers[i]);
            cr_assert(eq(ptr, own_end, end), "%s", numbers[i]);
            cr_assert(eq(u64, own_strtoull(numbers[i], &own_end, base), strtoull(numbers[i], &end, base)), "%s",
                      numbers[i]);
            cr_assert(eq(ptr, own_end, end), "%s", numbers[i]);
        }
}

Test(unit_runtime_own_libc, the_environment)
{
    setenv("OWN_LIBC", "value", 1);
    cr_assert(eq(str, own_getenv("OWN_LIBC"), "value"));
    cr_assert(eq(ptr, own_getenv("OWN_LIB"), NULL));
    cr_assert(eq(ptr, own_getenv("OWN_LIBC_"), NULL));
}
