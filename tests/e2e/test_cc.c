/* dwell cc and dwell c++: the command lines that they make, and programs built with them. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"

/* Compilers whose --version decides, and which are never run otherwise. */
static void cc_make_compilers(void)
{
    free(run_well("mkdir bin; printf '#!/bin/sh\\necho \"clang version 14\"\\n' >bin/odd; "
                  "printf '#!/bin/sh\\necho \"Free Software Foundation, Inc.\"\\n' >bin/other; "
                  "printf '#!/bin/sh\\necho none\\n' >bin/strange; chmod +x bin/*; "
                  "cp bin/strange bin/my-gcc-12; cp bin/strange bin/clang++-14; cp bin/strange bin/ccache; "
                  "cp bin/strange bin/cc; cp bin/odd bin/c++"));
}

TestSuite(e2e_cc, .init = cc_make_compilers, .timeout = 300);

static void cc_expect(const char *arguments, const char *wanted)
{
    char *line = run_well("PATH=$PWD/bin:$PATH $DWELL %s", arguments), *whole;
    cr_assert(gt(int, asprintf(&whole, "%s\n", wanted), 0));
    cr_assert(eq(str, line, whole), "%s", arguments);
    free(line);
    free(whole);
}

#define GCC "-finstrument-functions -finstrument-functions-exclude-file-list=/usr/include,/usr/lib/gcc"

Test(e2e_cc, flags_of_each_compiler)
{
    cc_expect("cc --show my-gcc-12 -O2 -c a.c", "my-gcc-12 -O2 -c a.c " GCC " -g");
    cc_expect("c++ --show clang++-14 -c a.cc", "clang++-14 -c a.cc -finstrument-functions-after-inlining -g");
    cc_expect("cc --show odd -c a.c", "odd -c a.c -finstrument-functions-after-inlining -g");
    cc_expect("cc --show other -c a.c", "other -c a.c " GCC " -g");
    cc_expect("cc --show strange -c a.c", "strange -c a.c -finstrument-functions -g");
    cc_expect("cc --show ccache my-gcc-12 -c a.c", "ccache my-gcc-12 -c a.c " GCC " -g");
    cc_expect("cc --show -c a.c", "cc -c a.c -finstrument-functions -g");
    cc_expect("cc --show other -c a.f90", "other -c a.f90 " GCC " -g");
    cc_expect("cc --show other -c a.F", "other -c a.F " GCC " -g");
    cc_expect("c++ --show -c a.cc", "c++ -c a.cc -finstrument-functions-after-inlining -g");
}

Test(e2e_cc, the_environment_names_the_usual_compiler)
{
    char *line = run_well("PATH=$PWD/bin:$PATH DWELL_CC=my-gcc-12 $DWELL cc --show -c a.c; "
                          "PATH=$PWD/bin:$PATH DWELL_CXX=clang++-14 $DWELL c++ --show -c a.cc; "
                          "PATH=$PWD/bin:$PATH DWELL_CC= $DWELL cc --show a.o");
    cr_assert(eq(str, line,
                 "my-gcc-12 -c a.c " GCC " -g\n"
                 "clang++-14 -c a.cc -finstrument-functions-after-inlining -g\n"
                 "cc a.o\n"));
    free(line);
}

Test(e2e_cc, options)
{
    cc_expect("cc --show --headers my-gcc-12 -g0 a.c", "my-gcc-12 -g0 a.c -finstrument-functions");
    cc_expect("cc --show --headers odd -ggdb a.c", "odd -ggdb a.c -finstrument-functions");
    cc_expect("cc --show my-gcc-12 -finstrument-functions-exclude-function-list=hash -g a.c",
              "my-gcc-12 -finstrument-functions-exclude-function-list=hash -g a.c " GCC);
    cc_expect("cc --exclude vendor,third --show my-gcc-12 a.c -g3", "my-gcc-12 a.c -g3 " GCC ",vendor,third");
    cc_expect("cc --exclude=vendor --headers --show my-gcc-12 a.c -g",
              "my-gcc-12 a.c -g -finstrument-functions -finstrument-functions-exclude-file-list=vendor");
    cc_expect("cc --frame-pointers --show strange -g a.c",
              "strange -g a.c -finstrument-functions -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer");
}

/* Sources are instrumented however they are named; words that a shell would split stay whole. */
Test(e2e_cc, lines_that_compile)
{
    static const char *const lines[] = {
        "strange -g @arguments",
        "strange -g -x c -",
        "strange -g -xc++ source",
        "strange -g -x none a.C",
        "strange -g -S a.cxx",
        "strange -g -flto a.o b.c -o prog",
        "strange -g -MD -MF a.d -c dir.s/a.c++",
        "strange -g '-DTEXT=\"a b\"' -c 'my file.c'",
        "strange -g -x c++-header all.hpp",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *arguments, *wanted;
        cr_assert(gt(int, asprintf(&arguments, "cc --show %s", lines[i]), 0));
        cr_assert(gt(int, asprintf(&wanted, "%s -finstrument-functions", lines[i]), 0));
        cc_expect(arguments, wanted);
        free(arguments);
        free(wanted);
    }
}

Test(e2e_cc, lines_that_stay)
{
    static const char *const lines[] = {
        "strange",
        "strange --version",
        "strange -v",
        "strange -print-search-dirs",
        "strange -E a.c",
        "strange -MM a.c",
        "strange -fsyntax-only a.c",
        "strange -dumpmachine",
        "strange -c a.s b.S",
        "strange -x assembler-with-cpp -c a.c",
        "strange a.o libb.a -o prog",
        "strange -o a.c b.o",
        "strange -include all.h b.o",
        "strange -c conftest.c",
        "strange -c build/conftest.cpp",
        "strange -c build/CMakeFiles/CMakeTmp/test.c",
        "strange -c CMakeCCompilerId.c -I build/CMakeFiles/3.25/CompilerIdC build/CMakeFiles/3.25/CompilerIdC/x.c",
        "strange meson-private/tmp1/testfile.c",
        "strange -c a.c -finstrument-functions",
        "strange -fno-instrument-functions a.c",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char *arguments;
        cr_assert(gt(int, asprintf(&arguments, "cc --show %s", lines[i]), 0));
        cc_expect(arguments, lines[i]);
        free(arguments);
    }
    char *line = run_well("mkdir -p CMakeFiles/CMakeScratch/TryCompile-1; cd CMakeFiles/CMakeScratch/TryCompile-1; "
                          "$DWELL cc --show ../../../bin/strange -c a.c");
    cr_assert(eq(str, line, "../../../bin/strange -c a.c\n"));
    free(line);
}

Test(e2e_cc, errors)
{
    struct ran r = run("$DWELL cc");
    cr_assert(eq(str, r.err, "dwell: no command of a compiler; dwell cc --help has examples\n"));
    cr_assert(eq(int, r.status, 2));
    ran_drop(&r);
    r = run("DWELL_CC=no-such-compiler $DWELL cc --version");
    cr_assert(eq(str, r.err, "dwell: no-such-compiler: cannot be run: No such file or directory\n"));
    cr_assert(eq(int, r.status, 127));
    ran_drop(&r);
    r = run("printf 'int main(void) { return x; }' >wrong.c; $DWELL cc gcc -c wrong.c");
    cr_assert(eq(int, r.status, 1), "the compiler's own status: %d", r.status);
    ran_drop(&r);
}

/* A program of the C++ library: only its own functions are recorded, as often as they are called. */
Test(e2e_cc, a_program_built_by_make)
{
    free(run_well("printf '%%s\\n' '#include <map>' '#include <string>' "
                  "'static int number(const std::string &s) { return (int)s.size(); }' "
                  "'int main() { std::map<std::string, int> m; for (int i = 0; i < 100; i++) "
                  "m[std::to_string(i)] += number(\"x\"); return m.size() != 100; }' >words.cc; "
                  "PATH=/usr/bin:/bin make -s CXX=\"$DWELL c++ g++\" CXXFLAGS=-O2 words; "
                  "$DWELL record -q --no-os-calls ./words"));
    struct report *r = report_of("dwell.data");
    cr_assert(eq(u64, report_sum(r, "function", "main", "calls"), 1));
    cr_assert(eq(u64, report_sum(r, "function", NULL, "calls"), 101), "main, and number() of each word");
    report_drop(r);
    char *with_headers = run_well("rm words; PATH=/usr/bin:/bin make -s CXX=\"$DWELL c++ --headers g++\" "
                                  "CXXFLAGS=-O2 words; $DWELL record -q --no-os-calls -o all.data ./words; "
                                  "$DWELL report --format csv all.data | grep -c ^.std::map");
    cr_assert(gt(int, atoi(with_headers), 0));
    free(with_headers);
}
