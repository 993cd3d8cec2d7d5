/* All registers arrive at a function of a library as its caller has set them, and all results come back. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_calls_arrive, .timeout = 300);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/calls_to/"

static void arrive_check(const char *compile, const char *options, const char *argument)
{
    free(run_well("gcc -O1 -DLIBRARY -shared -fPIC " SOURCES
                  "arrives.c -o libarrives.so && %s -mno-red-zone -finstrument-functions " SOURCES
                  "arrives.c -o arrives -L. -larrives -Wl,-rpath,$PWD",
                  compile));
    char *printed = run_well("$DWELL record -q --calls-to arrives %s ./arrives %s", options, argument);
    cr_assert(eq(str, printed, "1000 calls, 0 differ\n"), "%s %s", compile, options);
    free(printed);
    char *calls = run_well("$DWELL report --by function -n 0 --format json | jq '.rows[] | select(.function == "
                           "\"arrives\") | .calls'");
    cr_assert(eq(str, calls, "1000\n"), "%s %s", compile, options);
    free(calls);
}

Test(e2e_calls_arrive, in_all_registers)
{
    arrive_check("gcc -O2 -fomit-frame-pointer", "--overhead none", "");
    arrive_check("gcc -O2 -fomit-frame-pointer -Wl,-z,now", "--mode profile", "");
    arrive_check("gcc -O2 -fomit-frame-pointer -DBY_SLOT", "--overhead none", "");
    arrive_check("gcc -O2 -fomit-frame-pointer -DBY_SLOT", "--overhead none --call-sites", "");
    arrive_check("gcc -O2 -fomit-frame-pointer", "--overhead none --keep 'arrives>0ns'", "");
    arrive_check("clang -O2 -fomit-frame-pointer", "--overhead none", "");
    arrive_check("gcc -O2 -fomit-frame-pointer", "--overhead none --level counted=arrives", "counted");
}

/* Where the processor asks for landing pads (CET), each piece of code that a pointer or a slot leads to begins with
 * one. There are 4096 of each kind. */
Test(e2e_calls_arrive, at_landing_pads)
{
    char *found = run_well("for part in gates counters; do objdump -d --no-show-raw-insn --disassemble=call_stub_$part "
                           "$RUNTIME | grep -c 'endbr64'; done; objdump -d --no-show-raw-insn --disassemble=call_stubs "
                           "$RUNTIME | grep -c endbr64");
    cr_assert(eq(str, found, "4096\n4096\n4096\n"));
    free(found);
}
