/* Programs in unusual surroundings: started by the loader, without /proc, with another user's HOME, of 32 bits. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_surroundings, .timeout = 300, .init = without_os_calls);

/* fib 5 calls fib 15 times. Its names come from the right file. */
static void surroundings_check_fib(const char *command)
{
    struct report *r = report_of("");
    cr_expect(eq(u64, report_sum(r, "function", "fib", "calls"), 15), "%s", command);
    cr_expect(eq(u64, report_sum(r, "function", "main", "calls"), 1), "%s", command);
    cr_expect(eq(u64, report_session(r, "lost_events"), 0), "%s", command);
    report_drop(r);
}

#define LOADER "$(readelf -lW $SAMPLES/fib | sed -n 's/.*interpreter: \\(.*\\)]/\\1/p')"

Test(e2e_surroundings, programs_started_by_the_loader)
{
    static const char *const commands[] = {
        "$DWELL record " LOADER " $SAMPLES/fib 5",
        "$DWELL record " LOADER " --inhibit-cache --library-path /nowhere:/lib $SAMPLES/fib 5",
        "cp $SAMPLES/fib . && $DWELL record " LOADER " ./fib 5",
        "$DWELL record --only fib --only main " LOADER " $SAMPLES/fib 5",
        "L=" LOADER "; $DWELL record sh -c \"exec $L $SAMPLES/fib 5\"",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        struct ran r = run("%s", commands[i]);
        cr_expect(eq(int, r.status, 0), "%s: %s", commands[i], r.err);
        cr_expect(not(has(r.err, "changed since")), "%s: %s", commands[i], r.err);
        ran_drop(&r);
        surroundings_check_fib(commands[i]);
    }
}

Test(e2e_surroundings, a_loader_without_a_program_that_can_be_recorded)
{
    struct ran r = run("$DWELL record " LOADER);
    cr_expect(eq(int, r.status, 125));
    cr_expect(has(r.err, "is the loader of other programs: name the program to load\n"), "%s", r.err);
    ran_drop(&r);
}

Test(e2e_surroundings, without_proc)
{
    struct ran r = run("unshare -m umount -l /proc");
    const bool can = r.status == 0;
    ran_drop(&r);
    if (!can)
        cr_skip_test("no mount namespaces here");
    static const char *const commands[] = { "$DWELL record -q $SAMPLES/fib 5",
                                            "cd $SAMPLES && $DWELL record -q -o $T/dwell.data ./fib 5",
                                            "DWELL_OUTPUT=dwell.data LD_PRELOAD=$RUNTIME $SAMPLES/fib 5" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        free(run_well("rm -f dwell.data; T=$PWD unshare -m sh -c 'umount -l /proc; %s'", commands[i]));
        surroundings_check_fib(commands[i]);
    }
}

/* The shell's parent is the recorder, which holds the file. */
Test(e2e_surroundings, a_program_that_is_removed)
{
    free(run_well("cp $SAMPLES/sleeper own && $DWELL record -q sh -c './own 1 1 5000 & "
                  "until ls -l /proc/$PPID/fd | grep -q /own; do sleep 0.1; done; rm own; wait'"));
    struct report *r = report_of("");
    cr_expect(eq(u64, report_sum(r, "function", "doze", "calls"), 1));
    cr_expect(eq(u64, report_sum(r, "function", "churn", "calls"), 1));
    report_drop(r);
}

Test(e2e_surroundings, a_home_that_cannot_be_read)
{
    free(run_well("$DWELL record -q $SAMPLES/fib 5"));
    struct ran r = run("mkdir home && chmod 0 home && chmod 755 . && chmod 644 dwell.data; H=$PWD/home; "
                       "if [ $(id -u) = 0 ]; then AS='setpriv --reuid 65534 --regid 65534 --clear-groups'; fi; "
                       "env -u XDG_CONFIG_HOME HOME=$H $AS $DWELL report --by function --format csv --columns calls");
    cr_expect(eq(int, r.status, 0), "%s", r.err);
    cr_expect(has(r.err, "/home/.config/dwell/config: Permission denied, so its options are not used\n"), "%s", r.err);
    cr_expect(has(r.out, ",13,15"), "%s", r.out);
    ran_drop(&r);
}

#if defined(__x86_64__)
Test(e2e_surroundings, a_program_of_32_bits_gets_no_library)
{
    struct ran r = run("as --32 " DWELL_GOLDEN "/../e2e/programs/loading/environment32.s -o e.o && "
                       "ld -m elf_i386 e.o -o environment && PROOF=here ./environment");
    const bool can = r.status == 0 && has(r.out, "PROOF=here\n");
    ran_drop(&r);
    if (!can)
        cr_skip_test("no programs of 32 bits here");
    static const char *const commands[] = { "sh -c 'exec ./environment'", "env ./environment", "sh -c ./environment" };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *out = run_well("PROOF=here env -u LD_PRELOAD $DWELL record -q %s", commands[i]);
        cr_expect(has(out, "PROOF=here\n"), "%s", out);
        cr_expect(not(has(out, "LD_PRELOAD=")), "%s", out);
        free(out);
    }
}
#endif
