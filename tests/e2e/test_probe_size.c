/*
 * Counts the instructions that the usual enter and exit execute, in the disassembly of the built library. It counts
 * them up to the claim, and up to the return. The path follows fall-through and unconditional jumps. The usual event
 * takes one conditional jump, over the check of a tail call, whose instructions are counted, too.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

TestSuite(e2e_probe_size, .timeout = 300);

struct instruction {
    unsigned long address;
    char text[64];
};

struct listing {
    struct instruction list[400];
    int count;
};

static bool probe_instruction_is(const struct instruction *instruction, const char *name)
{
    return strncmp(instruction->text, name, strlen(name)) == 0;
}

/* The part of the function that is not in its cold section. */
static void probe_disassemble(const char *function, struct listing *listing)
{
    char *out = run_well("objdump -d --no-show-raw-insn --disassemble=%s $RUNTIME | sed -n '/<%s>:$/,/^$/p'", function,
                         function);
    char *rest = out;
    listing->count = 0;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        struct instruction *next = &listing->list[listing->count];
        if (listing->count < 400 && sscanf(line, " %lx: %63[^\n]", &next->address, next->text) == 2)
            listing->count++;
    }
    free(out);
    cr_assert(gt(int, listing->count, 40), "%s", function);
}

static int probe_find_address(const struct listing *listing, unsigned long address)
{
    for (int i = 0; i < listing->count; i++)
        if (listing->list[i].address == address)
            return i;
    cr_fatal("a jump leaves the path");
}

struct path {
    int claim, end;
};

static struct path usual_path(const char *function)
{
    static struct listing listing;
    probe_disassemble(function, &listing);
    struct path path = { 0, 0 };
    for (int i = 0; i < listing.count; i++) {
        const struct instruction *here = &listing.list[i];
        path.end++;
        if (strstr(here->text, "cmpxchg"))
            path.claim = path.end;
        if (probe_instruction_is(here, "ret"))
            return path;
        if (probe_instruction_is(here, "jmp")) {
            cr_assert(lt(int, path.end, listing.count), "%s", function);
            i = probe_find_address(&listing, strtoul(here->text + strcspn(here->text, " \t") + 1, NULL, 16)) - 1;
        }
    }
    cr_fatal("%s: no return", function);
}

/* As GCC 12 compiled them before their steps were shared by all modes (commit 57b8713). */
enum { ENTER_CLAIM = 57, ENTER_END = 71, EXIT_CLAIM = 47, EXIT_END = 57 };

Test(e2e_probe_size, not_more_instructions_than_before)
{
    const struct path enter = usual_path("__cyg_profile_func_enter"), leave = usual_path("__cyg_profile_func_exit");
    cr_assert(gt(int, enter.claim, 20));
    cr_assert(le(int, enter.claim, ENTER_CLAIM));
    cr_assert(le(int, enter.end, ENTER_END));
    cr_assert(gt(int, leave.claim, 20));
    cr_assert(le(int, leave.claim, EXIT_CLAIM));
    cr_assert(le(int, leave.end, EXIT_END));
}

/* The usual exit of a watched function (record --keep): what finds its watch, an exit as above, and a comparison. */
enum { WATCHED_EXIT_END = 84 };

Test(e2e_probe_size, watched_exit)
{
    const struct path leave = usual_path("level_check_exit_at_place");
    cr_assert(gt(int, leave.claim, 20));
    cr_assert(le(int, leave.end, WATCHED_EXIT_END));
}
