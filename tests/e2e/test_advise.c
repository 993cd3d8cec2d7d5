/* What dwell advise predicts, against recordings that follow its advice in each form: numbers of calls are exact. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/run.h"

/* mix is a part of mixer, which is long. The functions of tiny.h are operators, which GCC's list cannot name. */
static const char advise_source[] =
    "#include \"tiny.h\"\n"
    "static volatile unsigned sink;\n"
    "namespace shop {\n"
    "KEPT unsigned step(unsigned x) { return x * 31 + 7; }\n"
    "template <class T> KEPT T half(T x) { return x / 2; }\n"
    "namespace { KEPT unsigned odd(unsigned x) { return x | 1; } }\n"
    "KEPT unsigned mix(unsigned x) { return x ^ (x >> 3); }\n"
    "KEPT void mixer() { for (unsigned i = 0; i < 200000; i++) sink = sink + i; }\n"
    "}\n"
    "int main() {\n"
    "    Number n = { 1 };\n"
    "    for (unsigned i = 0; i < 20000; i++) sink = shop::step(i) + shop::half(i) + shop::odd(i) + shop::mix(i) +\n"
    "        (n + i).value + (n * i).value;\n"
    "    for (int i = 0; i < 50; i++) shop::mixer();\n"
    "}\n";
static const char advise_header[] =
    "#define KEPT __attribute__((noinline, noclone))\n"
    "struct Number { unsigned value; KEPT Number operator+(unsigned x) const { return { value + x }; }\n"
    "    KEPT Number operator*(unsigned x) const { return { value * x }; } };\n";

static void advise_write(const char *name, const char *text)
{
    FILE *out = fopen(name, "w");
    cr_assert(out != NULL);
    fputs(text, out);
    fclose(out);
}

static void advise_record(const char *options, const char *program, const char *session)
{
    free(run_well("$DWELL record -q --sample 0 --no-os-calls %s -o %s ./%s", options, session, program));
}

static void advise_prepare(void)
{
    without_os_calls();
    char *folder = run_well("pwd");
    folder[strcspn(folder, "\n")] = 0;
    char *source, *header;
    cr_assert(gt(int, asprintf(&source, "%s/shop.cc", folder), 0));
    cr_assert(gt(int, asprintf(&header, "%s/tiny.h", folder), 0));
    advise_write(source, advise_source);
    advise_write(header, advise_header);
    free(source);
    free(header);
    free(folder);
    free(run_well("PATH=/usr/bin:/bin $DWELL c++ g++ -O2 -g shop.cc -o shop"));
    advise_record("", "shop", "all.data");
}

TestSuite(e2e_advise, .init = advise_prepare, .timeout = 600);

/* A number of the prediction, as jq finds it. */
static uint64_t advise_number(const char *options, const char *key)
{
    char *text = run_well("$DWELL advise --format json %s | python3 -c 'import json,sys; "
                          "print(int(json.load(sys.stdin)[\"%s\"]))'",
                          options, key);
    const uint64_t number = strtoull(text, NULL, 10);
    free(text);
    return number;
}

/* The timed calls of a recording, by its events: two a call. */
static uint64_t advise_timed(const char *session)
{
    struct report *r = report_of(session);
    const uint64_t events = report_session(r, "events");
    report_drop(r);
    return events / 2;
}

static uint64_t advise_calls(const char *session, const char *function)
{
    struct report *r = report_of(session);
    const uint64_t calls = report_sum(r, "function", function, "calls");
    report_drop(r);
    return calls;
}

Test(e2e_advise, the_prediction)
{
    enum { ROUNDS = 20000, TINY = 6 };
    cr_assert(eq(u64, advise_number("all.data", "calls"), ROUNDS * TINY + 50 + 1));
    cr_assert(eq(u64, advise_number("--overhead 1 all.data", "calls_left"), 50 + 1));
    cr_assert(eq(u64, advise_number("--overhead 1 all.data", "functions_left_out"), TINY));
    cr_assert(eq(u64, advise_timed("all.data"), ROUNDS * TINY + 50 + 1));
}

Test(e2e_advise, filters_and_levels)
{
    const uint64_t left = advise_number("--overhead 1 all.data", "calls_left");
    free(run_well("$DWELL advise --overhead 1 --filter all.data >filters; "
                  "$DWELL advise --overhead 1 --levels all.data >levels"));
    advise_record("--strict-filters --filter-file filters", "shop", "filters.data");
    cr_assert(eq(u64, advise_timed("filters.data"), left));
    advise_record("--strict-filters --no-hidden-probes --filter-file filters", "shop", "hidden.data");
    cr_assert(eq(u64, advise_timed("hidden.data"), left));
    advise_record("--strict-filters --filter-file levels", "shop", "levels.data");
    cr_assert(eq(u64, advise_timed("levels.data"), left));
    cr_assert(eq(u64, advise_calls("levels.data", NULL), advise_calls("all.data", NULL)), "counted");
    /* The counted calls are known, so the advice is the same. */
    cr_assert(eq(u64, advise_number("--overhead 1 levels.data", "calls"), advise_calls("all.data", NULL)));
    cr_assert(eq(u64, advise_number("--overhead 1 levels.data", "calls_left"), left));
}

Test(e2e_advise, a_session_of_mode_profile)
{
    advise_record("--mode profile", "shop", "profile.data");
    cr_assert(eq(u64, advise_number("--overhead 1 profile.data", "calls_left"), 51));
    cr_assert(eq(u64, advise_number("--overhead 1 profile.data", "calls"), advise_calls("all.data", NULL)));
}

/* The names of mix and of the operators are in no list, but the operators' file is. */
Test(e2e_advise, flags_of_gcc)
{
    char *flags = run_well("$DWELL advise --overhead 1 --flags gcc all.data 2>said");
    cr_assert(has(flags, "-finstrument-functions-exclude-file-list=tiny.h\n"), "%s", flags);
    cr_assert(has(flags, "shop::step") && has(flags, "shop::half") && !has(flags, "mix"), "%s", flags);
    free(flags);
    char *said = run_well("cat said");
    cr_assert(has(said, "dwell: without 5 of 8: 20051 calls timed, "), "%s", said);
    cr_assert(has(said, "  shop::mix(unsigned int): its name is a part of shop::mixer()\n"), "%s", said);
    free(said);
    free(run_well("PATH=/usr/bin:/bin $DWELL c++ g++ -O2 -g $($DWELL advise --overhead 1 --flags gcc all.data) shop.cc "
                  "-o fewer"));
    advise_record("", "fewer", "fewer.data");
    cr_assert(eq(u64, advise_timed("fewer.data"), 20051));
    cr_assert(eq(u64, advise_calls("fewer.data", "shop::mix(unsigned int)"), 20000));
    cr_assert(eq(u64, advise_calls("fewer.data", "shop::mixer()"), 50));
}

static void advise_put(const char *name, const char *text)
{
    free(run_well("cat >%s <<'END'\n%s\nEND", name, text));
}

/* Obeys the last line. The file of the caller says that deep is none of its functions. */
Test(e2e_advise, functions_of_libraries)
{
    advise_put("text.c", "__attribute__((noinline)) static long text_deep(long n)\n"
                         "{ volatile long s = 0; while (n--) s = s + n; return s; }\n"
                         "long text_work(long n) { return text_deep(n) + 1; }\n"
                         "long text_rare(long n) { return n; }\n");
    advise_put("user.c", "long text_work(long), text_rare(long);\n"
                         "static long part(long n) { return text_work(n) + text_rare(n); }\n"
                         "int main(void) { long s = 0; for (int i = 0; i < 300; i++) s += part(1000000);\n"
                         "    return s == 0; }\n");
    free(run_well("gcc -O1 -shared -fPIC text.c -o libtext.so && gcc -O1 -finstrument-functions user.c -o user -L. "
                  "-ltext -Wl,-rpath,$PWD"));
    free(run_well("$DWELL record -q --sample 1000 -o user.data ./user"));
    char *advice = run_well("$DWELL advise user.data | tail -1 | sed 's/PROGRAM$/-q .\\/user/'");
    cr_assert(eq(str, advice, "dwell record --calls-to 'libtext.so!text_work' -q ./user\n"));
    free(run_well("${DWELL%%%%dwell}%s", advice));
    free(advice);
    cr_assert(eq(u64, advise_calls("dwell.data", "text_work"), 300));
    cr_assert(eq(u64, advise_calls("dwell.data", "text_rare"), 0));
}

/* Functions with probes are none of these, nor is the copy that GCC makes of another one. */
static void advise_check_linked(const char *link)
{
    free(run_well("gcc -O1 -c text.c -o text.o && rm -f libtext.a && ar rcs libtext.a text.o && "
                  "gcc -O2 -finstrument-functions user.c -o user -L. -ltext %s",
                  link));
    free(run_well("$DWELL record -q --sample 1000 -o user.data ./user"));
    char *advice = run_well("$DWELL advise user.data | tail -1 | sed 's/PROGRAM$/-q .\\/user/'");
    cr_assert(eq(str, advice, "dwell record --calls-to 'user!text_work' -q ./user\n"), "%s", link);
    free(run_well("${DWELL%%%%dwell}%s", advice));
    free(advice);
    cr_assert(eq(u64, advise_calls("dwell.data", "text_work"), 300));
    cr_assert(eq(u64, advise_calls("dwell.data", "text_rare"), 0));
}

Test(e2e_advise, functions_that_are_linked_in)
{
    advise_put("text.c", "__attribute__((noinline)) static long text_deep(long n)\n"
                         "{ volatile long s = 0; while (n--) s = s + n; return s; }\n"
                         "long text_work(long n) { return text_deep(n) + 1; }\n"
                         "long text_rare(long n) { return n; }\n");
    advise_put(
        "user.c",
        "long text_work(long), text_rare(long);\n"
        "__attribute__((noinline)) static long own(long n) { volatile long s = 0; while (n--) s = s + n; return s; }\n"
        "__attribute__((noinline, no_instrument_function)) static long copied(long n, long m)\n"
        "{ volatile long s = 0; while (n--) s = s + n * m; return s; }\n"
        "static long part(long n) { return text_work(n) + text_rare(n) + own(n) + copied(n, 5); }\n"
        "int main(void) { long s = 0; for (int i = 0; i < 300; i++) s += part(1000000);\n"
        "    return s == 0; }\n");
    advise_check_linked("");
    advise_check_linked("-no-pie");
    advise_check_linked("${RUNTIME%%.so.0}.a -pthread");
    advise_check_linked("-static -Wl,--eh-frame-hdr ${RUNTIME%%.so.0}.a -pthread");
}

/* libc has versions of these functions, whose names samples have. memmove and memcpy have theirs in common. */
Test(e2e_advise, functions_with_versions)
{
    advise_put("user.c", "#include <string.h>\n"
                         "static char from[1 << 16], to[1 << 16];\n"
                         "int main(void) { size_t s = 0; memset(from, 1, sizeof from - 1);\n"
                         "    for (int i = 0; i < 100000; i++) { memcpy(to, from, sizeof to); s += strlen(from); }\n"
                         "    return s == 0; }\n");
    free(run_well("gcc -O1 -fno-builtin -finstrument-functions user.c -o user && "
                  "$DWELL record -q --overhead none --sample 1000 -o user.data ./user"));
    char *sampled = run_well("$DWELL report --by function -n 0 --format json user.data | jq -r '.rows[].function'");
    if (!strstr(sampled, "__mem") || !strstr(sampled, "__strlen_"))
        cr_skip_test("libc has no names of versions here");
    free(sampled);
    char *names = run_well("$DWELL advise --format json user.data | jq -r '.library_calls[] | \"\\(.function) "
                           "\\(.caller) \\(.pattern)\"' | LC_ALL=C sort");
    cr_assert(eq(str, names, "memcpy main libc.so.6!memcpy\nstrlen main libc.so.6!strlen\n"));
    free(names);
    char *advice = run_well("$DWELL advise user.data | tail -1 | sed 's/PROGRAM$/-q .\\/user/'");
    free(run_well("${DWELL%%%%dwell}%s", advice));
    free(advice);
    cr_assert(eq(u64, advise_calls("dwell.data", "memcpy"), 100000));
    cr_assert(eq(u64, advise_calls("dwell.data", "strlen"), 100000));
}

/* In its last line is no function that the option would leave alone. */
static void advise_expect_no_calls(const char *build)
{
    free(run_well("%s && $DWELL record -q --sample 1000 -o user.data ./user", build));
    char *advice = run_well("$DWELL advise user.data");
    cr_assert(has(advice, "nothing is worth leaving out"), "%s: %s", build, advice);
    cr_assert(not(has(advice, "--calls-to")), "%s: %s", build, advice);
    free(advice);
    char *rows = run_well("$DWELL advise --format json user.data | jq '.library_calls | length'");
    cr_assert(eq(str, rows, "0\n"), "%s", build);
    free(rows);
    free(run_well("$DWELL report --by function -n 0 --format json user.data | jq -e '[.rows[] | select(.function == "
                  "\"text_work\" and .cpu_exclusive_ns > 1000000)] | length == 1'"));
    free(run_well("$DWELL record -q --calls-to 'libtext.so!text_work' -o none.data ./user 2>errors; test $? -eq 125"));
}

#define ADVISE_USER "gcc -O1 -g -finstrument-functions user.c -o user -L. -ltext -Wl,-rpath,$PWD "

Test(e2e_advise, no_functions_that_are_left_alone)
{
    advise_put("text.c", "struct large { char bytes[LARGE]; };\n"
                         "__attribute__((no_instrument_function)) long text_work(long n, struct large l)\n"
                         "{ volatile long s = l.bytes[0]; while (n--) s = s + n; return s; }\n"
                         "long text_own(long n) { return n; }\n");
    advise_put("user.c", "struct large { char bytes[LARGE]; } large;\n"
                         "long text_work(long, struct large);\n"
                         "int main(void) { long s = 0; for (int i = 0; i < 300; i++) s += text_work(1000000, large);\n"
                         "    return s == 0; }\n");
    advise_expect_no_calls("gcc -DLARGE=8 -O1 -shared -fPIC text.c -o libtext.so && " ADVISE_USER
                           "-DLARGE=8 ${RUNTIME%%.so.0}.a -pthread");
    advise_expect_no_calls("gcc -DLARGE=8 -O1 -finstrument-functions -shared -fPIC text.c -o libtext.so && " ADVISE_USER
                           "-DLARGE=8");
    advise_expect_no_calls("gcc -DLARGE=2000 -O1 -shared -fPIC text.c -o libtext.so && " ADVISE_USER "-DLARGE=2000");
}

/* Puts the attribute before each of the listed lines. */
Test(e2e_advise, attributes)
{
    free(run_well("$DWELL advise --overhead 1 --attributes all.data 2>said | " DWELL_CONSUMERS "/put-attributes && "
                  "PATH=/usr/bin:/bin $DWELL c++ g++ -O2 -g shop.cc -o marked"));
    char *said = run_well("cat said");
    cr_assert(has(said, "dwell: without 6 of 8: 51 calls timed, "), "%s", said);
    free(said);
    advise_record("", "marked", "marked.data");
    cr_assert(eq(u64, advise_timed("marked.data"), 51));
}

/* 60 functions have equal costs. Each thread that reads the session meets them in another order. */
Test(e2e_advise, the_same_whoever_reads)
{
    free(run_well(
        "{ echo 'static volatile long sum;'; "
        "for i in $(seq 0 59); do echo \"KEPT static void f$i(void) { sum += $i; }\"; done; "
        "echo 'static void (*const list[])(void) = {'; for i in $(seq 0 59); do echo \"f$i,\"; done; echo '};'; "
        "echo 'int main(void) { for (long i = 0; i < 3000000; i++) list[(i / 20000 * 7 + i) %% 60](); }'; } "
        ">many.c; gcc -O2 -g -finstrument-functions '-DKEPT=__attribute__((noinline))' -o many many.c"));
    free(run_well("$DWELL record -q --overhead none --sample 0 -o many.data ./many"));
    char *first = run_well("$DWELL advise -j 1 --format json many.data");
    cr_assert(has(first, "\"f59\""), "%s", first);
    for (int jobs = 2; jobs <= 6; jobs++) {
        char *other = run_well("$DWELL advise -j %d --format json many.data", jobs);
        cr_assert(eq(str, other, first), "%d", jobs);
        free(other);
    }
    free(first);
}
