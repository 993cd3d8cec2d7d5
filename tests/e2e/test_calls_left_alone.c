/* Functions whose calls --calls-to leaves alone: the user is told why, and programs that call them do as without dwell.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

TestSuite(e2e_calls_left_alone, .timeout = 600);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/calls_to/"

/* ---- the reasons ---- */

static const struct {
    const char *reason, *functions; /* separated by blanks */
} left_alone[] = {
    { "it returns twice", "setjmp _setjmp sigsetjmp __sigsetjmp vfork __vfork fork __fork _Fork getcontext" },
    { "it changes the stack", "setcontext swapcontext makecontext clone __clone clone3 sigreturn __sigreturn longjmp "
                              "_longjmp siglongjmp __longjmp_chk __libc_longjmp __libc_siglongjmp syscall" },
    { "it looks at its caller", "dlopen dlmopen dlclose dlsym dlvsym dlerror dlinfo dladdr dladdr1 dl_iterate_phdr "
                                "_dl_find_object __libc_dlopen_mode backtrace backtrace_symbols _mcount mcount "
                                "__fentry__ __monstartup __gmon_start__" },
    { "it belongs to exceptions",
      "_Unwind_Resume _Unwind_RaiseException _Unwind_Backtrace _Unwind_ForcedUnwind __cxa_throw __cxa_rethrow "
      "__cxa_rethrow_primary_exception __cxa_begin_catch __cxa_end_catch __cxa_get_exception_ptr "
      "__cxa_allocate_exception __cxa_free_exception __cxa_call_unexpected __gxx_personality_v0 "
      "__gcc_personality_v0 _ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE "
      "_ITM_registerTMCloneTable __register_frame __register_frame_info __deregister_frame" },
    { "it does not return", "__libc_start_main exit _exit _Exit quick_exit abort pthread_exit thrd_exit execl execv "
                            "execle execlp execve execvp execvpe execveat fexecve __stack_chk_fail __assert_fail "
                            "_ZSt9terminatev" },
    { "it is a probe", "__cyg_profile_func_enter __cyg_profile_func_exit dwell_mark" },
    { "it is called by rules of its own",
      "__tls_get_addr __x86_indirect_thunk_rax __cxa_finalize __libc_csu_init __asan_report_load8 __tsan_func_entry "
      "__msan_init __ubsan_handle_add_overflow __sanitizer_cov_trace_pc __morestack __splitstack_getcontext" },
};

/* Each function has the reason that is the user's answer. */
Test(e2e_calls_left_alone, each_has_its_reason)
{
    free(run_well("gcc -O1 -fno-builtin -finstrument-functions " SOURCES "named.c -o named"));
    for (size_t i = 0; i < sizeof left_alone / sizeof *left_alone; i++) {
        char *different = run_well(
            "for name in %s; do $DWELL record -o none.data --calls-to $name ./named text 2>error; test $? -eq 125 && "
            "grep -qx \"dwell: --calls-to '$name': calls of [^ ]* are left alone: %s\" error || cat error; done",
            left_alone[i].functions, left_alone[i].reason);
        cr_assert(eq(str, different, ""), "%s", left_alone[i].reason);
        free(different);
    }
}

/* ---- what they do ---- */

#define LEFT_ALONE                                                                                                     \
    "^(_*(sig)?(set|long)jmp.*|v?fork|.*context|clone|syscall|dl(open|v?sym|error|addr|_iterate_phdr|close)|"          \
    "backtrace.*|_Unwind_.*|__cxa_(throw|rethrow|.*_catch|.*exception).*|.*rethrow_exception.*|_*(quick_)?exit|"       \
    "_Exit|abort|pthread_exit|exec.*|std::terminate|__tls_get_addr|uncalled_resolve|__restore_rt)$"

/* The library has probes, and a function with versions, whose resolver nobody calls. */
static void left_alone_check(const char *compile, const char *library, const char *options)
{
    free(run_well("%s -w -DLIBRARY -shared -fPIC %s -finstrument-functions " SOURCES
                  "uncalled.cc -o libuncalled.so && %s -w -finstrument-functions " SOURCES
                  "uncalled.cc -o uncalled -pthread -L. -luncalled -Wl,-rpath,$PWD -ldl && ./uncalled > without",
                  compile, library, compile));
    free(run_well("$DWELL record -q --sample 0 %s ./uncalled > with 2>errors", options));
    char *different = run_well("diff without with");
    cr_assert(eq(str, different, ""), "%s %s", compile, options);
    free(different);
    char *rows = run_well("$DWELL report --by function -n 0 --format json | jq -r '.rows[] | select(.module != "
                          "\"uncalled\" and .calls and (.function | sub(\"\\\\(.*\"; \"\") | test(\"" LEFT_ALONE
                          "\"))) | .function'");
    cr_assert(eq(str, rows, ""), "%s %s", compile, options);
    free(rows);
    char *printed = run_well("cat with");
    cr_assert(eq(str, printed,
                 "twice 555555 495 10\nstacks 10 8\ncallers 9\nexceptions 4041\nendings 162\nsignals 10\n"
                 "variables 20130\n"));
    free(printed);
}

Test(e2e_calls_left_alone, programs_that_call_them)
{
    left_alone_check("g++ -O2 -g", "", "--overhead none --no-os-calls --calls-to-all --calls-to '*'");
    left_alone_check("g++ -O0", "-mtls-dialect=gnu2", "--overhead none --calls-to-all --calls-to '*'");
    left_alone_check("g++ -O1 -fno-plt", "-mtls-dialect=gnu2", "--calls-to-all --calls-to '*'");
    left_alone_check("clang++ -O1", "", "--overhead none --level 'counted=*' --calls-to-all");
}

/* ---- functions that are linked in ---- */

static void left_alone_expect(const char *pattern, const char *expected)
{
    char *error = run_well("$DWELL record --calls-to %s -o none.data ./refused 2>&1; test $? -eq 125", pattern);
    cr_assert(eq(str, error, (char *)expected), "%s", pattern);
    free(error);
}

/* What the code of functions says that are linked into the program. */
Test(e2e_calls_left_alone, what_code_says)
{
    free(run_well("gcc -O1 -DLIBRARY -c " SOURCES "refused.c -o part.o && gcc -O1 -g -finstrument-functions " SOURCES
                  "refused.c part.o -o refused"));
    left_alone_expect("switch_stacks", "dwell: --calls-to 'switch_stacks': calls of switch_stacks are left alone: it "
                                       "changes the stack\n");
    left_alone_expect("saves_context", "dwell: --calls-to 'saves_context': calls of saves_context are left alone: it "
                                       "returns twice\n");
    left_alone_expect("takes_large", "dwell: --calls-to 'takes_large': calls of takes_large are left alone: their "
                                     "arguments may take too much of the stack\n");
    left_alone_expect("asks_for_caller", "dwell: --calls-to 'asks_for_caller': calls of asks_for_caller are left "
                                         "alone: it looks at its caller\n");
    left_alone_expect("looks_there", "dwell: --calls-to 'looks_there': calls of looks_there are left alone: it looks "
                                     "at its caller\n");
    left_alone_expect("ends_or_looks", "dwell: --calls-to 'ends_or_looks': calls of ends_or_looks are left alone: it "
                                       "looks at its caller\n");
    left_alone_expect("takes_flags",
                      "dwell: --calls-to 'takes_flags': calls of takes_flags are left alone: it is called "
                      "by rules of its own\n");
    left_alone_expect("removes_arguments", "dwell: --calls-to 'removes_arguments': calls of removes_arguments are left "
                                           "alone: it is called by rules of its own\n");
    left_alone_expect("sets_flags", "dwell: --calls-to 'sets_flags': calls of sets_flags are left alone: it is called "
                                    "by rules of its own\n");
    char *errors = run_well("$DWELL record -q --overhead none --calls-to '*' ./refused 2>&1");
    cr_assert(eq(str, errors,
                 "dwell: --calls-to: calls of takes_small through pointers are not recorded, whose address "
                 "the code takes\n"
                 "dwell: --calls-to: calls of switch_stacks are left alone: it changes the stack; likewise those of 8 "
                 "others\n"));
    free(errors);
    char *rows = run_well("$DWELL report --by function -n 0 --format json | jq -c '[.rows[] | select(.calls) | "
                          "\"\\(.function) \\(.calls)\"] | sort'");
    cr_assert(
        eq(str, rows,
           "[\"call_removes_arguments 1\",\"call_sets_flags 1\",\"call_takes_flags 1\",\"ends_there 1\",\"main 1\","
           "\"takes_small 1\"]\n"));
    free(rows);
    free(run_well("gcc -O1 -g -finstrument-functions " SOURCES "refused.c part.o -o refused -Wl,--no-eh-frame-hdr"));
    left_alone_expect("takes_small", "dwell: --calls-to: no function of a library that the instrumented code of "
                                     "./refused calls is named 'takes_small'; functions that are linked into it are "
                                     "not known, as it has no unwind table: link it with -Wl,--eh-frame-hdr\n");
    free(run_well("gcc -O1 -g -finstrument-functions " SOURCES "refused.c part.o -o refused && strip refused"));
    left_alone_expect("takes_small", "dwell: --calls-to: no function of a library that the instrumented code of "
                                     "./refused calls is named 'takes_small'; functions that are linked into it have "
                                     "no names, as it has no symbols\n");
}
