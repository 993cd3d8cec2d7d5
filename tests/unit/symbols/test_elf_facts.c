/* Facts about files that are no usual binaries. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <sys/stat.h>

#include "support/scenario.h"
#include "symbols/elf_facts.h"

TestSuite(unit_elf_facts, .timeout = 120);

/* A recorded program may name any path as that of a module. */
Test(unit_elf_facts, a_fifo_does_not_block)
{
    uint8_t id[64];
    cr_assert(eq(int, mkfifo(test_path("libc.so.6"), 0600), 0));
    cr_assert(eq(sz, elf_build_id_of(test_path("libc.so.6"), id, sizeof id), 0));
}
