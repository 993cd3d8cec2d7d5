/* Calls of functions that are linked into the same module, as from an archive: nothing but an instruction leads there.
 */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/run.h"

TestSuite(e2e_direct_calls, .timeout = 600);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/calls_to/"
#define ROWS "$DWELL report --by function -n 0 --format json | jq "
#define RECORDED ROWS "'[.rows[] | select(.function | startswith(\"callee_\")) | .calls] | add'"
#define PRINTED "sed -n 's/^calls //p' with"

static void direct_expect_same(const char *how, const char *one, const char *other)
{
    char *first = run_well("%s", one), *second = run_well("%s", other);
    cr_assert(eq(str, first, second), "%s: %s", how, one);
    cr_assert(ne(int, *first, 0));
    free(first);
    free(second);
}

static void direct_archive(const char *compile)
{
    free(run_well("%s -w -fPIC -c " SOURCES "callee.c -o callee.o && rm -f libcallee.a && ar rcs libcallee.a callee.o",
                  compile));
}

static void direct_check(const char *compile, const char *options)
{
    direct_archive(compile);
    free(run_well("%s -w -finstrument-functions " SOURCES "caller.c -o caller -pthread -L. -lcallee", compile));
    free(run_well("./caller > without"));
    free(run_well("$DWELL record -q %s --calls-to 'callee_*' ./caller > with 2>errors", options));
    direct_expect_same(compile, "cat with errors", "cat without");
    direct_expect_same(compile, RECORDED, PRINTED);
}

/* ---- arguments and results of each kind ---- */

Test(e2e_direct_calls, of_gcc)
{
    direct_check("gcc -O0 -g", "--overhead none");
    direct_check("gcc -O1 -no-pie -fno-pie", "--overhead none --call-sites");
    direct_check("gcc -O2", "--overhead none");
    direct_check("gcc -O3 -g", "--mode profile");
    direct_check("gcc -O2 -fno-plt -no-pie -fno-pie", "--overhead none");
}

Test(e2e_direct_calls, of_clang)
{
    direct_check("clang -O0", "--overhead none");
    direct_check("clang -O2 -g", "--overhead none");
    direct_check("clang -O3 -fuse-ld=lld", "--mode profile");
    direct_check("clang -O1 -no-pie", "--overhead none");
}

Test(e2e_direct_calls, counted_and_out)
{
    direct_check("gcc -O2", "--overhead none --level 'counted=callee_*'");
    direct_expect_same("timed",
                       ROWS "-c '[.rows[] | select(.function | startswith(\"callee_\")) | .timed_calls] | unique'",
                       "echo '[0]'");
    direct_check("clang -O2", "--mode profile --level 'counted=callee_*'");
    free(run_well("$DWELL record -q --overhead none --calls-to 'callee_*' --level 'out=callee_*' ./caller > with"));
    direct_expect_same("out", "cat with", "cat without");
    direct_expect_same("out", RECORDED, "echo null");
}

Test(e2e_direct_calls, with_a_budget)
{
    direct_check("gcc -O2", "--overhead 1%");
    free(run_well("gcc -O1 -finstrument-functions " SOURCES "hot.c -o hot -L. -lcallee"));
    free(run_well("$DWELL record -q --overhead 2%% --calls-to callee_ints ./hot"));
    direct_expect_same("hot.c",
                       ROWS "-r '.rows[] | select(.function == \"callee_ints\") | \"\\(.calls) \\(.timed_calls == "
                            ".calls)\"'",
                       "echo 20000000 false");
}

/* Samples find the code that calls lead to, which is part of no module, and no function. */
Test(e2e_direct_calls, stubs_are_no_functions)
{
    direct_archive("gcc -O2");
    free(run_well("gcc -O1 -finstrument-functions " SOURCES "hot.c -o hot -L. -lcallee"));
    free(run_well("$DWELL record -q --sample 1000 --mode profile --overhead none --calls-to callee_ints ./hot"));
    direct_expect_same("hot.c", ROWS "-r '.rows[] | select(.function == \"callee_ints\") | .calls'", "echo 20000000");
    direct_expect_same("hot.c", ROWS "'[.rows[] | select(.module == \"[unknown]\")] | length'", "echo 0");
}

/* Nobody has named them. */
Test(e2e_direct_calls, not_without_a_pattern)
{
    direct_archive("gcc -O2");
    free(run_well("gcc -O2 -w -finstrument-functions " SOURCES "caller.c -o caller -pthread -L. -lcallee"));
    free(run_well("$DWELL record -q --overhead none --calls-to-all ./caller > with"));
    direct_expect_same("all", RECORDED, "echo null");
    free(run_well("$DWELL record -q --overhead none --calls-to callee_s1 ./caller > with"));
    direct_expect_same("one", RECORDED, "echo 8000");
}

/* Functions with probes have their rows once. */
Test(e2e_direct_calls, of_functions_with_probes)
{
    direct_archive("gcc -O2");
    free(run_well("gcc -O1 -w -finstrument-functions " SOURCES "caller.c -o caller -pthread -L. -lcallee"));
    free(run_well("$DWELL record -q --overhead none --calls-to 'module:caller' ./caller > with"));
    direct_expect_same("module:caller", RECORDED, PRINTED);
    direct_expect_same("module:caller",
                       ROWS "-c '[.rows[] | select(.function | test(\"^(once|leaving|thread|main)$\")) | .calls] | "
                            "sort'",
                       "echo '[1,4,8000,8000]'");
}

/* ---- signals, forks, exceptions ---- */

static void direct_check_linked(const char *compile, const char *options)
{
    direct_archive(compile);
    free(run_well("%s -w -DPROGRAM -finstrument-functions " SOURCES "linked.c -o linked -pthread -L. -lcallee",
                  compile));
    free(run_well("./linked | head -1 > without"));
    free(run_well("$DWELL record -q %s --calls-to 'callee_*' ./linked > with", options));
    direct_expect_same(compile, "head -1 with", "cat without");
    direct_expect_same(compile, RECORDED, PRINTED);
}

Test(e2e_direct_calls, in_signal_handlers_and_forked_children)
{
    direct_check_linked("gcc -O2", "--overhead none");
    direct_check_linked("clang -O1 -g", "--overhead none --level 'counted=callee_*'");
    direct_check_linked("gcc -O0 -no-pie -fno-pie", "");
}

/* A signal takes the stack below the stack pointer. So a stub lowers it and leaves it there until it returns: it never
 * takes its frame's end (0x18(%rbp)) for a moment, as a step to where it belongs. */
Test(e2e_direct_calls, stubs_keep_what_lies_in_their_frame)
{
    char *out =
        run_well("objdump -d --no-show-raw-insn --disassemble=call_stub_common $RUNTIME | grep -o '[^\t]*,%%rsp' "
                 "| tr -s ' '");
    cr_assert(eq(str, out,
                 "lea -0x50(%rsp),%rsp\n"
                 "lea 0x18(%rbp,%rax,1),%rsp\n"
                 "and $0xfffffffffffffff0,%rsp\n"
                 "lea -0xe8(%rbp),%rsp\n"
                 "and $0xfffffffffffffff0,%rsp\n"
                 "lea 0x8(%rsp),%rsp\n"
                 "lea -0x68(%rbp),%rsp\n"
                 "lea -0x268(%rbp),%rsp\n"
                 "lea -0x4e8(%rbp),%rsp\n"));
    free(out);
}

static void direct_check_thrown(const char *compile, const char *options)
{
    direct_archive("gcc -O1");
    free(run_well("%s -c " SOURCES "thrower.cc -o thrower.o && ar rcs libcallee.a thrower.o", compile));
    free(run_well("%s -w -finstrument-functions " SOURCES "thrown.cc -o thrown -pthread -L. -lcallee", compile));
    free(run_well("./thrown > without"));
    free(run_well("$DWELL record -q %s --calls-to 're:^callee_' ./thrown > with", options));
    direct_expect_same(compile, "cat with", "cat without");
    direct_expect_same(compile,
                       ROWS "-c '[.rows[] | select(.function | test(\"^callee_(throw|catch|back)\")) | .calls] | sort'",
                       "echo '[4000,4000,4001]'");
}

Test(e2e_direct_calls, exceptions)
{
    direct_check_thrown("g++ -O2 -g", "--overhead none");
    direct_check_thrown("g++ -O0 -no-pie -fno-pie", "--overhead none --level 'counted=callee_*'");
    direct_check_thrown("clang++ -O2", "");
}

/* ---- frames ---- */

/* A signal may interrupt the code near the module, which leads to a stub or counts the call. */
static void direct_check_stepped(const char *options)
{
    free(run_well("./stepped > without && $DWELL record -q --overhead none %s --calls-to 'callee_*' ./stepped > with",
                  options));
    direct_expect_same("without", "cat without", "echo stepped, in modules, 0 lost");
    direct_expect_same(options, "cat with", "echo stepped, outside of modules, 0 lost");
    direct_expect_same(options, RECORDED, "echo 100");
}

Test(e2e_direct_calls, frames_of_code_near_the_module)
{
    free(run_well("gcc -O1 -D_GNU_SOURCE -w -finstrument-functions " SOURCES "stepped.c -o stepped"));
    direct_check_stepped("");
    direct_check_stepped("--mode profile");
    direct_check_stepped("--level 'counted=callee_*'");
    direct_check_stepped("--level 'counted=*'");
}

static void direct_check_unframed(const char *compile, const char *options)
{
    free(run_well("gcc -w -fPIC -shared -DLIBRARY " SOURCES
                  "unframed.c -o libunframed.so && gcc -w -c -DLIBRARY " SOURCES "unframed.c -o part.o"));
    free(run_well("%s -w -finstrument-functions " SOURCES
                  "unframed.c -o unframed -L. -lunframed -Wl,-rpath,$PWD && %s -w -finstrument-functions " SOURCES
                  "unframed.c part.o -o linked",
                  compile, compile));
    for (int i = 0; i < 2; i++) {
        free(run_well("$DWELL record -q %s --calls-to 'callee_*' %s > with", options, i ? "./linked" : "./unframed"));
        direct_expect_same(compile, "head -1 with", "echo 400 backtraces, 400 with main");
        direct_expect_same(compile, RECORDED, "echo 400");
    }
}

/* At the end of a throw, registers have other values than the frames say, before the stack pointer has. */
Test(e2e_direct_calls, frames_of_stubs_need_the_stack_pointer_only)
{
    direct_check_unframed("gcc -O1 -g", "--overhead none");
    direct_check_unframed("gcc -O2", "--overhead none");
    direct_check_unframed("clang -O2 -g", "--overhead none --level 'counted=callee_*'");
}

/* ---- what compilers know of functions ---- */

/* A function that is compiled together with its caller may leave registers as they were. */
static void direct_check_together(const char *compile, const char *options)
{
    free(run_well("%s -finstrument-functions " SOURCES "together.c -o together", compile));
    free(run_well("./together > without"));
    free(run_well("$DWELL record -q %s --calls-to leaf ./together > with", options));
    direct_expect_same(compile, "cat with", "cat without");
    direct_expect_same(compile, ROWS "'.rows[] | select(.function == \"leaf\") | .calls'", "echo 6000");
}

Test(e2e_direct_calls, of_functions_that_keep_registers)
{
    direct_check_together("gcc -O2", "--overhead none");
    direct_check_together("gcc -O3 -mavx2", "--overhead none --level counted=leaf");
    direct_check_together("gcc -O2 -g -flto", "--mode profile");
    direct_check_together("clang -O2", "--overhead none");
}

/* All of them, through all that a stub can do: usual calls, a thread's first one, what signals change. */
static void direct_check_registers(const char *options, const char *calls)
{
    free(run_well("$DWELL record -q %s --calls-to keeps_all ./registers > with", options));
    direct_expect_same(options, "cat with", "echo 100000 calls, changed: 0");
    if (calls)
        direct_expect_same(options, ROWS "'.rows[] | select(.function == \"keeps_all\") | .calls'", calls);
}

Test(e2e_direct_calls, registers_are_kept)
{
    free(run_well("gcc -O2 -mno-red-zone -finstrument-functions " SOURCES "registers.c -o registers -pthread"));
    direct_check_registers("--overhead none", "echo 100000");
    direct_check_registers("--overhead none --level counted=keeps_all", "echo 100000");
    direct_check_registers("--overhead none --call-sites", "echo 100000");
    direct_check_registers("--overhead none --only keeps_all", "echo 100000");
    direct_check_registers("--overhead none --only keeps_all --call-sites", "echo 100000");
    direct_check_registers("--mode profile", "echo 100000");
    direct_check_registers("--mode profile --call-sites --only keeps_all", "echo 100000");
    direct_check_registers("--mode profile --suppress keeps_all", NULL);
    direct_check_registers("--overhead 1%", "echo 100000");
    direct_check_registers("--overhead none --keep 'keeps_all>p99'", NULL);
    free(run_well(
        "$DWELL record -q --overhead none --paused --calls-to keeps_all sh -c './registers; true' > with 2>&1 || "
        "true"));
    direct_expect_same("--paused", "grep changed with", "echo 100000 calls, changed: 0");
}

/* A stub keeps no vector registers for a usual call: what records it uses none, and what it leaves to others keeps them
 * itself. */
Test(e2e_direct_calls, usual_calls_use_general_registers)
{
    char *found = run_well("python3 " DWELL_CONSUMERS
                           "/general_registers.py $RUNTIME slow_take,call_stub_copy_some,call_stub_watched_exit,"
                           "duration_rows_add "
                           "call_stub_common dwell_own_memcpy dwell_own_memmove dwell_own_memset dwell_own_memcmp");
    cr_assert(eq(str, found,
                 "call_stub_common calls through a pointer: call   *(%rbx)\n"
                 "call_stub_common calls through a pointer: call   *(%rbx)\n"
                 "call_stub_common calls through a pointer: call   *(%rbx)\n"
                 "call_stub_common calls through a pointer: call   *(%rbx)\nmany functions read\n"));
    free(found);
}

static void direct_check_compiled(const char *compiler, const char *files)
{
    char *found =
        run_well("python3 " DWELL_CONSUMERS "/compiled_otherwise.py \"$(dirname $DWELL)/..\" '%s' %s", compiler, files);
    char *right = run_well("echo read %s", files);
    cr_assert(eq(str, found, right), "%s", compiler);
    free(found);
    free(right);
}

/* What keeps vector registers keeps their low halves. A build for the newest machines uses no more of them. What clang
 * makes a call of memset is no call of libc's, which uses whole ones. */
Test(e2e_direct_calls, all_builds_use_halves_of_vector_registers)
{
    direct_check_compiled("gcc -O3 -mavx512vl -mavx512bw", "record/trace.c record/kept.c levels/near_calls.c");
    direct_check_compiled("clang -mavx2", "record/trace.c record/filtered.c base/own_libc.c");
}

/* A declaration is that of another unit's function with the same name. */
static void direct_check_alike(const char *compile)
{
    free(run_well("%s -finstrument-functions -DLIBRARY -c " SOURCES
                  "alike.c -o other.o && %s -finstrument-functions " SOURCES "alike.c other.o -o alike",
                  compile, compile));
    free(run_well("./alike > without"));
    free(run_well("$DWELL record -q --overhead none --calls-to alike ./alike > with"));
    direct_expect_same(compile, "cat with", "cat without");
    direct_expect_same(compile, ROWS "-c '[.rows[] | select(.function == \"alike\") | .calls] | sort'",
                       "echo '[1,100]'");
}

Test(e2e_direct_calls, of_functions_that_have_the_same_name)
{
    direct_check_alike("gcc -O1 -g");
    direct_check_alike("clang -w -O2 -g");
}

/* ---- libraries ---- */

/* 4 threads load the library 50 times each, so other threads run when its calls are changed. */
static void direct_check_opened(const char *compile, const char *link, const char *options)
{
    direct_archive(compile);
    free(run_well("%s -w -finstrument-functions -shared -fPIC " SOURCES "linked.c -o libopened.so -L. -lcallee %s",
                  compile, link));
    free(run_well("gcc -O1 -finstrument-functions " SOURCES "opener.c -o opener -pthread"));
    free(run_well("./opener ./libopened.so 4 50 > without"));
    free(run_well("$DWELL record -q --sample 0 %s --calls-to callee_ints ./opener ./libopened.so 4 50 > with 2>errors",
                  options));
    direct_expect_same(link, "cat with", "cat without");
    direct_expect_same(link, RECORDED, "echo 51200");
}

Test(e2e_direct_calls, of_libraries_that_are_loaded_later)
{
    direct_check_opened("gcc -O2", "-Wl,-Bsymbolic", "--overhead none");
    direct_check_opened("gcc -O0", "-Wl,--exclude-libs,ALL", "--overhead none --level counted=callee_ints");
    direct_check_opened("clang -O2", "-Wl,-Bsymbolic -fuse-ld=lld", "");
}

/* Another module's function may take the place of one that is not hidden. So calls lead to a stub of the linker. */
Test(e2e_direct_calls, of_functions_that_libraries_export)
{
    direct_check_opened("gcc -O2", "", "--overhead none");
    direct_check_opened("gcc -O1", "-Wl,-z,now", "--overhead none");
    direct_check_opened("clang -O1", "-fuse-ld=lld", "--overhead none");
}

Test(e2e_direct_calls, of_functions_that_libraries_export_without_stubs)
{
    direct_check_opened("gcc -O1 -fno-plt", "", "--overhead none");
    direct_check_opened("gcc -O0 -fno-plt", "", "--overhead none --level counted=callee_ints");
    direct_check_opened("clang -O0 -fno-plt", "-fuse-ld=lld", "");
}

#define NAMED_ROWS                                                                                                     \
    ROWS "-r '.rows[] | select(.function | test(\"^(taken|kept)$\")) | \"\\(.function) \\(.module) \\(.calls)\"' | "   \
         "LC_ALL=C sort"

static void direct_check_interposed(const char *link, const char *other, const char *program)
{
    free(run_well("gcc -O1 -fPIC -DPART -c " SOURCES
                  "interposed.c -o part.o && gcc -O1 %s -fPIC -shared -DOTHER " SOURCES
                  "interposed.c -o libother.so && gcc -O1 -finstrument-functions -fPIC -shared %s -DLIBRARY " SOURCES
                  "interposed.c part.o -o libopened.so",
                  other, link));
    free(run_well("gcc -O1 -finstrument-functions " SOURCES "interposed.c -o interposed -L. -Wl,--no-as-needed -lother "
                  "-lopened -Wl,-rpath,$PWD && gcc -O1 -finstrument-functions " SOURCES
                  "opener.c -o opener -pthread -L. -Wl,--no-as-needed -lother -Wl,-rpath,$PWD"));
    free(run_well("%s > without && $DWELL record -q --overhead none --calls-to 're:^(taken|kept)$' %s > with", program,
                  program));
    direct_expect_same(link, "cat with", "cat without");
    direct_expect_same(program, NAMED_ROWS, "printf 'kept libopened.so 1000\ntaken libother.so 1000\n'");
}

/* The loader gives the library another one's function. It has its row under its own module, and only one row. */
Test(e2e_direct_calls, of_functions_that_another_library_takes)
{
    direct_check_interposed("-Wl,-z,lazy", "", "./interposed");
    direct_check_interposed("-Wl,-z,now", "", "./interposed");
    direct_check_interposed("-Wl,-z,now", "", "./opener ./libopened.so 1 1");
    direct_check_interposed("-Wl,-z,lazy", "-finstrument-functions", "./interposed");
    direct_check_interposed("-fno-plt", "", "./interposed");
    direct_check_interposed("-fno-plt", "-finstrument-functions", "./opener ./libopened.so 1 1");
    direct_check_interposed("-fuse-ld=lld", "-finstrument-functions", "./interposed");
}

Test(e2e_direct_calls, of_functions_with_versions)
{
    static const char *const compile[] = { "gcc -O2", "gcc -O1 -no-pie -fno-pie", "clang -O2 -fuse-ld=lld" };
    for (size_t i = 0; i < sizeof compile / sizeof *compile; i++) {
        free(run_well("%s -DLIBRARY -c " SOURCES "versions.c -o chosen.o && %s -finstrument-functions " SOURCES
                      "versions.c chosen.o -o versions",
                      compile[i], compile[i]));
        free(run_well("$DWELL record -q --overhead none --calls-to chosen ./versions > with"));
        direct_expect_same(compile[i], "cat with", "echo 1000");
        direct_expect_same(compile[i], ROWS "'.rows[] | select(.function == \"chosen\") | .calls'", "echo 1000");
    }
}

/* zlib's own calls are part of the calls that the program makes. */
Test(e2e_direct_calls, as_often_as_callgrind_counts)
{
    struct ran has_it = run("command -v valgrind && gcc -print-file-name=libz.a | grep /");
    const bool there = has_it.status == 0;
    ran_drop(&has_it);
    if (!there)
        cr_skip_test("there is no valgrind here, or no libz.a");
    free(run_well("gcc -O2 -g -x c -finstrument-functions " SOURCES "real.cc -o real -pthread -x none "
                  "$(gcc -print-file-name=libz.a) -lcrypto"));
    free(run_well("./real > without"));
    free(run_well("$DWELL record -q --sample 0 --overhead none --calls-to compress2 --calls-to uncompress --calls-to "
                  "crc32 --calls-to adler32 ./real > with"));
    direct_expect_same("real.cc", "cat with", "cat without");
    free(run_well(
        "valgrind -q --tool=callgrind --callgrind-out-file=out --compress-strings=no --compress-pos=no ./real"));
    direct_expect_same(
        "real.cc",
        ROWS "-r '.rows[] | select(.function | test(\"^(compress2|uncompress|crc32|adler32)$\")) | "
             "\"\\(.function) \\(.calls)\"' | LC_ALL=C sort",
        "awk '/^fn=/ { of = substr($0, 4) } /^cfn=/ { callee = substr($0, 5) } "
        "/^calls=/ { split($1, n, \"=\"); if (of ~ /^(compressed|thread)/) sum[callee] += n[2] } "
        "END { for (f in sum) if (f ~ /^(compress2|uncompress|crc32|adler32)$/) print f, sum[f] }' out | "
        "LC_ALL=C sort");
}

/* clang keeps the address of a function that it calls several times in a register. */
Test(e2e_direct_calls, not_through_pointers)
{
    direct_archive("gcc -O2");
    free(run_well("clang -O1 -fno-plt -w -finstrument-functions " SOURCES "caller.c -o caller -pthread -L. -lcallee"));
    char *errors = run_well("$DWELL record --calls-to callee_sum ./caller 2>&1; test $? -eq 125");
    cr_assert(eq(str, errors,
                 "dwell: --calls-to 'callee_sum': calls of callee_sum are left alone: the code calls it "
                 "through pointers only\n"));
    free(errors);
    free(run_well("$DWELL record -q --overhead none --calls-to callee_s1 ./caller >with 2>errors"));
    direct_expect_same("clang -fno-plt", RECORDED, "echo 8000");
    direct_expect_same("one", "wc -c <errors", "echo 0");
    errors = run_well("$DWELL record -q --overhead none --calls-to callee_s1 --calls-to 'callee_[s]um' ./caller 2>&1 "
                      ">with; test $? -eq 125");
    cr_assert(eq(str, errors,
                 "dwell: --calls-to 'callee_[s]um': calls of callee_sum are left alone: the code calls it "
                 "through pointers only\n"));
    free(errors);
    free(run_well("$DWELL record -q --overhead none --calls-to 'callee_s*' ./caller >with 2>errors"));
    direct_expect_same("glob", "cat errors",
                       "echo 'dwell: --calls-to: calls of callee_sum through pointers are not recorded, whose address "
                       "the code takes'");
}

/* ---- static programs ---- */

#define STATIC_ROWS                                                                                                    \
    ROWS "-r '.rows[] | select(.function | test(\"^(free|qsort|strdup|strlen)$\")) | \"\\(.function) \\(.calls) "      \
         "\\(.timed_calls)\"' | LC_ALL=C sort"

/* strlen has several versions. qsort calls a function of the program. */
Test(e2e_direct_calls, of_static_programs)
{
    static const char *const links[] = { "-static -Wl,--eh-frame-hdr", "-static-pie" };
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        free(run_well("gcc -O1 %s -fno-builtin -finstrument-functions " SOURCES
                      "named.c -o named ${RUNTIME%%%%.so.0}.a -pthread",
                      links[i]));
        free(run_well("./named text > without"));
        free(
            run_well("$DWELL record -q --overhead none --calls-to qsort --calls-to strlen --calls-to strdup --calls-to "
                     "free --level counted=strdup ./named text > with 2>errors"));
        direct_expect_same(links[i], "cat with errors", "cat without");
        direct_expect_same(links[i], STATIC_ROWS, "printf 'free 20 20\\nqsort 20 20\\nstrdup 20 0\\nstrlen 20 20\\n'");
        direct_archive("gcc -O2");
        free(run_well("gcc -O2 -w %s -finstrument-functions " SOURCES
                      "caller.c -o caller -L. -lcallee ${RUNTIME%%%%.so.0}.a -pthread",
                      links[i]));
        free(run_well("./caller > without"));
        free(run_well("$DWELL record -q --overhead none --calls-to 'callee_*' ./caller > with"));
        direct_expect_same(links[i], "cat with", "cat without");
        direct_expect_same(links[i], RECORDED, PRINTED);
    }
}

/* ---- programs that contain the runtime ---- */

static void direct_check_archived(const char *compile, const char *options)
{
    direct_archive(compile);
    free(run_well("%s -w -finstrument-functions " SOURCES
                  "caller.c -o caller -L. -lcallee ${RUNTIME%%%%.so.0}.a -pthread",
                  compile));
    free(run_well("./caller > without"));
    free(run_well("$DWELL record -q %s --calls-to 'callee_*' ./caller > with 2>errors", options));
    direct_expect_same(compile, "cat with errors", "cat without");
    direct_expect_same(compile, RECORDED, PRINTED);
}

Test(e2e_direct_calls, of_dynamic_programs_that_contain_the_runtime)
{
    direct_check_archived("gcc -O2", "--overhead none");
    direct_check_archived("gcc -O1 -no-pie -fno-pie", "--overhead none --level 'counted=callee_*'");
    direct_check_archived("clang -O2 -g", "--mode profile");
}

/* ---- commands ---- */

Test(e2e_direct_calls, levels_that_change)
{
    direct_archive("gcc -O2");
    free(run_well("gcc -O2 -w -finstrument-functions -shared -fPIC " SOURCES
                  "linked.c -o libopened.so -L. -lcallee -Wl,-Bsymbolic && gcc -O1 -finstrument-functions " SOURCES
                  "opener.c -o opener -pthread"));
    free(run_well("$DWELL record -q --overhead none --calls-to callee_ints sh -c 'echo $$ > pid; exec ./opener "
                  "./libopened.so 2 1000' > with 2>errors & "
                  "while [ ! -s pid ]; do sleep 0.01; done; "
                  "while kill -0 $(cat pid) 2>/dev/null; do for level in counted timed; do "
                  "$DWELL control $(cat pid) level $level=callee_ints >>log 2>&1; done; done; wait"));
    direct_expect_same("changes", RECORDED, "echo 512000");
}

/* ---- what is left alone ---- */

static void direct_expect_error(const char *pattern, const char *expected)
{
    char *error = run_well("$DWELL record --calls-to %s -o none.data ./refused 2>&1; test $? -eq 125", pattern);
    cr_assert(eq(str, error, (char *)expected), "%s", pattern);
    free(error);
}

/* What a copy takes and returns, no rule says. */
Test(e2e_direct_calls, copies_that_compilers_make)
{
    static const char *const compile[] = { "gcc -O2", "gcc -O3 -g", "gcc -O2 -flto" };
    for (size_t i = 0; i < sizeof compile / sizeof *compile; i++) {
        free(run_well("%s -w -finstrument-functions " SOURCES "clones.c -o clones && ./clones > without", compile[i]));
        direct_expect_same(compile[i], "nm clones | grep -c ' t copied_.*[.][cip].*[.][0-9]$'", "echo 2");
        free(run_well("$DWELL record -q --overhead none --calls-to '*copied*' ./clones > with 2>errors"));
        direct_expect_same(compile[i], "cat with errors", "cat without");
        direct_expect_same(compile[i],
                           ROWS "-c '[.rows[] | select(.function | test(\"copied\")) | \"\\(.function) \\(.calls)\"]'",
                           "echo '[\"not_copied 1000\"]'");
        char *error = run_well("$DWELL record --calls-to 'copied_c*' ./clones 2>&1; test $? -eq 125");
        cr_assert(eq(str, error,
                     "dwell: --calls-to 'copied_c*': calls of copied_constants.constprop.0 are left alone: a compiler "
                     "has made it of another function\n"));
        free(error);
    }
}

/* Without declarations, the code says so. Small structs are copied. */
Test(e2e_direct_calls, large_arguments_without_declarations)
{
    static const char *const compile[] = { "gcc -O0", "gcc -O2", "clang -w -O0", "clang -w -O2" };
    for (size_t i = 0; i < sizeof compile / sizeof *compile; i++) {
        free(run_well("%s -DLIBRARY -c " SOURCES "refused.c -o part.o && %s -finstrument-functions " SOURCES
                      "refused.c part.o -o refused",
                      compile[i], compile[i]));
        direct_expect_error("takes_large_anywhere",
                            "dwell: --calls-to 'takes_large_anywhere': calls of takes_large_anywhere are left alone: "
                            "their arguments may take too much of the stack\n");
    }
    direct_check("gcc -O0", "--overhead none");
}
