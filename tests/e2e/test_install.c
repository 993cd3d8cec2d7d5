/* What `meson install` gives: exactly which files, and that they work where the tree is moved to. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/golden.h"
#include "support/run.h"

/* The tree, moved: $T is its prefix, $LIB its folder of libraries. */
#define TREE "T=$PWD/moved; LIB=$(dirname $(find $T/lib -name libdwell.a)); export PKG_CONFIG_PATH=$LIB/pkgconfig; "

static void install_tree(void)
{
    free(run_well("meson install --no-rebuild --quiet -C " DWELL_BUILD " --destdir $PWD/tree && "
                  "mv \"$PWD/tree$(meson introspect " DWELL_BUILD " --buildoptions | "
                  "python3 -c 'import json, sys; print(*[o[\"value\"] for o in json.load(sys.stdin) if o[\"name\"] == "
                  "\"prefix\"])')\" moved"));
}

TestSuite(e2e_install, .init = install_tree, .timeout = 300);

Test(e2e_install, files)
{
    char *files = run_well(TREE "cd $T && find . ! -type d | sed \"s,^\\./${LIB#$T/}/,LIBDIR/,\" | LC_ALL=C sort");
    check_text(files, "installed.txt");
    free(files);
}

Test(e2e_install, library_has_a_version)
{
    char *text = run_well(TREE "readelf -d $LIB/libdwell.so | grep -o 'soname: .*'; "
                               "nm -D --defined-only --with-symbol-versions $LIB/libdwell.so | awk '{ print $3 }' | "
                               "grep -e dwell_ -e '^read' -e '^pthread_mutex_lock' | sort | "
                               "sed -n -e /dwell_runtime_mark/p -e /LibInit/p -e /read/p -e /mutex/p");
    cr_assert(has(text, "soname: [libdwell.so.0]\n"), "%s", text);
    cr_assert(has(text, "\ndwell_perflog_LibInit@@DWELL_1\n"), "%s", text);
    cr_assert(has(text, "\ndwell_runtime_mark@@DWELL_1\n"), "%s", text);
    cr_assert(has(text, "\nread\n") && has(text, "\npthread_mutex_lock\n"), "%s", text);
    free(text);
}

/* The loader binds a call of read@GLIBC_2.2.5 to an interposed one without a version only. */
Test(e2e_install, library_exports_only_its_interface_and_what_it_interposes)
{
    char *text =
        run_well(TREE "nm -D --defined-only --with-symbol-versions $LIB/libdwell.so | awk '{ print $3 }' | "
                      "grep -v -e '^dwell_[a-zA-Z_]*@@DWELL_1$' -e '^DWELL_1' | grep -e @ -e dwell -e '^level' || :");
    cr_assert(eq(str, text, ""));
    free(text);
}

Test(e2e_install, moved_program_records)
{
    char *report =
        run_well(TREE "printf 'int work(int n) { return n * n; }\\nint main(void) { return work(3) - 9; }\\n' >p.c && "
                      "$T/bin/dwell cc -O0 p.c -o p && $T/bin/dwell record -q ./p && "
                      "$T/bin/dwell report --no-config --by function | tr -s ' '");
    cr_assert(has(report, "p.c:1 work\n"), "%s", report);
    free(report);
}

Test(e2e_install, pkg_config)
{
    char *text = run_well(TREE "cat >p.c <<'E'\n"
                               "#include <dwell/perflog.h>\n"
                               "int main(void) { Perf_MarkBegin(1); return !Perf_MarkEnd(1); }\n"
                               "E\n"
                               "PC=\"pkg-config --define-variable=prefix=$T\"; "
                               "cc -g $($PC --cflags dwell dwell-instrument) p.c -o p $($PC --libs dwell) && "
                               "LD_LIBRARY_PATH=$LIB DWELL_PERFLOG=p.log ./p && $T/bin/dwell record -q ./p && "
                               "$T/bin/dwell report --no-config --by function | tr -s ' ' && $PC --modversion dwell && "
                               "$T/bin/dwell --version && test \"$($T/bin/dwell version)\" = \"$($T/bin/dwell -V)\"");
    cr_assert(has(text, "p.c:2 main\n"), "%s", text);
    cr_assert(has(text, "\n0.1.0\ndwell 0.1.0\n"), "%s", text);
    free(text);
}

Test(e2e_install, cmake_package)
{
    char *text = run_well(
        TREE
        "mkdir project && cd project && cat >CMakeLists.txt <<'E'\n"
        "cmake_minimum_required(VERSION 3.13)\n"
        "project(shop C CXX)\n"
        "find_package(dwell 0.1 REQUIRED)\n"
        "add_executable(shop main.cc part.c)\n"
        "add_executable(plain part.c plain.c)\n"
        "target_link_libraries(shop dwell::dwell)\n"
        "dwell_instrument(shop)\n"
        "E\n"
        "printf 'int part(int n) { return n + 1; }\\n' >part.c\n"
        "printf 'int main(void) { return 0; }\\n' >plain.c\n"
        "cat >main.cc <<'E'\n"
        "#include <dwell/dwell.h>\n"
        "extern \"C\" int part(int n);\n"
        "struct shop { int open(int n) { return part(n); } };\n"
        "int main() { dwell_mark(7); return shop().open(-1); }\n"
        "E\n"
        "cmake -S . -B build -DCMAKE_PREFIX_PATH=$T >log && cmake --build build >>log && "
        "cd build && $T/bin/dwell record -q ./shop && $T/bin/dwell report --no-config --by function | tr -s ' ' && "
        "$T/bin/dwell marks && nm plain | grep -c __cyg_profile || :");
    cr_assert(has(text, "part.c:1 part\n"), "%s", text);
    cr_assert(has(text, "main.cc:3 shop::open(int)\n"), "%s", text);
    cr_assert(has(text, " 7 "), "%s", text);
    cr_assert(has(text, "\n0\n"), "%s", text);
    free(text);
}

Test(e2e_install, meson_dependency)
{
    char *text = run_well(
        TREE "mkdir project && cd project && cat >meson.build <<'E'\n"
             "project('shop', 'c')\n"
             "executable('shop', 'main.c', dependencies: [dependency('dwell'), dependency('dwell-instrument')])\n"
             "E\n"
             "printf '#include <dwell/perflog.h>\\nint main(void) { return !Perf_LibInit(); }\\n' >main.c\n"
             "sed -i \"s,^prefix=.*,prefix=$T,\" $LIB/pkgconfig/*.pc; "
             "meson setup build >log && ninja -C build >>log && cd build && $T/bin/dwell record -q ./shop && "
             "$T/bin/dwell report --no-config --by function | tr -s ' '");
    cr_assert(has(text, "main.c:2 main\n"), "%s", text);
    free(text);
}

Test(e2e_install, completions)
{
    free(run_well(TREE
                  "mkdir c && cp $T/share/bash-completion/completions/dwell $T/share/zsh/site-functions/_dwell "
                  "$T/share/fish/vendor_completions.d/dwell.fish c && $DWELL record -q $SAMPLES/cplusplus 1 >out && "
                  "python3 -B " DWELL_CONSUMERS "/completions.py $T/bin/dwell $PWD/c"));
}

/* musl has no probes, so instrumented objects do not link without the stub. */
Test(e2e_install, musl_programs_link_with_the_stub)
{
    char *text =
        run_well(TREE "printf '#include <stdio.h>\\nint main(void) { puts(\"ran\"); return 0; }\\n' >p.c && "
                      "! musl-gcc -finstrument-functions p.c -o p 2>log && grep -q __cyg_profile_func_enter log && "
                      "musl-gcc -finstrument-functions p.c -o p -L$LIB -ldwell-stub && ./p && "
                      "musl-gcc -static -finstrument-functions p.c -o s -L$LIB -ldwell-stub && ./s");
    cr_assert(eq(str, text, "ran\nran\n"));
    free(text);
    struct ran r = run("$DWELL record ./p");
    cr_assert(eq(int, r.status, 125));
    cr_assert(eq(str, r.out, ""));
    cr_assert(eq(str, r.err, "dwell: ./p: uses musl, and libdwell.so needs glibc; build it for glibc to record it\n"));
    ran_drop(&r);
}

/* musl's loader ends a program if it cannot load what LD_PRELOAD names. */
Test(e2e_install, recorded_programs_execute_programs_of_musl)
{
    free(run_well("printf '#include <stdio.h>\\nint main(void) { fputs(\"ran\\\\n\", stderr); return 0; }\\n' >p.c && "
                  "musl-gcc p.c -o p && printf \"#!$PWD/p\\n\" >script && chmod +x script"));
    char *text = run_well("LEDGER=$PWD/ledger $DWELL record -q $PROGRAMS/processes/processes-execs $PWD/p 2>&1");
    cr_assert(eq(str, text,
                 "ran\nran\nran\nran\nran\nran\nran\nran\nran\n" /* by exec */
                 "ran\nran\nran\nran\n"));                       /* by spawn and by the shell */
    free(text);
    text = run_well("$DWELL record -q sh -c 'exec 2>&1; ./script; PATH=$PWD script; exec ./p' 2>log");
    cr_assert(eq(str, text, "ran\nran\nran\n"));
    free(text);
}

/* Each command has a page with its options and examples, and a header's page has its functions. */
Test(e2e_install, man_pages)
{
    free(
        run_well(TREE "mkdir m && cd m && python3 -B " DWELL_CONSUMERS "/man_pages.py $T/bin/dwell $T/share/man/man1"));
    char *text = run_well(
        TREE "cd $T/share/man; for c in $($T/bin/dwell --print-commands | cut -f1); do "
             "mandoc -T ascii man1/dwell-$c.1 | col -b | grep -q \"^ *dwell $c \" || echo no page of $c; done; "
             "mandoc -T ascii man3/dwell_dwell.h.3 | col -b | grep -q 'int dwell_mark(int32_t number);' || "
             "echo no dwell_mark; mandoc -T ascii man1/dwell.1 | col -b | grep -q '^OPTIONS' || echo no OPTIONS");
    cr_assert(eq(str, text, ""));
    free(text);
}
