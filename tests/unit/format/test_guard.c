/* The table of the session's pages, and memory in place of pages of a file that has ended. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "guard.h"

enum { UNIT = DWELL_UNIT, UNITS = 8 };

struct guarded {
    int fd;
    char *at;
};

static struct guarded guard_test_map(void)
{
    struct guarded g = { .fd = memfd_create("session", MFD_CLOEXEC) };
    cr_assert(eq(int, ftruncate(g.fd, UNITS * UNIT), 0));
    g.at = mmap(NULL, UNITS * UNIT, PROT_READ | PROT_WRITE, MAP_SHARED, g.fd, 0);
    memset(g.at, 7, UNITS * UNIT);
    cr_assert(guard_add(g.at, UNITS * UNIT, 0));
    return g;
}

Test(unit_guard, sizes_of_chunks)
{
    struct guarded g = guard_test_map();
    cr_assert(eq(u32, guard_size(g.at), UNITS * UNIT));
    cr_assert(eq(u32, guard_size(g.at + UNIT), 0));
    cr_assert(eq(u32, guard_size(g.at + 8), 0));
    guard_split(g.at + 3 * UNIT);
    cr_assert(eq(u32, guard_size(g.at), 3 * UNIT));
    cr_assert(eq(u32, guard_size(g.at + 3 * UNIT), 5 * UNIT));
    cr_assert(eq(u64, guard_offset(g.at + 3 * UNIT), 3 * UNIT));
    guard_remove(g.at, 3 * UNIT);
    cr_assert(eq(u32, guard_size(g.at), 0));
    cr_assert(eq(u32, guard_size(g.at + 3 * UNIT), 5 * UNIT));
    cr_assert(eq(u32, guard_size(NULL), 0));
    cr_assert(eq(u32, guard_size((void *)UINTPTR_MAX), 0));
}

Test(unit_guard, links_of_chunks)
{
    struct guarded g = guard_test_map();
    guard_split(g.at + UNIT);
    cr_assert(eq(ptr, guard_link(g.at), NULL));
    guard_set_link(g.at, g.at + UNIT);
    cr_assert(eq(ptr, guard_link(g.at), g.at + UNIT));
    cr_assert(eq(ptr, guard_link(g.at + UNIT), NULL));
    guard_remove(g.at, UNIT);
    cr_assert(eq(ptr, guard_link(g.at), NULL));
}

#if defined(__x86_64__) /* elsewhere calls are not counted in place */

/* Bytes of memory that no file holds. */
static long guard_test_memory(void)
{
    char text[4096] = "";
    const int fd = open("/proc/self/smaps_rollup", O_RDONLY);
    cr_assert(read(fd, text, sizeof text - 1) > 0);
    close(fd);
    const char *line = strstr(text, "\nAnonymous:");
    cr_assert(line != NULL);
    return atol(line + strlen("\nAnonymous:")) * 1024;
}

/* Each thread has such a page, where it counts calls in place. */
Test(unit_guard, pages_far_from_each_other_share_the_table)
{
    enum { PAGES = 64, STEP = 64 << 20 };
    char *const first = (char *)(UINT64_C(1) << 44);
    const long before = guard_test_memory();
    for (uint64_t i = 0; i < PAGES; i++)
        cr_assert(guard_add(first + i * STEP, UNIT, i * UNIT));
    const long took = guard_test_memory() - before;
    cr_assert(le(long, took, PAGES / 2 * UNIT));
    for (uint64_t i = 0; i < PAGES; i++) {
        cr_assert(eq(u64, guard_offset(first + i * STEP), i * UNIT));
        cr_assert(eq(u32, guard_size(first + i * STEP), UNIT));
        cr_assert(eq(u32, guard_size(first + i * STEP + UNIT), 0));
        guard_remove(first + i * STEP, UNIT);
        cr_assert(eq(u32, guard_size(first + i * STEP), 0));
    }
    cr_assert(le(long, guard_test_memory() - before, took));
}

#endif

Test(unit_guard, other_memory_is_left_alone)
{
    char own[UNIT];
    struct guarded g = guard_test_map();
    guard_remove(g.at + 2 * UNIT, UNIT);
    cr_assert(not(guard_replace(own)));
    cr_assert(not(guard_replace(NULL)));
    cr_assert(not(guard_replace((void *)UINTPTR_MAX)));
    cr_assert(not(guard_replace(g.at + 2 * UNIT)));
    cr_assert(eq(u32, guard_trouble(), 0));
}

/* As on a full disk: the page can be read. */
Test(unit_guard, a_page_keeps_its_contents)
{
    struct guarded g = guard_test_map();
    ((struct dwell_chunk_header *)g.at)->magic = DWELL_CHUNK_MAGIC;
    cr_assert(guard_replace(g.at + 2 * UNIT + 5));
    cr_assert(eq(u32, guard_trouble(), DWELL_TROUBLE_NO_SPACE));
    cr_assert(eq(u32, guard_first_lost(g.at, UNITS * UNIT), 2 * UNIT));
    cr_assert(eq(u32, guard_first_lost(g.at, UNIT), UNIT));
    cr_assert(eq(chr, g.at[2 * UNIT + 5], 7));
    g.at[2 * UNIT + 5] = 9;
    g.at[3 * UNIT] = 8;
    char stored;
    cr_assert(eq(int, (int)pread(g.fd, &stored, 1, 2 * UNIT + 5), 1));
    cr_assert(eq(chr, stored, 7));
    cr_assert(guard_save(g.at, UNITS * UNIT, g.fd));
    cr_assert(eq(int, (int)pread(g.fd, &stored, 1, 2 * UNIT + 5), 1));
    cr_assert(eq(chr, stored, 9));
    cr_assert(eq(int, (int)pread(g.fd, &stored, 1, 3 * UNIT), 1));
    cr_assert(eq(chr, stored, 8));
}

/* It reads as zeros then, and not as if the disk were full. */
Test(unit_guard, a_file_that_was_cut_and_grows_again)
{
    struct guarded g = guard_test_map();
    ((struct dwell_chunk_header *)g.at)->magic = DWELL_CHUNK_MAGIC;
    cr_assert(eq(int, ftruncate(g.fd, 0), 0));
    cr_assert(eq(int, ftruncate(g.fd, UNITS * UNIT), 0));
    cr_assert(guard_replace(g.at + 2 * UNIT + 5));
    cr_assert(eq(u32, guard_trouble(), DWELL_TROUBLE_TRUNCATED));
    cr_assert(eq(u32, guard_first_lost(g.at, UNITS * UNIT), 2 * UNIT));
}

/* The rest of the chunk becomes memory, and nothing else does. */
Test(unit_guard, a_file_that_has_ended)
{
    struct guarded g = guard_test_map();
    guard_split(g.at + 6 * UNIT);
    cr_assert(eq(int, ftruncate(g.fd, 3 * UNIT), 0));
    cr_assert(guard_replace(g.at + 4 * UNIT));
    cr_assert(eq(u32, guard_trouble(), DWELL_TROUBLE_TRUNCATED));
    cr_assert(eq(u32, guard_first_lost(g.at, UNITS * UNIT), 4 * UNIT));
    cr_assert(eq(chr, g.at[4 * UNIT], 0));
    g.at[4 * UNIT] = g.at[5 * UNIT] = 9;
    cr_assert(eq(u32, guard_first_lost(g.at + 6 * UNIT, 2 * UNIT), 2 * UNIT));
    cr_assert(not(guard_save(g.at, UNITS * UNIT, g.fd)));
    cr_assert(eq(int, (int)lseek(g.fd, 0, SEEK_END), 3 * UNIT));
}

Test(unit_guard, the_header)
{
    struct guarded g = guard_test_map();
    struct dwell_file_header *header = (struct dwell_file_header *)g.at, contents = { .ring_size = 5 };
    guard_remove(g.at, UNIT);
    memset(header, 0, sizeof *header);
    header->lost_events = 3;
    header->next_thread = 4;
    memcpy(header->magic, DWELL_FILE_MAGIC, sizeof header->magic);
    guard_header(header, &contents);
    cr_assert(guard_replace(&header->cursor));
    cr_assert(guard_header_is_lost());
    cr_assert(eq(u64, header->lost_events, 0)); /* counted anew */
    cr_assert(eq(u32, header->next_thread, 4));
    cr_assert(eq(int, memcmp(header->magic, DWELL_FILE_MAGIC, sizeof header->magic), 0));
}

Test(unit_guard, a_header_that_is_gone)
{
    struct guarded g = guard_test_map();
    struct dwell_file_header *header = (struct dwell_file_header *)g.at,
                             contents = { .magic = DWELL_FILE_MAGIC, .ring_size = 5 };
    guard_remove(g.at, UNIT);
    guard_header(header, &contents);
    cr_assert(eq(int, ftruncate(g.fd, 0), 0));
    cr_assert(guard_replace(&header->cursor));
    cr_assert(eq(u32, header->ring_size, 5));
    cr_assert(eq(chr, header->magic[0], 0));
}

/* A child does not inherit the mappings. */
Test(unit_guard, a_forked_child_has_an_empty_table)
{
    struct guarded g = guard_test_map();
    const pid_t child = fork();
    if (child == 0)
        _exit(guard_size(g.at) == 0 && !guard_replace(g.at) ? 0 : 1);
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        ;
    cr_assert(eq(int, status, 0));
    cr_assert(eq(u32, guard_size(g.at), UNITS * UNIT));
}
