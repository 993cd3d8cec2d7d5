/* Calls into libraries, which have no probes: the program does the same as without, and each call is in the session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_calls_to, .timeout = 600);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/calls_to/"

/* The calls that a session has of the functions of callee.h. */
#define RECORDED                                                                                                       \
    "$DWELL report --by function -n 0 --format json | jq '[.rows[] | select(.function | startswith(\"callee_\")) | "   \
    ".calls] | add'"
#define PRINTED "sed -n 's/^calls //p' with"

static void calls_expect_same(const char *how, const char *one, const char *other)
{
    char *first = run_well("%s", one), *second = run_well("%s", other);
    cr_assert(eq(str, first, second), "%s: %s", how, one);
    cr_assert(ne(int, *first, 0));
    free(first);
    free(second);
}

static void calls_build(const char *compile)
{
    free(run_well("%s -shared -fPIC " SOURCES "callee.c -o libcallee.so", compile));
    free(run_well("%s -w -finstrument-functions " SOURCES "caller.c -o caller -pthread -L. -lcallee -Wl,-rpath,$PWD",
                  compile));
    free(run_well("./caller > without"));
}

static void calls_check(const char *compile, const char *options)
{
    calls_build(compile);
    free(run_well("$DWELL record -q %s --calls-to 'libcallee.so!*' ./caller > with", options));
    calls_expect_same(compile, "cat with", "cat without");
    calls_expect_same(compile, RECORDED, PRINTED);
}

Test(e2e_calls_to, of_gcc)
{
    calls_check("gcc -O2", "--overhead none");
}

Test(e2e_calls_to, of_gcc_without_optimisation)
{
    calls_check("gcc -O0 -g", "--overhead none");
}

Test(e2e_calls_to, with_declarations)
{
    calls_check("gcc -O3 -g", "--overhead none");
}

Test(e2e_calls_to, bound_at_once)
{
    calls_check("gcc -O1 -Wl,-z,now", "--overhead none");
}

Test(e2e_calls_to, without_stubs_of_the_linker)
{
    calls_check("gcc -O2 -fno-plt", "--overhead none");
}

Test(e2e_calls_to, at_fixed_addresses)
{
    calls_check("gcc -O2 -g -no-pie -fno-pie", "--overhead none");
    calls_check("gcc -O2 -no-pie -fno-pie -fno-plt", "--overhead none");
}

/* The library has no name of its own. */
Test(e2e_calls_to, of_a_library_that_is_linked_by_its_path)
{
    calls_build("gcc -O1");
    free(run_well("gcc -O1 -w -finstrument-functions " SOURCES "caller.c -o caller -pthread ./libcallee.so"));
    free(run_well("$DWELL record -q --overhead none --calls-to 'libcallee.so!*' ./caller > with"));
    calls_expect_same("by its path", "cat with", "cat without");
    calls_expect_same("by its path", RECORDED, PRINTED);
}

Test(e2e_calls_to, of_clang)
{
    calls_check("clang -O2", "--overhead none");
    calls_check("clang -O0 -g", "--overhead none");
}

Test(e2e_calls_to, of_another_linker)
{
    calls_check("gcc -O2 -g -fuse-ld=lld", "--overhead none");
}

Test(e2e_calls_to, with_a_budget)
{
    calls_check("gcc -O2", "--overhead 1%");
}

Test(e2e_calls_to, as_a_profile)
{
    calls_check("gcc -O2", "--mode profile");
}

Test(e2e_calls_to, with_call_sites)
{
    calls_check("gcc -O2 -g", "--overhead none --call-sites");
}

/* clang keeps the address of a function that it calls several times in a register. */
Test(e2e_calls_to, addresses_are_left_alone)
{
    calls_build("clang -O2 -fno-plt");
    char *errors = run_well("$DWELL record -q --calls-to callee_sum ./caller 2>&1; test $? -eq 125");
    cr_assert(eq(str, errors,
                 "dwell: --calls-to 'callee_sum': calls of callee_sum are left alone: the code takes its address "
                 "from the same slot\n"));
    free(errors);
}

/* Without declarations, the arguments on the stack end where their caller's frame ends. */
static void calls_check_frames(const char *compile)
{
    free(run_well("gcc -O1 -DLIBRARY -shared -fPIC " SOURCES "frames.c -o libframes.so"));
    free(run_well("%s -w -finstrument-functions " SOURCES "frames.c -o frames -L. -lframes -Wl,-rpath,$PWD", compile));
    free(run_well("./frames > without"));
    free(run_well("$DWELL record -q --overhead none --sample 0 --calls-to 'libframes.so!*' ./frames > with"));
    calls_expect_same(compile, "cat with", "cat without");
    calls_expect_same(compile,
                      "$DWELL report --by function -n 0 --format json | jq -c '[.rows[] | select(.function | "
                      "startswith(\"frames_\")) | .calls] | sort'",
                      "echo '[99,99,198,297]'");
}

Test(e2e_calls_to, from_frames_of_each_kind)
{
    static const char *const compile[] = {
        "gcc -O2",
        "gcc -O1 -fno-plt",
        "gcc -O0",
        "gcc -Os -mno-push-args",
        "gcc -O2 -no-pie -fno-pie",
        "clang -O2",
        "clang -O0",
        "clang -O1 -fuse-ld=lld",
        "gcc -O2 -fno-omit-frame-pointer",
        "gcc -O2 -fno-asynchronous-unwind-tables",
    };
    for (size_t i = 0; i < sizeof compile / sizeof *compile; i++)
        calls_check_frames(compile[i]);
}

/* Code of the large model computes the address of the slot, or of the linker's stub. */
Test(e2e_calls_to, from_code_of_the_large_model)
{
    free(run_well("gcc -O2 -mcmodel=large -fPIC -DMANY=1 -DONLY_MANY -c " SOURCES "frames.c -o many.o && "
                  "gcc -O2 -mcmodel=large -fPIC -fno-plt -DMANY=1 -DONLY_MANY -c " SOURCES "frames.c -o slot.o"));
    calls_check_frames("gcc -O2 -DMANY=0 many.o");
    calls_check_frames("gcc -O2 -DMANY=0 -Wl,-z,now many.o");
    calls_check_frames("gcc -O2 -fno-plt -DMANY=0 slot.o");
    calls_check_frames("gcc -O2 -fuse-ld=lld -DMANY=0 many.o");
}

/* The stub's own frame is that much smaller. */
Test(e2e_calls_to, frames_bound_what_is_copied)
{
    calls_check_frames("gcc -O2 -fomit-frame-pointer -fno-stack-protector");
    free(run_well("$DWELL record -q --overhead none --sample 0 --calls-to frames_small ./frames distance > with && "
                  "./frames distance > without"));
    calls_expect_same("small", "echo $(($(cat with) - $(cat without) < 512))", "echo 1");
    calls_check_frames("gcc -O2 -fno-asynchronous-unwind-tables");
    free(run_well("$DWELL record -q --overhead none --sample 0 --calls-to frames_small ./frames distance > with && "
                  "./frames distance > without"));
    calls_expect_same("unknown", "echo $(($(cat with) - $(cat without)))", "echo 1280");
}

/* ---- C++ ---- */

static void calls_check_thrown(const char *compile, const char *options)
{
    free(run_well("gcc -O1 -fPIC -c " SOURCES "callee.c -o callee.o"));
    free(run_well("%s -shared -fPIC " SOURCES "thrower.cc callee.o -o libthrower.so", compile));
    free(run_well("%s -w -finstrument-functions " SOURCES "thrown.cc -o thrown -pthread -L. -lthrower -Wl,-rpath,$PWD",
                  compile));
    free(run_well("./thrown > without"));
    free(run_well("$DWELL record -q %s --calls-to-all ./thrown > with", options));
    calls_expect_same(compile, "cat with", "cat without");
    calls_expect_same(compile,
                      "$DWELL report --by function -n 0 --format json | jq -c '[.rows[] | select(.function | "
                      "test(\"^(callee_throw|callee_catch|qsort)\")) | .calls | values] | sort'",
                      "echo '[4000,4000,4000]'");
}

Test(e2e_calls_to, exceptions)
{
    calls_check_thrown("g++ -O2 -g", "--overhead none");
    calls_check_thrown("g++ -O0", "--overhead none");
}

Test(e2e_calls_to, exceptions_with_a_budget)
{
    calls_check_thrown("g++ -O2 -fno-plt", "");
}

Test(e2e_calls_to, exceptions_of_clang)
{
    calls_check_thrown("clang++ -O2 -g", "--overhead none");
}

/* ---- names ---- */

/* libc has most functions under several names, and memory functions for several processors. */
Test(e2e_calls_to, names_of_libc)
{
    free(run_well("gcc -O1 -g -fno-builtin -finstrument-functions " SOURCES "named.c -o named"));
    free(run_well("$DWELL record -q --overhead none --calls-to-all ./named text > with"));
    calls_expect_same("named.c",
                      "$DWELL report --by function -n 0 --format json | jq -r '.rows[] | select(.module == "
                      "\"libc.so.6\") | \"\\(.function) \\(.calls)\"' | LC_ALL=C sort",
                      "printf 'free 20\nqsort 20\nstrdup 20\nstrlen 20\n'");
    calls_expect_same("named.c", "$DWELL info | grep '^libraries'",
                      "echo 'libraries       calls of 4 functions of libraries by 1 module are recorded'");
    calls_expect_same("named.c", "$DWELL info --format json | jq -c .library_calls",
                      "echo '{\"modules\":1,\"functions\":4}'");
    char *callers = run_well("$DWELL callers compare --format json | jq -r '.rows[].function' | head -2");
    cr_assert(has(callers, "qsort"), "%s", callers);
    free(callers);
}

/* ---- another count ---- */

/* Each number of calls is that of a preloaded library which counts them, and that of callgrind. Without tail calls,
 * each call of a library has the return address of its caller. */
static void calls_expect_counted(const char *how, const char *counter, const char *counts, int least)
{
    char *different = run_well("c++filt < %s | LC_ALL=C sort > sorted; test $(wc -l < sorted) -ge %d || cat sorted; "
                               "LC_ALL=C comm -23 sorted rows",
                               counts, least);
    cr_assert(eq(str, different, ""), "%s: %s", how, counter);
    free(different);
}

static void calls_check_counted(const char *compile, const char *options, int least)
{
    free(run_well("%s -Wno-psabi -finstrument-functions " SOURCES "real.cc -o real -pthread -lz -lcrypto", compile));
    char *without = run_well("LD_PRELOAD=./counter.so COUNTS=counts ./real");
    char *with = run_well("$DWELL record -q --sample 0 %s --calls-to-all ./real 2>errors", options);
    char *under =
        run_well("LD_BIND_NOW=1 valgrind -q --tool=callgrind --callgrind-out-file=out --demangle=no ./real && "
                 "python3 " SOURCES "callgrind.py out real > callgrind");
    cr_assert(eq(str, with, without), "%s", compile);
    cr_assert(eq(str, under, without), "%s", compile);
    free(without);
    free(with);
    free(under);
    free(run_well("$DWELL report --by function -n 0 --format json | jq -r '.rows[] | select(.calls) | "
                  "\"\\(.calls) \\(.function)\"' | LC_ALL=C sort > rows"));
    calls_expect_counted(compile, "preloaded", "counts", least);
    calls_expect_counted(compile, "callgrind", "callgrind", least);
}

struct calls_way {
    const char *compile, *options;
};

static void calls_check_ways(const struct calls_way *ways, size_t count, int least)
{
    free(run_well("gcc -O2 -fno-optimize-sibling-calls -shared -fPIC " SOURCES "counter.c -o counter.so -ldl"));
    for (size_t i = 0; i < count; i++)
        calls_check_counted(ways[i].compile, ways[i].options, least);
}

Test(e2e_calls_to, as_often_as_others_count)
{
    static const struct calls_way ways[] = {
        { "g++ -O0", "--overhead none" },
        { "g++ -O1 -Wl,-z,now", "--overhead none --mode profile" },
        { "g++ -O2 -no-pie -fno-pie -Wl,-z,lazy", "" },
        { "g++ -O3 -g -fuse-ld=lld", "--overhead none --call-sites" },
        { "g++ -O2 -fno-plt", "--overhead none" },
        { "g++ -O2 -g", "--overhead none --level 'counted=*'" },
        { "clang++ -O0 -g", "--mode profile" },
        { "clang++ -O2 -no-pie -Wl,-z,now", "--overhead none" },
        { "clang++ -O3 -fuse-ld=lld", "--overhead none" },
    };
    calls_check_ways(ways, sizeof ways / sizeof *ways, 12);
}

Test(e2e_calls_to, as_often_as_others_count_in_c)
{
    static const struct calls_way ways[] = {
        { "gcc -x c -O0 -no-pie -fno-pie -fno-plt", "--overhead none" },
        { "gcc -x c -O1", "--overhead none" },
        { "gcc -x c -O2 -g -Wl,-z,now", "" },
        { "gcc -x c -O3 -fno-plt -fuse-ld=lld", "--overhead none --level 'counted=*'" },
        { "clang -x c -O0 -fno-plt", "--overhead none" },
        { "clang -x c -O1 -fuse-ld=lld -Wl,-z,now", "--mode profile" },
        { "clang -x c -O3 -g -no-pie", "--overhead none" },
    };
    calls_check_ways(ways, sizeof ways / sizeof *ways, 8);
}

/* Calls of the system stay what they are, so waits keep their causes. */
Test(e2e_calls_to, what_the_runtime_takes_the_place_of)
{
    free(run_well("gcc -O1 -finstrument-functions " SOURCES "waiting.c -o waiting -pthread -Wl,-z,lazy"));
    free(run_well("$DWELL record -q --overhead none --calls-to-all ./waiting"));
    calls_expect_same("waiting.c",
                      "$DWELL waits --format json | jq -r '.rows[] | select(.function == \"waiter\" and .cause == "
                      "\"holder\") | .cause_function'",
                      "echo holder");
}

/* ---- libraries that are loaded while the program runs ---- */

static void calls_build_opener(const char *compile, const char *link)
{
    free(run_well("gcc -O1 -w -shared -fPIC " SOURCES "callee.c -o libcallee.so"));
    free(run_well("%s -fno-builtin -finstrument-functions -shared -fPIC " SOURCES
                  "opened.c -o libopened.so -L. -lcallee "
                  "-Wl,-rpath,$PWD %s",
                  compile, link));
    free(run_well("gcc -O1 -finstrument-functions " SOURCES "opener.c -o opener -pthread"));
}

/* 4 threads load the library 50 times each. Without samples, as these can add rows of what qsort calls in libc. */
static void calls_check_opened(const char *library, const char *mode, const char *options)
{
    char command[256];
    free(run_well("./opener %s 4 50 %s > without", library, mode));
    free(run_well(
        "$DWELL record -q --sample 0 %s --calls-to 'libcallee.so!*' --calls-to qsort --calls-to strlen ./opener %s 4 50 %s "
        "> with",
        options, library, mode));
    snprintf(command, sizeof command, "%s %s %s", library, mode, options);
    calls_expect_same(command, "cat with", "cat without");
    calls_expect_same(command,
                      "$DWELL report --by function -n 0 --format json | jq -r '[.rows[] | select(.function | "
                      "test(\"^(callee_|qsort|strlen|opened_run)\")) | \"\\(.function) \\(.calls)\"] | sort[]'",
                      "printf 'callee_ints 20000\ncallee_sum 20000\nopened_run 200\nqsort 200\nstrlen 20000\n'");
}

Test(e2e_calls_to, of_libraries_that_are_loaded_later)
{
    calls_build_opener("gcc -O2", "-Wl,-z,lazy");
    calls_check_opened("./libopened.so", "lazy", "--overhead none");
    calls_check_opened("./libopened.so", "now", "");
    calls_check_opened("$PWD/libopened.so", "deep", "--overhead none");
    char *loaded = run_well("cat with");
    cr_assert(has(loaded, " is gone\n"), "%s", loaded);
    free(loaded);
    calls_expect_same("opened.c", "$DWELL info | grep '^libraries'",
                      "echo 'libraries       calls of 4 functions of libraries by 1 module are recorded'");
}

Test(e2e_calls_to, of_libraries_that_are_loaded_later_bound_at_once)
{
    calls_build_opener("gcc -O2 -g -fno-plt", "-Wl,-z,now");
    calls_check_opened("./libopened.so", "lazy", "--mode profile");
    calls_check_opened("./libopened.so", "deep", "--overhead none");
}

/* The loader searches for such a name where the caller's file says. */
Test(e2e_calls_to, of_libraries_that_are_loaded_by_name)
{
    calls_build_opener("gcc -O2", "");
    free(run_well(
        "LD_LIBRARY_PATH=$PWD $DWELL record -q --overhead none --calls-to callee_ints ./opener libopened.so 1 20"));
    calls_expect_same("by name", RECORDED, "echo 2000");
}

Test(e2e_calls_to, of_programs_that_are_executed)
{
    free(run_well("gcc -O1 -fno-builtin -finstrument-functions " SOURCES "named.c -o named"));
    free(run_well("$DWELL record -q --overhead none --calls-to qsort sh -c './named text; ./named other' 2> errors"));
    calls_expect_same("sh",
                      "$DWELL report --by function -n 0 --format json | jq '.rows[] | select(.function == \"qsort\") "
                      "| .calls'",
                      "echo 40");
    calls_expect_same(
        "sh", "cat errors",
        "echo \"dwell: --calls-to 'qsort': no function that the program calls now is named so; libraries and "
        "programs that come later may have it\"");
}

/* ---- levels and filters ---- */

#define NAMED_ROWS                                                                                                     \
    "$DWELL report --by function -n 0 --format json | jq -r '.rows[] | select(.module == \"libc.so.6\") | "            \
    "\"\\(.function) \\(.calls) \\(.timed_calls)\"' | LC_ALL=C sort"

/* Arguments of each kind reach a function whose calls are counted or out, and each counted call is counted. */
Test(e2e_calls_to, counted)
{
    calls_check("gcc -O2", "--overhead none --level 'counted=callee_*'");
    calls_expect_same("timed",
                      "$DWELL report --by function -n 0 --format json | jq -c '[.rows[] | select(.function | "
                      "startswith(\"callee_\")) | .timed_calls] | unique'",
                      "echo '[0]'");
    calls_check("gcc -O2 -fno-plt -Wl,-z,now", "--mode profile --level 'counted=callee_*'");
}

Test(e2e_calls_to, counted_and_thrown_through)
{
    calls_check_thrown("g++ -O2 -g", "--overhead none --level 'counted=callee_*' --level counted=qsort");
}

Test(e2e_calls_to, out)
{
    calls_build("gcc -O2");
    free(run_well("$DWELL record -q --overhead none --calls-to 'callee_*' --level 'out=callee_*' ./caller > with"));
    calls_expect_same("out", "cat with", "cat without");
    calls_expect_same("out", RECORDED, "echo null");
}

Test(e2e_calls_to, levels_of_libraries_that_are_loaded_later)
{
    calls_build_opener("gcc -O2", "");
    calls_check_opened("./libopened.so", "lazy", "--overhead none --level 'counted=callee_*'");
    calls_check_opened("./libopened.so", "now", "--level counted=strlen --level counted=qsort");
}

/* A call is either timed or counted, whatever its level becomes meanwhile. */
Test(e2e_calls_to, levels_that_change)
{
    calls_build_opener("gcc -O2", "");
    free(run_well("$DWELL record -q --overhead none --calls-to 'libcallee.so!*' sh -c 'echo $$ > pid; exec ./opener "
                  "./libopened.so 2 2000' > with 2>errors & "
                  "while [ ! -s pid ]; do sleep 0.01; done; "
                  "while kill -0 $(cat pid) 2>/dev/null; do for level in counted timed; do "
                  "$DWELL control $(cat pid) level \"$level=callee_*\" >>log 2>&1; done; done; wait"));
    calls_expect_same("changes", RECORDED, "echo 800000");
}

Test(e2e_calls_to, moved_by_the_budget)
{
    free(run_well("gcc -O1 -w -shared -fPIC " SOURCES "callee.c -o libcallee.so"));
    free(run_well("gcc -O1 -finstrument-functions " SOURCES "hot.c -o hot -L. -lcallee -Wl,-rpath,$PWD"));
    free(run_well("$DWELL record -q --overhead 2%% --calls-to 'libcallee.so!*' ./hot"));
    calls_expect_same("hot.c",
                      "$DWELL report --by function -n 0 --format json | jq -r '.rows[] | select(.function == "
                      "\"callee_ints\") | \"\\(.calls) \\(.timed_calls == .calls)\"'",
                      "echo 20000000 false");
}

Test(e2e_calls_to, filters_name_functions)
{
    free(run_well("gcc -O1 -fno-builtin -finstrument-functions " SOURCES "named.c -o named"));
    free(run_well("$DWELL record -q --overhead none --calls-to-all --only qsort --only main ./named text > with"));
    calls_expect_same("only", NAMED_ROWS, "echo qsort 20 null");
    free(run_well(
        "$DWELL record -q --overhead none --calls-to-all --suppress qsort --suppress 'str*' ./named text > with"));
    calls_expect_same("suppress", NAMED_ROWS, "echo free 20 null");
    free(run_well(
        "$DWELL record -q --overhead none --calls-to-all --level counted=strlen --level out=free ./named text > with"));
    calls_expect_same("level", NAMED_ROWS, "printf 'qsort 20 20\\nstrdup 20 20\\nstrlen 20 0\\n'");
}

/* ---- under other tools ---- */

/* The functions are those of the sanitizer, which takes the place of libc's. */
Test(e2e_calls_to, with_a_sanitizer)
{
    free(run_well("gcc -O1 -g -fsanitize=address,undefined -fno-builtin -finstrument-functions " SOURCES
                  "named.c -o named"));
    free(run_well("$DWELL record -q --overhead none --sample 0 --calls-to-all ./named text > with 2>errors"));
    calls_expect_same("sanitizer", "cat with errors", "./named text");
    calls_expect_same("sanitizer",
                      "$DWELL report --by function -n 0 --format json | jq -r '.rows[] | select(.function | "
                      "test(\"^(free|qsort|strdup|strlen)$\")) | \"\\(.function) \\(.calls)\"' | LC_ALL=C sort",
                      "printf 'free 20\\nqsort 20\\nstrdup 20\\nstrlen 20\\n'");
    calls_build("gcc -O1 -g -fsanitize=address");
    free(run_well("$DWELL record -q --overhead none --calls-to 'callee_*' ./caller > with 2>errors"));
    calls_expect_same("sanitizer", "cat with errors", "cat without");
    calls_expect_same("sanitizer", RECORDED, PRINTED);
}

/* valgrind reports no error: stubs read and copy only what callers have written, or what nobody uses. */
Test(e2e_calls_to, under_valgrind)
{
    struct ran has_it = run("command -v valgrind");
    const bool there = has_it.status == 0;
    ran_drop(&has_it);
    if (!there)
        cr_skip_test("there is no valgrind here");
    free(run_well("gcc -O1 -g -fno-builtin -finstrument-functions " SOURCES "named.c -o named"));
    free(run_well(
        "$DWELL record -q --overhead none --calls-to-all -- valgrind -q --error-exitcode=9 ./named text > with"));
    calls_expect_same("valgrind", "cat with", "./named text");
    calls_expect_same("valgrind", NAMED_ROWS,
                      "printf 'free 20 null\\nqsort 20 null\\nstrdup 20 null\\nstrlen 20 null\\n'");
    calls_build("gcc -O1");
    free(run_well("$DWELL record -q --overhead none --calls-to 'callee_*' -- valgrind -q --error-exitcode=9 ./caller "
                  "> with"));
    calls_expect_same("valgrind", "cat with", "cat without");
    calls_expect_same("valgrind", RECORDED, PRINTED);
}

/* ---- dwell control PID stop ---- */

/* The slots lead to the functions again. The call of qsort that has begun ends as it would have. */
Test(e2e_calls_to, stopped)
{
    free(run_well("gcc -O1 -w -shared -fPIC " SOURCES "callee.c -o libcallee.so"));
    free(run_well("gcc -O1 -fno-builtin -finstrument-functions " SOURCES
                  "served.c -o served -L. -lcallee -Wl,-rpath,$PWD"));
    char *out = run_well("mkfifo in out; $DWELL record -q --overhead none --calls-to-all ./served < in > out & "
                         "exec 3> in 4< out; read pid <&4; run() { echo $1 >&3; read answer <&4; echo $answer; }; "
                         "run 30; run into; $DWELL control $pid stop 2>&1; run 0; run 40; "
                         "exec 3>&-; wait; rm in out");
    cr_assert(eq(str, out, "0 of 30 direct, 0 differ\ninside\n0 of 0 direct, 0 differ\n40 of 40 direct, 0 differ\n"));
    free(out);
    calls_expect_same("stopped",
                      "$DWELL report --by function -n 0 --format json | jq -c '[.rows[] | select(.function | "
                      "test(\"^(callee_|qsort)\")) | \"\\(.function) \\(.calls)\"] | sort'",
                      "echo '[\"callee_ints 30\",\"callee_return 30\",\"qsort 1\"]'");
}

/* ---- what cannot be recorded ---- */

static void calls_expect_error(const char *program, const char *options, const char *expected)
{
    char *error =
        run_well("$DWELL record --calls-to %s -o none.data ./%s text 2>&1; test $? -eq 125", options, program);
    cr_assert(eq(str, error, (char *)expected), "%s", options);
    free(error);
    free(run_well("test ! -e none.data"));
}

Test(e2e_calls_to, errors)
{
    free(run_well("gcc -O1 -fno-builtin -finstrument-functions " SOURCES "named.c -o named"));
    calls_expect_error("named", "qsrt",
                       "dwell: --calls-to: no function of a library that the instrumented code of ./named calls is "
                       "named 'qsrt'; did you mean 'qsort'?\n");
    calls_expect_error("named", "'libc.so!qsort'",
                       "dwell: --calls-to: no function of a library that the instrumented code of ./named calls is "
                       "named 'libc.so!qsort'; did you mean 'libc.so.6!qsort'?\n");
    calls_expect_error("named", "'libc.so*!qsrt'",
                       "dwell: --calls-to: no function of a library that the instrumented code of ./named calls is "
                       "named 'libc.so*!qsrt'; did you mean 'libc.so*!qsort'?\n");
    calls_expect_error("named", "'re:('", "dwell: --calls-to: 're:(': Unmatched ( or \\(\n");
}

/* The static library changes no slots. */
Test(e2e_calls_to, in_programs_that_contain_the_runtime)
{
    free(run_well("gcc -O1 -fno-builtin -finstrument-functions " SOURCES
                  "named.c -o contains ${RUNTIME%%%%.so.0}.a -pthread"));
    calls_expect_error(
        "contains", "qsort",
        "dwell: --calls-to 'qsort': calls of qsort are left alone: the program contains libdwell.a; link "
        "it with libdwell.so (-ldwell)\n");
    free(run_well(
        "$DWELL record --calls-to-all ./contains 2>&1 | grep -q 'contains libdwell.a, which does not record'"));
}

static void calls_expect_left_alone(const char *program, const char *options, const char *function, const char *reason)
{
    char expected[256];
    snprintf(expected, sizeof expected, "dwell: --calls-to '%s': calls of %s are left alone: %s\n", function, function,
             reason);
    calls_expect_error(program, options, expected);
}

/* The function need not be called: the header gives it another name. */
Test(e2e_calls_to, only_what_is_left_alone)
{
    free(run_well("gcc -O1 -fno-builtin -finstrument-functions " SOURCES "left_alone.c -o left_alone"));
    free(run_well("gcc -O1 -finstrument-functions " SOURCES
                  "left_alone.c -o linked $RUNTIME -Wl,-rpath,${RUNTIME%%/*}"));
    free(run_well("gcc -O1 -fno-plt -fno-builtin -finstrument-functions " SOURCES "addressed.c -o addressed"));
    static const char *const programs[] = { "left_alone", "linked" };
    for (int i = 0; i < 2; i++) {
        calls_expect_left_alone(programs[i], "__libc_start_main", "__libc_start_main", "it does not return");
        calls_expect_left_alone(programs[i], "_setjmp", "_setjmp", "it returns twice");
        calls_expect_left_alone(programs[i], "setjmp", "setjmp", "it returns twice");
        calls_expect_left_alone(programs[i], "signal", "signal", "the recording takes their place itself");
        calls_expect_left_alone(programs[i], "pthread_mutex_lock", "pthread_mutex_lock",
                                "they have rows as calls of the system already");
        calls_expect_left_alone(programs[i], "pthread_mutex_lock --no-os-calls", "pthread_mutex_lock",
                                "--no-os-calls leaves their rows out");
    }
    calls_expect_left_alone("addressed", "abs", "abs", "the code takes its address from the same slot");
    char *error = run_well("$DWELL record --calls-to 'pthread_*' ./left_alone 2>&1; test $? -eq 125");
    cr_assert(has(error, "they have rows as calls of the system already; likewise those of others\n"), "%s", error);
    free(error);
    error = run_well("$DWELL record -q --overhead none --calls-to 's*' --calls-to abs ./left_alone 2>&1");
    cr_assert(eq(str, error, ""), "another function has the name, too");
    free(error);
}
