/* Writes the stubs that count a call. On x86-64 a stub loads the thread's directory of counter pages, then the page,
 * and adds one to the counter by a single instruction, so no signal handler comes in between. It writes only rax and
 * the flags. aarch64 needs no stubs, as all calls are checked there. */
#include "levels/count_stubs.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "common.h"
#include "levels/code_put.h"
#include "levels/counts.h"
#include "levels/rewrite.h"
#include "sys.h"

#if defined(__x86_64__)

enum { STUB_BYTES = 48, STUB_NONE = 0xcc /* fills what is no stub */ };

/* `slow_jump`: for calls whose thread has no page. The stubs of a mapping share its first bytes for that. */
static void stub_write(char *at, const char *slow_jump, uint32_t number)
{
    const uint64_t page = offsetof(struct counts_directory, pages[number / COUNTS_IN_PAGE]);
    const uint64_t count = offsetof(struct dwell_counts, counts[number % COUNTS_IN_PAGE].calls);
    at = CODE_PUT(at, "\x64\x48\x8b\x04\x25"); /* mov %fs:OFFSET, %rax */
    at = code_put_word(at, counts_self_offset());
    at = CODE_PUT(at, "\x48\x8b\x80"); /* mov PAGE(%rax), %rax */
    at = code_put_word(at, (int64_t)page);
    at = CODE_PUT(at, "\x48\x85\xc0\x0f\x84"); /* test %rax, %rax; jz SLOW */
    at = code_put_distance(at, (uint64_t)slow_jump);
    at = CODE_PUT(at, "\x48\xff\x80"); /* incq COUNT(%rax) */
    at = code_put_word(at, (int64_t)count);
    CODE_PUT(at, "\xc3"); /* ret */
}

void count_stubs_write_one(void *at, uint32_t number, void (*slow)(void *, void *))
{
    char *slow_jump = (char *)at + STUB_BYTES;
    memset(at, STUB_NONE, MACHINE_STUB_BYTES);
    stub_write(at, slow_jump, number);
    machine_write_stub(slow_jump, (uint64_t)slow);
}

void count_stubs_make(struct count_stubs *stubs, const struct hook_places *places, uint32_t first, uint32_t count,
                      void (*slow)(void *, void *))
{
    *stubs = (struct count_stubs){ .at = NULL };
    const uint64_t size = page_end((1 + count) * STUB_BYTES);
    char *at = rewriter_map_near(places, size);
    if (!at)
        return;
    memset(at, STUB_NONE, size);
    machine_write_stub(at, (uint64_t)slow);
    for (uint32_t i = 0; i < count; i++)
        stub_write(at + (1 + i) * STUB_BYTES, at, first + i);
    if (SYS3(mprotect, at, size, PROT_READ | PROT_EXEC) == 0)
        *stubs = (struct count_stubs){ at, size, first, count };
    else
        rewriter_unmap(at, size);
}

uint64_t count_stubs_find(const struct count_stubs *stubs, uint32_t number)
{
    if (!stubs->at || number - stubs->first >= stubs->count)
        return 0;
    return (uint64_t)stubs->at + (1 + number - stubs->first) * STUB_BYTES;
}

#else

void count_stubs_write_one(void *at, uint32_t number, void (*slow)(void *, void *))
{
    (void)at, (void)number, (void)slow;
}

void count_stubs_make(struct count_stubs *stubs, const struct hook_places *places, uint32_t first, uint32_t count,
                      void (*slow)(void *, void *))
{
    (void)places, (void)first, (void)count, (void)slow;
    *stubs = (struct count_stubs){ .at = NULL };
}

uint64_t count_stubs_find(const struct count_stubs *stubs, uint32_t number)
{
    (void)stubs, (void)number;
    return 0;
}

#endif

void count_stubs_drop(struct count_stubs *stubs)
{
    if (stubs->at)
        rewriter_unmap(stubs->at, stubs->size);
    stubs->at = NULL;
}
