/* Programs with instrumented functions of their own under libc's names: the runtime calls none of them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_own_libc, .timeout = 300, .init = without_os_calls);

/* The counts are the program's own. A call by the runtime would be one more, or hang. */
static void own_libc_check(const char *before, const char *options, const char *program)
{
    char *out = run_well("%s timeout 300 $DWELL record -q %s $PROGRAMS/%s", before, options, program);
    cr_assert(eq(u64, truth(out, "memcpy"), 400), "%s", program);
    struct report *r = report_of("");
    check_counts(out, r, 23);
    cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 400));
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    free(out);
}

Test(e2e_own_libc, in_all_modes)
{
    static const char *const options[] = { "", "--mode profile", "--mode ring=1M", "--call-sites",
                                           "--mode profile --call-sites" };
    static const char *const programs[] = { "own_libc", "own_libc-dwell" };
    for (int program = 0; program < 2; program++)
        for (int i = 0; i < 5; i++)
            own_libc_check("", options[i], programs[program]);
}

Test(e2e_own_libc, by_other_clocks_and_without_the_helper)
{
    static const char *const befores[] = { "DWELL_HELPER=off", "DWELL_CLOCK=monotonic", "DWELL_CLOCK=ordered" };
    for (int i = 0; i < 3; i++)
        own_libc_check(befores[i], "", "own_libc");
    own_libc_check("", "--os-events rseq", "own_libc");
    own_libc_check("", "--os-events none", "own_libc");
}

Test(e2e_own_libc, with_filters)
{
    char *out = run_well("timeout 300 $DWELL record -q --suppress leaf $PROGRAMS/own_libc");
    struct report *r = report_of("");
    check_counts(out, r, 23);
    cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 0));
    report_drop(r);
    free(out);
}

/*
 * What the libraries need of others. Names that a program may well define are not among them. PerfLog needs those of
 * its part: a program calls it, and it is called by nothing of the runtime.
 */
static const char allowed[] =
    " _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __cxa_at_quick_exit __cxa_finalize __environ "
    "__errno_location __gmon_start__ __libc_stack_end __pthread_register_cancel __pthread_unregister_cancel __pthread_unwind_next "
    "__register_atfork __rseq_offset __rseq_size __sigsetjmp _dl_find_object _r_debug dl_iterate_phdr dlsym environ "
    "getauxval pthread_cond_destroy pthread_cond_init pthread_cond_signal pthread_condattr_destroy "
    "pthread_condattr_init pthread_condattr_setclock pthread_detach pthread_getspecific pthread_key_create "
    "pthread_mutex_unlock pthread_setcancelstate pthread_setspecific sem_getvalue sigaction sysconf ";
static const char perflog[] = " duplocale freelocale newlocale snprintf strtod uname uselocale vsnprintf ";

Test(e2e_own_libc, the_library_needs_no_other_function)
{
    char *symbols = run_well("nm -D --undefined-only $RUNTIME | awk '{ print $2 }' | sed 's/@.*//'"), *rest = symbols;
    int count = 0;
    for (char *symbol; (symbol = strsep(&rest, "\n")) && *symbol; count++) {
        char word[128];
        snprintf(word, sizeof word, " %s ", symbol);
        cr_assert(strstr(allowed, word) || strstr(perflog, word), "%s", symbol);
    }
    cr_assert(gt(int, count, 20));
    free(symbols);
    free(run_well("! nm -A --undefined-only $(dirname $RUNTIME)/libdwell.a 2>/dev/null | grep -v 'perflog_' | "
                  "grep -E ' (snprintf|strtod|vsnprintf|mem[a-z]+|str[a-z]+|getenv|clock_gettime)$'"));
}
