/* Code that is loaded and unloaded, runs before and after main, or has its names in another file. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_loading, .timeout = 300);

static const char *const modes[] = { "trace", "profile", "ring=1G" };

/* Of 50 times. A mapping that the runtime makes once can be in the way. */
enum { LEAST_SAME = 48 };

Test(e2e_loading, a_library_at_the_address_of_another)
{
    static const char *const when[] = { "", "fork", "beside" };
    for (int i = 0; i < 9; i++) {
        char *out = run_well("$DWELL record -q --mode %s $PROGRAMS/loading/same $PROGRAMS/loading/libloading-a.so "
                             "$PROGRAMS/loading/libloading-b.so 50 %s",
                             modes[i % 3], when[i / 3]);
        const char *same = strstr(out, "same ");
        cr_assert(same && atoi(same + 5) >= LEAST_SAME, "the second library was not where the first had been: %s", out);
        struct report *r = report_of("");
        check_counts(out, r, 6);
        report_drop(r);
        r = report_of("--by module");
        cr_assert(eq(u64, report_sum(r, "module", "libloading-a.so", "calls"), 50 * 6), "%d", i);
        cr_assert(eq(u64, report_sum(r, "module", "libloading-b.so", "calls"), 50 * 7), "%d", i);
        report_drop(r);
        free(out);
    }
}

/* Nobody releases the loader's lock in a child that was forked meanwhile. */
Test(e2e_loading, forks_while_another_thread_walks_the_loaders_list)
{
    static const char *const programs[] = {
        "walking-static",
        "walking",
        "walking $PROGRAMS/loading/libloading-a.so $PROGRAMS/loading/libloading-b.so",
    };
    for (int i = 0; i < 9; i++) {
        char *out = run_well("$DWELL record -q --mode %s $PROGRAMS/loading/%s", modes[i % 3], programs[i / 3]);
        struct report *r = report_of("");
        check_counts(out, r, i < 6 ? 1 : 4);
        report_drop(r);
        free(out);
    }
}

/* The static programs are linked with libdwell.a. Only they show code that runs before libc is ready. */
Test(e2e_loading, before_and_after_main)
{
    static const struct {
        const char *name;
        bool whole;
    } programs[] = {
        { "early", false }, { "early-no-pie", false }, { "early-static", true }, { "early-static-pie", true }
    };
    static const struct {
        const char *function;
        uint64_t calls;
    } expected[] = { { "first_constructor", 1 }, { "last_constructor", 1 },
                     { "first_destructor", 1 },  { "at_the_end", 1 },
                     { "chosen_one", 1 },        { "Object::Object()", 4 },
                     { "Object::~Object()", 4 }, { "Object::touch()", 3 },
                     { "run(void*)", 3 },        { "main", 1 } };
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        for (int j = 0; j < 3; j++) {
            free(run_well("$DWELL record -q --mode %s $PROGRAMS/loading/%s", modes[j], programs[i].name));
            struct report *r = report_of("");
            for (size_t k = 0; k < sizeof expected / sizeof *expected; k++)
                cr_assert(eq(u64, report_sum(r, "function", expected[k].function, "calls"), expected[k].calls),
                          "%s %s: %s", modes[j], programs[i].name, expected[k].function);
            cr_assert(eq(u64, report_sum(r, "function", "in_preinit", "calls"), programs[i].whole), "%s",
                      programs[i].name);
            cr_assert(eq(u64, report_sum(r, "function", "leaf", "calls"), 16u + programs[i].whole), "%s",
                      programs[i].name);
            report_drop(r);
        }
    }
}

static void loading_check_names(const char *program, const char *variables)
{
    free(run_well("%s $DWELL record -q -o stripped.data $PROGRAMS/loading/%s 10", variables, program));
    char *names = run_well("$DWELL report --format csv stripped.data | tr -d '\r' | cut -d, -f1,4,5 | sort");
    cr_assert(eq(str, names, "fib,13,177\nfunction,line,calls\nmain,19,1\n"), "%s", program);
    free(names);
}

Test(e2e_loading, separate_debug_information)
{
    loading_check_names("stripped-beside", "");
    loading_check_names("stripped-in-folder", "");
    loading_check_names("stripped-by-id", "DWELL_DEBUG_PATH=$PROGRAMS/loading/debug-root");
}

Test(e2e_loading, debug_information_from_a_server)
{
    char *out = run_well(
        "id=$(readelf -n $PROGRAMS/loading/stripped-by-id | sed -n 's/.*Build ID: //p'); mkdir -p www/buildid/$id\n"
        "cp $PROGRAMS/loading/debug-root/.build-id/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-).debug www/buildid/$id/debuginfo\n"
        "(cd www; exec python3 -u -m http.server --bind 127.0.0.1 0 > ../server 2>&1) & server=$!\n"
        "until grep -q 'port [0-9]' server; do sleep 0.05; done\n"
        "export DEBUGINFOD_URLS=http://127.0.0.1:$(sed -n 's/.*port \\([0-9]*\\).*/\\1/p' server | head -1)/ HOME=$PWD/home\n"
        "export DEBUGINFOD_CACHE_PATH=$PWD/cache\n"
        "$DWELL record -q -o served.data $PROGRAMS/loading/stripped-by-id 10 > /dev/null; kill $server\n"
        "unset DEBUGINFOD_URLS; $DWELL report --format csv served.data | tr -d '\\r' | cut -d, -f1,4,5 | sort");
    cr_assert(eq(str, out, "fib,13,177\nfunction,line,calls\nmain,19,1\n"));
    free(out);
}

/* A session of a program with many functions keeps the names of those that were called. With a long trace, it keeps
 * all: finding which were called would take longer. */
Test(e2e_loading, names_of_a_program_with_many_functions)
{
    free(run_well(
        "seq 21000 | sed 's/.*/quiet&: .globl quiet&; .type quiet&, @function; ret; .size quiet&, 1/' > many.s\n"
        "printf '#include <unistd.h>\\nstatic void leaf(void) { }\\n"
        "int main(int argc, char **argv) { (void)argv; leaf();\\n"
        "for (int i = 0; i < (argc > 1 ? 4000000 : 1); i++) leaf();\\nusleep(1); }\\n' > main.c\n"
        "cc -O0 -g -finstrument-functions main.c many.s -o many -Wl,-z,noexecstack; $DWELL record -q ./many\n"
        "$DWELL record -q --overhead none -o long.data ./many long"));
    static const char *const sessions[] = { "dwell.data", "long.data" }, *const named[] = { "0\n", "21000\n" };
    char *before[2];
    for (int i = 0; i < 2; i++)
        before[i] = run_well("$DWELL report --by function %s", sessions[i]);
    free(run_well("mv many elsewhere"));
    for (int i = 0; i < 2; i++) {
        char *after = run_well("$DWELL report --by function %s", sessions[i]);
        cr_assert(eq(str, after, before[i]));
        cr_assert(has(after, " leaf\n") && has(after, "main.c:3 ") && has(after, " usleep\n"), "%s", after);
        free(before[i]);
        free(after);
        char *names = run_well("strings -n 6 %s | grep -c '^quiet[0-9]' || true", sessions[i]);
        cr_assert(eq(str, names, (char *)named[i]), "%s", sessions[i]);
        free(names);
    }
}

/* ---- plugins that do not find the probes ---- */

#define LOADING "$PROGRAMS/loading/"

static void loading_check_plugin(const char *options, const char *flags, const char *plugin)
{
    free(run_well("$DWELL record -q %s " LOADING "loading-host %s " LOADING "libloading-%s.so " LOADING
                  "libloading-%s.so",
                  options, flags, plugin, plugin));
    const uint64_t more = strchr(flags, 'f') ? 10 : 0;
    struct report *r = report_of("");
    cr_expect(eq(u64, report_sum(r, "function", "plugin_work", "calls"), 2 * (1 + (more > 0))), "%s %s %s", options,
              flags, plugin);
    cr_expect(eq(u64, report_sum(r, "function", "inner", "calls"), 2 * (100 + more)), "%s %s %s", options, flags,
              plugin);
    cr_expect(eq(u64, report_session(r, "lost_events"), 0));
    report_drop(r);
}

Test(e2e_loading, plugins_in_a_scope_of_their_own)
{
    static const char *const plugins[] = { "plugin", "plugin-now", "plugin-no-plt" };
    static const char *const options[] = { "", "--mode profile", "--level counted=inner" };
    for (int i = 0; i < 3; i++) {
        loading_check_plugin(options[i], "d", plugins[i]);
        loading_check_plugin("", "dlf", plugins[i]);
    }
}

/* glibc does so since 2.35. */
static bool loading_lists_namespaces(void)
{
    char *version = run_well("getconf GNU_LIBC_VERSION");
    int minor = 0;
    const bool known = sscanf(version, "glibc 2.%d", &minor) == 1;
    free(version);
    return known && minor >= 35;
}

/* Their libc is another one. */
Test(e2e_loading, plugins_in_namespaces_of_their_own)
{
    static const char *const plugins[] = { "plugin", "plugin-now", "plugin-no-plt" };
    struct ran r = run(LOADING "loading-host n " LOADING "libloading-plugin.so");
    const bool can = r.status == 0;
    ran_drop(&r);
    if (!can || !loading_lists_namespaces())
        cr_skip_test("no namespaces here, or the loader does not list them");
    for (int i = 0; i < 3; i++) {
        loading_check_plugin("", "n", plugins[i]);
        loading_check_plugin("--level counted=inner", "nlf", plugins[i]);
    }
}

/* Nothing is recorded of the program, and the reason is said. A plugin in a scope of its own calls the probes. */
Test(e2e_loading, functions_of_its_own_instead_of_the_probes)
{
    static const char whose[] = "/own-hooks has functions of its own for enters and exits (__cyg_profile_func_enter)";
    struct ran r = run("$DWELL record " LOADING "own-hooks");
    cr_expect(eq(int, r.status, 0));
    cr_expect(has(r.err, "own-hooks: no events were recorded: it has a function __cyg_profile_func_enter of its own"),
              "%s", r.err);
    ran_drop(&r);
    r = run("$DWELL doctor " LOADING "own-hooks");
    cr_expect(has(r.out, "its functions call a __cyg_profile_func_enter of its own: link it without that one"), "%s",
              r.out);
    ran_drop(&r);
    r = run("$DWELL record -q " LOADING "own-hooks " LOADING "libloading-plugin.so deep");
    cr_expect(eq(int, r.status, 0));
    ran_drop(&r);
    char *info = run_well("$DWELL info");
    cr_expect(has(info, whose), "%s", info);
    free(info);
    struct report *report = report_of("");
    cr_expect(eq(u64, report_sum(report, "function", "inner", "calls"), 100));
    report_drop(report);
    free(run_well("$DWELL record -q sh -c '$SAMPLES/fib 5; " LOADING "own-hooks'"));
    info = run_well("$DWELL info");
    cr_expect(has(info, whose), "%s", info);
    free(info);
}

/* The loader fills a library's table of addresses after it has mapped it, and other threads go on meanwhile. */
static uint64_t loading_halfway(const char *options, const char *how)
{
    free(run_well("$DWELL record -q --overhead none %s $PROGRAMS/loading/halfway "
                  "$PROGRAMS/loading/libloading-halfway.so %s",
                  options, how));
    struct report *r = report_of("");
    cr_expect(eq(u64, report_sum(r, "function", "look", "calls"), 1), "%s %s", options, how);
    cr_expect(eq(u64, report_sum(r, "function", "plugin_work", "calls"), 1), "%s %s", options, how);
    const uint64_t calls = report_sum(r, "function", "inner", "calls");
    report_drop(r);
    return calls;
}

Test(e2e_loading, a_plugin_that_another_thread_sees_half_loaded)
{
    static const char *const hows[] = { "", "deep" };
    for (int i = 0; i < 2; i++) {
        cr_expect(eq(u64, loading_halfway("--mode trace", hows[i]), 100), "%s", hows[i]);
        cr_expect(eq(u64, loading_halfway("--mode profile", hows[i]), 100), "%s", hows[i]);
        cr_expect(eq(u64, loading_halfway("--mode ring=1G", hows[i]), 100), "%s", hows[i]);
        cr_expect(eq(u64, loading_halfway("--level counted=inner", hows[i]), 100), "%s", hows[i]);
        cr_expect(eq(u64, loading_halfway("--level out=inner", hows[i]), 0), "%s", hows[i]);
    }
}

/* ---- files that are removed or replaced while the program runs ---- */

/* Each call has a name. The library is called three times, by its constructor, and by its destructor. */
static void loading_check_kept(const char *what, const char *library)
{
    char inner[] = "inner_?";
    inner[strlen(inner) - 1] = *library;
    struct report *r = report_of("");
    cr_expect(eq(u64, report_sum(r, "function", "main", "calls"), 1), "%s", what);
    cr_expect(eq(u64, report_sum(r, "function", "call", "calls"), 1), "%s", what);
    cr_expect(eq(u64, report_sum(r, "function", "work_in_library", "calls"), 1), "%s", what);
    cr_expect(eq(u64, report_sum(r, "function", inner, "calls"), 5), "%s", what);
    report_drop(r);
    char *source = run_well("$DWELL report --by function --format csv | grep -c 'removed[.]c\\|library[.]c'");
    cr_expect(eq(str, source, "6\n"), "%s", what);
    free(source);
}

Test(e2e_loading, files_that_are_removed_or_replaced_keep_their_names)
{
    static const char *const hows[] = { "removed", "replaced", "program" };
    for (int i = 0; i < 9; i++) {
        free(run_well("cp $PROGRAMS/loading/removed own; cp $PROGRAMS/loading/libloading-a.so lib.so; "
                      "cp $PROGRAMS/loading/libloading-b.so other"));
        struct ran r = run("$DWELL record -q --mode %s ./own %s ./lib.so other", modes[i % 3], hows[i / 3]);
        cr_expect(eq(int, r.status, 0), "%s", r.err);
        cr_expect(eq(str, r.err, ""), "%s", hows[i / 3]);
        loading_check_kept(hows[i / 3], "a");
        ran_drop(&r);
    }
}

/* Functions that were counted, and those without probes that samples find. */
Test(e2e_loading, removed_files_keep_the_names_of_counted_and_sampled_functions)
{
    static const char library[] = "static volatile unsigned long sum;\nvoid leaf(unsigned long by) { sum += by; }\n"
                                  "void outer(void) { for (unsigned long i = 0; i < 2000000; i++) leaf(i); }\n",
                      plain[] = "static volatile unsigned long sum;\nvoid burn(void)\n"
                                "{\n    for (unsigned long i = 0; i < 300000000; i++)\n        sum += i;\n}\n",
                      program[] =
                          "#include <unistd.h>\nvoid outer(void);\nvoid burn(void);\n"
                          "static void work(void) { outer(); burn(); }\nint main(void)\n{\n    work();\n"
                          "    return unlink(\"libown.so\") || unlink(\"libplain.so\") || unlink(\"own\");\n}\n";
    free(run_well("cat >own.c <<'END'\n%sEND\ncat >plain.c <<'END'\n%sEND\ncat >main.c <<'END'\n%sEND\n"
                  "gcc -g -O1 -fPIC -shared -finstrument-functions -o libown.so own.c && "
                  "gcc -g -O1 -fPIC -shared -o libplain.so plain.c && "
                  "gcc -g -O1 -finstrument-functions -o own main.c -L. -lown -lplain -Wl,-rpath,$PWD && "
                  "$DWELL record -q --level counted=leaf --sample 1000 ./own",
                  library, plain, program));
    char *rows = run_well("test ! -e libplain.so && $DWELL report --by function --format json | jq -r '.rows[] | "
                          "\"\\(.function) \\(.module) \\(.file // \"\" | split(\"/\") | last) \\(.calls)\"' | "
                          "grep -E '^(leaf|outer|burn|work|main) ' | sort");
    cr_expect(eq(str, rows,
                 "burn libplain.so plain.c null\nleaf libown.so own.c 2000000\nmain own main.c 1\n"
                 "outer libown.so own.c 1\nwork own main.c 1\n"));
    free(rows);
}

/* A script removes it when it has ended. */
Test(e2e_loading, a_program_that_is_removed_at_its_end_keeps_its_names)
{
    free(run_well("cp $PROGRAMS/loading/libloading-a.so lib.so"));
    free(run_well("$DWELL record -q sh -c 'cp $PROGRAMS/loading/removed own; ./own kept ./lib.so; rm own lib.so'"));
    loading_check_kept("", "a");
}
