/* The optimised program is hardened: its relocations are read-only, it is position-independent, and it checks its stack
 * and the lengths that it gives to libc. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_hardening, .timeout = 300);

Test(e2e_hardening, relocations_are_read_only)
{
    char *dynamic = run_well("readelf -d $DWELL"), *segments = run_well("readelf -lW $DWELL");
    cr_assert(has(dynamic, "BIND_NOW") || has(dynamic, "Flags: NOW"), "%s", dynamic);
    cr_assert(has(segments, "GNU_RELRO"), "%s", segments);
    free(dynamic);
    free(segments);
}

Test(e2e_hardening, position_independent_with_a_plain_stack)
{
    char *header = run_well("readelf -h $DWELL"), *stack = run_well("readelf -lW $DWELL | grep GNU_STACK");
    cr_assert(has(header, "DYN ("), "%s", header);
    cr_assert(has(stack, " RW ") && !has(stack, "RWE"), "%s", stack);
    free(header);
    free(stack);
}

Test(e2e_hardening, the_stack_and_lengths_are_checked)
{
    char *symbols = run_well("readelf --dyn-syms -W $DWELL");
    static const char *const checks[] = { "__stack_chk_fail", "__memcpy_chk", "__snprintf_chk" };
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++)
        cr_assert(has(symbols, checks[i]), "no %s", checks[i]);
    free(symbols);
}

/* In each part of the program, not only in its commands. */
Test(e2e_hardening, every_floor_is_checked)
{
    char *floors = run_well("cd $BUILD/analyzer && for floor in lib*.a; "
                            "do nm $floor 2>/dev/null | grep -q __stack_chk_fail || echo $floor; done");
    cr_assert(eq(str, floors, "libfeatures.a\n")); /* a table */
    free(floors);
}
