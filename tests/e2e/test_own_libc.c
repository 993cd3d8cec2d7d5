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

/* The runtime finds libc's own functions, although the loader binds their names to the program's. In a static program
 * it needs none of the loader. */
static void own_libc_check_loader(const char *options, const char *program, int least)
{
    char *out = run_well("timeout 300 $DWELL record -q %s $PROGRAMS/%s", options, program);
    cr_assert(eq(u64, truth(out, "dl_iterate_phdr"), least > 2 ? 400 : 300), "%s %s", options, program);
    struct report *r = report_of("");
    check_counts(out, r, least);
    cr_assert(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
    free(out);
}

Test(e2e_own_libc, walks_of_the_loaders_list)
{
    static const char *const options[] = { "", "--mode profile", "--mode ring=1M" };
    for (int i = 0; i < 3; i++) {
        own_libc_check_loader(options[i], "own_loader", 15);
        own_libc_check_loader(options[i], "own_loader-dwell", 15);
        own_libc_check_loader(options[i], "own_loader-static", 2);
    }
}

/*
 * What the loader binds the library's code to: nothing that a program can take the place of. What remains are data of
 * libc and the loader, hooks of the linker's start files, and a function that cannot be written in C.
 */
static const char allowed[] =
    " _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable __cxa_finalize __environ __gmon_start__ __libc_stack_end "
    "__rseq_offset __rseq_size __sigsetjmp _r_debug environ ";
/* Of libdwell.a, without what its libc.c names: of the linker, of the compiler's library, of the shared library, and
 * the makers of PerfLog's thread, which sanitizers must see. */
static const char linked[] =
    " _DYNAMIC _GLOBAL_OFFSET_TABLE_ __dso_handle __ehdr_start __start_dwell_fences __stop_dwell_fences etext "
    "__divti3 __udivti3 __popcountdi2 dwell_interposed ending_of_child interpose_first interpose_next_sigaction "
    "library_calls_are_wanted library_calls_begin library_calls_look "
    "__libc_stack_end __nptl_setxid __rseq_offset __rseq_size _r_debug environ pthread_create pthread_join ";

static int own_libc_check_names(const char *command, const char *known)
{
    char *symbols = run_well("%s", command), *rest = symbols;
    int count = 0;
    for (char *symbol; (symbol = strsep(&rest, "\n")) && *symbol; count++) {
        char word[128];
        snprintf(word, sizeof word, " %s ", symbol);
        cr_assert(strstr(known, word) != NULL, "%s", symbol);
    }
    free(symbols);
    return count;
}

Test(e2e_own_libc, the_library_needs_no_function_of_others)
{
    int count = own_libc_check_names("nm -D --undefined-only $RUNTIME | awk '{ print $2 }' | sed 's/@.*//'", allowed);
    cr_assert(gt(int, count, 5));
    /* Nor does it call its own exported ones by their names, which a program may have as well. */
    count = own_libc_check_names("readelf -rW $RUNTIME | awk '$3 ~ /JU?MP_SL|GLOB_DA|ABS64|_64$/ "
                                 "{ print $5 }' | sed 's/@.*//'",
                                 allowed);
    cr_assert(gt(int, count, 5));
    count = own_libc_check_names(
        "cd $(dirname $RUNTIME) && nm -A -P libdwell.a 2>/dev/null | grep -v '\\[base_libc.c.o\\]: .* [Uw]' "
        "| awk '$3 ~ /[UwW]/ && NF == 3 { needed[$2] } NF > 3 { has[$2] } "
        "END { for (s in needed) if (!(s in has) && s !~ /^__aarch64_/) print s }'",
        linked);
    cr_assert(gt(int, count, 5));
}

/*
 * What the shared library has in place of libc's functions is in libdwell.a as well, or is one of these. Each is a
 * known limit of docs/runtime.md: other ends and forks have other ways there, and what is not seen costs a recording
 * some knowledge, but no program its safety. initgroups calls setgroups, or is followed by a call that is there.
 * arch_prctl, mq_notify and timer_create are of matter to calls that are counted in place, which no program with
 * libdwell.a has. _Unwind_Find_FDE is for backtraces of signal handlers (docs/library-calls.md).
 */
static const char left_out[] =
    " _Exit _Fork _Unwind_Find_FDE __asan_default_options __gcc_personality_v0 __gxx_personality_v0 __longjmp_chk __sigaction "
#if defined(__x86_64__)
    "arch_prctl "
#endif
    "__sysv_signal _exit _longjmp bsd_signal dlclose dlmopen dlopen execl execle execlp execv execve execveat execvp "
    "execvpe fexecve fork initgroups longjmp makecontext mlockall mq_notify munlockall popen posix_spawn posix_spawnp prctl pthread_sigmask "
    "setcontext sigaction sigblock siggetmask sighold sigignore siginterrupt siglongjmp signal sigprocmask sigrelse "
    "sigset sigsetmask ssignal swapcontext syscall system sysv_signal timer_create ";

#define OF_LIBC                                                                                                        \
    "awk '$4 == \"FUNC\" && $5 ~ /GLOBAL|WEAK/ && $6 == \"DEFAULT\" && $7 != \"UND\" { print $8 }' | "                 \
    "grep -v -e '@DWELL_1' -e '^dwell_' -e '^__cyg_' | sort -u"

Test(e2e_own_libc, the_archive_lacks_no_other_function_than_known)
{
    char *names = run_well("cd $(dirname $RUNTIME) && readelf -sW libruntime-watch.a.p/watch_oscalls*.o | " OF_LIBC
                           " >$OLDPWD/rows && "
                           "readelf -sW libdwell.a 2>/dev/null | " OF_LIBC " >$OLDPWD/archive && cd $OLDPWD && "
                           "readelf --dyn-syms -W $RUNTIME | " OF_LIBC " >shared && "
                           "comm -13 rows shared | comm -23 - archive"),
         *rest = names;
    int count = 0;
    for (char *name; (name = strsep(&rest, "\n")) && *name; count++) {
        char word[128];
        snprintf(word, sizeof word, " %s ", name);
        cr_assert(strstr(left_out, word) != NULL, "%s", name);
    }
    free(names);
    int known = 0;
    for (const char *at = left_out + 1; (at = strchr(at, ' ')); at++)
        known++;
    cr_assert(eq(int, count, known));
    names = run_well("comm -12 shared archive | tr '\\n' ' '");
    cr_assert(eq(str, names,
                 "capset chroot setegid seteuid setgid setgroups setns setregid setresgid setresuid setreuid setuid "
                 "unshare "));
    free(names);
}
