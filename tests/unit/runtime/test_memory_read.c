/* Memory of the program is read at addresses that may be wrong. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory_read.h"

TestSuite(unit_runtime_memory_read);

#if defined(__x86_64__)

uint64_t fault_installed; /* that of fault_signals.c */

static volatile sig_atomic_t memory_faults;

static void memory_on_fault(int number, siginfo_t *info, void *context)
{
    (void)info;
    memory_faults++;
    if (!memory_read_has_failed(context))
        signal(number, SIG_DFL);
}

/* Two pages, of which nobody may read the second one. */
static char *memory_begin(void)
{
    const struct sigaction action = { .sa_sigaction = memory_on_fault, .sa_flags = SA_SIGINFO };
    char *pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cr_assert(ne(ptr, pages, MAP_FAILED));
    cr_assert(eq(int, mprotect(pages + PAGE, PAGE, PROT_NONE), 0));
    cr_assert(eq(int, sigaction(SIGSEGV, &action, NULL), 0));
    cr_assert(eq(int, sigaction(SIGBUS, &action, NULL), 0));
    fault_installed = 1ull << (SIGSEGV - 1) | 1ull << (SIGBUS - 1);
    memory_faults = 0;
    return pages;
}

Test(unit_runtime_memory_read, texts_end_at_the_first_zero)
{
    char *pages = memory_begin();
    memset(pages, 'x', PAGE);
    for (uint64_t at = 0; at < 40; at++)
        for (uint64_t length = 0; length < 70; length++) {
            char into[64];
            pages[at + length] = 0;
            const struct memory_text text = memory_copy_text(into, (uint64_t)pages + at, 4);
            cr_assert(eq(u64, text.length, length < 64 ? length : 64));
            cr_assert(eq(u64, text.found, length < 64));
            cr_assert(eq(int, memcmp(into, pages + at, text.length), 0));
            pages[at + length] = 'x';
        }
    cr_expect(eq(u64, memory_copy_text((char[32]){ 0 }, (uint64_t)pages + PAGE - 32, 2).length, 32));
    cr_expect(eq(int, memory_faults, 0));
}

Test(unit_runtime_memory_read, what_cannot_be_read_is_zero)
{
    char *pages = memory_begin(), into[64];
    memset(pages, 'x', PAGE);
    const uint64_t end = (uint64_t)pages + PAGE;
    cr_expect(eq(u64, memory_load(end - 8).word, 0x7878787878787878));
    cr_expect(eq(u64, memory_load(end - 8).good, 1));
    cr_expect(eq(u64, memory_load(end).good, 0));
    cr_expect(eq(u64, memory_load(end - 1).good, 0));
    cr_expect(eq(u64, memory_load(0).good, 0));
    const struct memory_text text = memory_copy_text(into, end - 32, 3);
    cr_expect(eq(u64, text.length, 0));
    cr_expect(eq(u64, text.found, 0));
    cr_expect(eq(int, memory_faults, 4));
}

/* A page is known once it could be read, and until it has gone. */
Test(unit_runtime_memory_read, pages_are_known_while_they_are_there)
{
    const uint32_t pid = (uint32_t)getpid();
    char *pages = memory_begin(), into[16] = "";
    const uint64_t at = (uint64_t)pages;
    snprintf(pages, PAGE, "a text");
    cr_expect(not(memory_is_known(at)));
    cr_expect(not(memory_read(pid, at + PAGE, into, 1)));
    cr_expect(not(memory_is_known(at + PAGE)));
    cr_assert(memory_read(pid, at, into, 7));
    cr_expect(eq(str, into, "a text"));
    cr_expect(memory_is_known(at) && memory_is_known(at + PAGE - 1));
    for (uint32_t size = 1; size < 16; size++) {
        memset(into, 'y', sizeof into);
        cr_assert(memory_read(pid, at, into, size));
        cr_assert(eq(int, memcmp(into, pages, size), 0));
        cr_assert(eq(chr, into[size], 'y'));
    }
    cr_expect(eq(int, memory_faults, 0));
    cr_assert(eq(int, munmap(pages, PAGE), 0));
    cr_expect(not(memory_read(pid, at, into, 7)));
    cr_expect(eq(int, memory_faults, 1));
    cr_expect(not(memory_is_known(at)));
    memory_note(at + PAGE - 4, 8);
    cr_expect(memory_is_known(at) && memory_is_known(at + PAGE) && !memory_is_known(at + 2 * PAGE));
    fault_installed = 0;
    cr_expect(not(memory_is_known(at)));
}

#endif
