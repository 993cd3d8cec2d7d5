/*
 * Compares the files and lines of functions with those of llvm-symbolizer. The programs are compiled by GCC and clang,
 * with and without optimisation, in both versions of the debug information, and linked in several ways. Each program is
 * also recorded with a `file:` filter, and examined by dwell doctor.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_lines, .timeout = 600);

static const char *const lines_languages[] = { "c", "c++" };
static const char *const lines_compilers[][2] = { { "gcc", "clang" }, { "g++", "clang++" } };

/* The compilers are those of the program's two units. */
static void lines_check(const char *language, const char *compiler, const char *other, const char *flags)
{
    char *agreed = run_well("$ORACLE/lines $BUILD lines %s %s %s %s", language, compiler, other, flags);
    cr_assert(gt(int, atoi(agreed), 50), "%s %s %s: %s", compiler, other, flags, agreed);
    free(agreed);
}

Test(e2e_lines, by_both_compilers)
{
    static const char *const flags[] = { "-O0 -gdwarf-4", "-O0 -gdwarf-5", "-O2 -gdwarf-4", "-O2 -gdwarf-5" };
    for (size_t language = 0; language < 2; language++)
        for (size_t c = 0; c < 2; c++)
            for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
                lines_check(lines_languages[language], lines_compilers[language][c], lines_compilers[language][c],
                            flags[f]);
}

/* libdw's own search finds only the units of GCC in such a program. */
Test(e2e_lines, units_of_both_compilers)
{
    for (size_t language = 0; language < 2; language++)
        for (size_t c = 0; c < 2; c++)
            lines_check(lines_languages[language], lines_compilers[language][c], lines_compilers[language][1 - c],
                        "-O2");
}

/* Code that the linker removed, units without ranges of their own, and debug information in several forms. */
Test(e2e_lines, other_forms)
{
    static const char *const flags[] = {
        "-O0 -ffunction-sections -Wl,--gc-sections",
        "-O0 -ffunction-sections -Wl,--gc-sections -gdwarf-4",
        "-O2 -g1",
        "-O2 -gsplit-dwarf",
        "-O2 -gsplit-dwarf -gdwarf-4",
        "-gdwarf-4 -fdebug-types-section",
    };
    for (size_t c = 0; c < 2; c++)
        for (size_t f = 0; f < sizeof flags / sizeof *flags; f++)
            lines_check("c++", lines_compilers[1][c], lines_compilers[1][c], flags[f]);
    lines_check("c++", "g++", "g++", "-O2 -flto");
    struct ran r = run("command -v ld.lld");
    if (r.status == 0) {
        lines_check("c++", "clang++", "clang++", "-O2 -flto -fuse-ld=lld");
        lines_check("c++", "clang++", "clang++", "-O0 -ffunction-sections -Wl,--gc-sections -fuse-ld=lld");
    }
    ran_drop(&r);
}

/* The section of debug information is there, but no line is known. */
Test(e2e_lines, doctor_reports_no_lines)
{
    char *out = run_well("$ORACLE/lines $BUILD lines c clang clang -O2 >agreed && cd lines && "
                         "objcopy --remove-section .debug_line made bare && "
                         "$DWELL doctor ./bare | sed -n 's/  */ /g; /^[a-z]* debug information/p'");
    cr_assert(
        eq(str, out,
           "warn debug information in the program, but it has no lines, so source lines are unknown; compile with "
           "-g\n"));
    free(out);
}
