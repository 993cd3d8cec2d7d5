/* runtime/levels/code_pages.c: the protection of pages, from the system and from a list as text. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "levels/code_pages.h"

enum { PAGE_BYTES = 4096 };

static void pages_check(struct code_pages *pages, uint64_t address, uint64_t begin, uint64_t end, int protection)
{
    const struct code_range range = code_pages_at(pages, address);
    cr_assert(eq(u64, range.begin, begin), "%lx", address);
    cr_assert(eq(u64, range.end, end), "%lx", address);
    cr_assert(eq(int, range.protection, protection), "%lx", address);
}

Test(unit_code_pages, of_this_process)
{
    struct code_pages pages;
    char *at = mmap(NULL, 4 * PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uint64_t begin = (uint64_t)at;
    mprotect(at + PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_EXEC);
    mprotect(at + 2 * PAGE_BYTES, PAGE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC);
    munmap(at + 3 * PAGE_BYTES, PAGE_BYTES);
    cr_assert(code_pages_begin(&pages));
    pages_check(&pages, begin + PAGE_BYTES, begin + PAGE_BYTES, begin + 2 * PAGE_BYTES, PROT_READ | PROT_EXEC);
    pages_check(&pages, begin + 2 * PAGE_BYTES + 7, begin + 2 * PAGE_BYTES, begin + 3 * PAGE_BYTES,
                PROT_READ | PROT_WRITE | PROT_EXEC);
    cr_assert(eq(int, code_pages_at(&pages, begin + 3 * PAGE_BYTES).protection, 0));
    code_pages_end(&pages);
}

/* As on systems without the query. */
Test(unit_code_pages, of_a_text)
{
    struct code_pages pages = { .fd = -1 };
    FILE *file = tmpfile();
    fputs("1000-3000 r-xp 00000000 08:01 5 /a/name of rwx-rwx 12-34\n"
          "3000-4000 rw-p 00000000 00:00 0 \n"
          "7fab00000000-7fab00001000 r--s 00000000 08:01 5 ",
          file);
    for (int i = 0; i < 3000; i++)
        fputc('x', file);
    fputs("\n7fab00001000-7fab00002000 --xp 00000000 00:00 0\n", file);
    fflush(file);
    pages.fd = fileno(file);
    pages_check(&pages, 0x1234, 0x1000, 0x3000, PROT_READ | PROT_EXEC);
    pages_check(&pages, 0x3fff, 0x3000, 0x4000, PROT_READ | PROT_WRITE);
    pages_check(&pages, 0x4000, 0x4000, 0x7fab00000000, 0);
    pages_check(&pages, 0x7fab00000000, 0x7fab00000000, 0x7fab00001000, PROT_READ);
    pages_check(&pages, 0x7fab00001fff, 0x7fab00001000, 0x7fab00002000, PROT_EXEC);
    pages_check(&pages, 0x7fab00002000, 0x7fab00002000, UINT64_MAX, 0);
    fclose(file);
}
