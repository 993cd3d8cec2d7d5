/* Functions of libraries whose calls are left alone. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "symbols/uncalled_functions.h"

static void uncalled_expect(const char *name, const char *reason)
{
    const char *found = uncalled_reason(name);
    cr_assert(eq(str, (char *)(found ? found : "none"), (char *)reason), "%s", name);
}

Test(unit_uncalled_functions, reasons)
{
    uncalled_expect("_setjmp", "it returns twice");
    uncalled_expect("__sigsetjmp", "it returns twice");
    uncalled_expect("siglongjmp", "it changes the stack");
    uncalled_expect("dlsym", "it looks at its caller");
    uncalled_expect("_Unwind_Resume", "it belongs to exceptions");
    uncalled_expect("__cxa_throw", "it belongs to exceptions");
    uncalled_expect("execve", "it does not return");
    uncalled_expect("__tls_get_addr", "it is called by rules of its own");
    uncalled_expect("__cyg_profile_func_enter", "it is a probe");
}

Test(unit_uncalled_functions, others)
{
    static const char *const names[] = {
        "qsort", "malloc", "free", "memcpy", "compress", "strdup", "_ZNSs6appendEPKc"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        uncalled_expect(names[i], "none");
}

Test(unit_uncalled_functions, any_number_of_arguments)
{
    cr_assert(uncalled_is_variadic("printf"));
    cr_assert(uncalled_is_variadic("__snprintf_chk"));
    cr_assert(uncalled_is_variadic("__isoc99_sscanf"));
    cr_assert(uncalled_is_variadic("open"));
    cr_assert(not(uncalled_is_variadic("qsort")));
    cr_assert(not(uncalled_is_variadic("puts")));
}
