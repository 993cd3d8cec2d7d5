/* The names are patterns of fnmatch. */
#include "symbols/uncalled_functions.h"

#include <fnmatch.h>
#include <stddef.h>

static const char twice[] = "it returns twice", caller[] = "it looks at its caller", stack[] = "it changes the stack",
                  unwinds[] = "it belongs to exceptions", ends[] = "it does not return", own[] = "it is a probe",
                  convention[] = "it is called by rules of its own";

static const struct {
    const char *pattern, *reason;
} uncalled[] = {
    { "setjmp", twice },
    { "_setjmp", twice },
    { "sigsetjmp", twice },
    { "__sigsetjmp", twice },
    { "vfork", twice },
    { "__vfork", twice },
    { "fork", twice },
    { "__fork", twice },
    { "_Fork", twice },
    { "getcontext", twice },
    { "setcontext", stack },
    { "swapcontext", stack },
    { "makecontext", stack },
    { "clone", stack },
    { "__clone", stack },
    { "clone3", stack },
    { "sigreturn", stack },
    { "__sigreturn", stack },
    { "longjmp", stack },
    { "_longjmp", stack },
    { "siglongjmp", stack },
    { "__longjmp_chk", stack },
    { "__libc_longjmp", stack },
    { "__libc_siglongjmp", stack },
    { "syscall", stack },
    { "dlopen", caller },
    { "dlmopen", caller },
    { "dlclose", caller },
    { "dlsym", caller },
    { "dlvsym", caller },
    { "dlerror", caller },
    { "dlinfo", caller },
    { "dladdr*", caller },
    { "dl_iterate_phdr", caller },
    { "_dl_*", caller },
    { "__libc_dl*", caller },
    { "backtrace*", caller },
    { "_mcount", caller },
    { "mcount", caller },
    { "__fentry__", caller },
    { "__monstartup", caller },
    { "__gmon_start__", caller },
    { "_Unwind_*", unwinds },
    { "__cxa_throw*", unwinds },
    { "__cxa_rethrow*", unwinds },
    { "__cxa_begin_catch", unwinds },
    { "__cxa_end_catch", unwinds },
    { "__cxa_get_exception_ptr", unwinds },
    { "__cxa_allocate_exception", unwinds },
    { "__cxa_free_exception", unwinds },
    { "__cxa_call_*", unwinds },
    { "__gxx_*", unwinds },
    { "__gcc_personality_*", unwinds },
    { "_ZSt17rethrow_exceptionNSt15__exception_ptr13exception_ptrE", unwinds },
    { "_ITM_*", unwinds },
    { "__register_frame*", unwinds },
    { "__deregister_frame*", unwinds },
    { "__libc_start_main", ends },
    { "exit", ends },
    { "_exit", ends },
    { "_Exit", ends },
    { "quick_exit", ends },
    { "abort", ends },
    { "pthread_exit", ends },
    { "thrd_exit", ends },
    { "exec[lv]", ends },
    { "exec[lv][ep]", ends },
    { "execvpe", ends },
    { "execveat", ends },
    { "fexecve", ends },
    { "__stack_chk_fail", ends },
    { "__assert*", ends },
    { "_ZSt9terminatev", ends },
    { "__cyg_profile_func_*", own },
    { "dwell_*", own },
    { "__tls_get_addr", convention },
    { "__x86_*", convention },
    { "__cxa_finalize", convention },
    { "__libc_csu_*", convention },
    { "__asan_*", convention },
    { "__tsan_*", convention },
    { "__msan_*", convention },
    { "__ubsan_*", convention },
    { "__sanitizer_*", convention },
    { "__morestack*", convention },
    { "__splitstack_*", convention },
};

static const char *const variadic[] = {
    "*printf", "*printf_chk",   "*scanf", "syslog",  "__syslog_chk", "err",      "errx",     "warn",    "warnx",
    "error",   "error_at_line", "open",   "open64",  "openat",       "openat64", "fcntl",    "fcntl64", "ioctl",
    "prctl",   "ptrace",        "semctl", "mq_open", "sem_open",     "ulimit",   "strfmon*", "mremap",  "*sprintf_chk",
};

const char *uncalled_reason(const char *name)
{
    for (size_t i = 0; i < sizeof uncalled / sizeof *uncalled; i++)
        if (fnmatch(uncalled[i].pattern, name, 0) == 0)
            return uncalled[i].reason;
    return NULL;
}

bool uncalled_is_variadic(const char *name)
{
    for (size_t i = 0; i < sizeof variadic / sizeof *variadic; i++)
        if (fnmatch(variadic[i], name, 0) == 0)
            return true;
    return false;
}
