/* Values that are recorded, compared with what the programs print themselves. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/on_terminal.h"
#include "support/run.h"

TestSuite(e2e_values_recorded, .timeout = 600);

#define SOURCES DWELL_CONSUMERS "/../e2e/programs/values/"

static void values_build(const char *compile)
{
    free(run_well("%s -g -finstrument-functions -o valued -lpthread -lm", compile));
}

/* The calls by value, as "value|calls". */
#define BY_VALUE(function, what)                                                                                       \
    "$DWELL values --each -n 0 --format json '" function ":" what "' | jq -r '.rows[] | \"\\(.values[\"" what          \
    "\"])|\\(.calls)\"' | LC_ALL=C sort"

/* The same of a column of what was printed. */
#define PRINTED(column)                                                                                                \
    "cut -d'|' -f" column                                                                                              \
    " printed | LC_ALL=C sort | uniq -c | sed 's/^ *\\([0-9]*\\) \\(.*\\)/\\2|\\1/' | LC_ALL=C sort"

static void values_compare(const char *how, const char *recorded, const char *printed)
{
    char *ours = run_well("%s", recorded), *theirs = run_well("%s", printed);
    cr_assert(eq(str, ours, theirs), "%s: %s", how, recorded);
    cr_assert(ne(int, *theirs, 0));
    free(ours);
    free(theirs);
}

static void values_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

/* ---- C ---- */

static void values_check_c(const char *compile)
{
    values_build(compile);
    free(run_well("$DWELL record -q --values 'work:n,text,request->length,request->next->length,request->bits,"
                  "kind,good,byte' ./valued calls 100000 > printed"));
    values_compare(compile, BY_VALUE("work", "n"), PRINTED("1"));
    values_compare(compile, BY_VALUE("work", "text"), PRINTED("2"));
    values_compare(compile, BY_VALUE("work", "request->length"), PRINTED("3"));
    values_compare(compile, BY_VALUE("work", "request->next->length"), PRINTED("4"));
    values_compare(compile, BY_VALUE("work", "request->bits"), PRINTED("5"));
    values_compare(compile, BY_VALUE("work", "kind"),
                   PRINTED("7") " | sed 's/^-3|/KIND_LOW|/; s/^70000|/KIND_HIGH|/' | LC_ALL=C sort");
    values_compare(compile, BY_VALUE("work", "good"), PRINTED("8"));
}

Test(e2e_values_recorded, of_gcc_without_optimisation)
{
    values_check_c("gcc -O0 " SOURCES "valued.c");
}

Test(e2e_values_recorded, of_gcc)
{
    values_check_c("gcc -O2 " SOURCES "valued.c");
}

Test(e2e_values_recorded, of_clang)
{
    values_check_c("clang -Wno-unknown-attributes -O2 " SOURCES "valued.c");
}

/* clang stores parameters at their places only behind the probe's call. */
Test(e2e_values_recorded, of_clang_without_optimisation)
{
    values_check_c("clang -Wno-unknown-attributes -O0 " SOURCES "valued.c");
}

/* clang 14 states the address of a truth that it has moved to the frame in place of its value. Then it is refused. */
static void values_check_moved(const char *compile)
{
    free(run_well("%s " SOURCES "moved.c -g -finstrument-functions -o moved && "
                  "$DWELL record -q --values take:truth,extra ./moved > printed 2> refused",
                  compile));
    values_compare(compile,
                   "grep -q 'truth of take cannot be recorded' refused && printf 'false|6\\ntrue|2\\n' || "
                   "{ " BY_VALUE("take", "truth") "; }",
                   PRINTED("1"));
    values_expect("$DWELL values --format json take:extra | jq -c '[.rows[].values.extra]'",
                  "[-7,-6,-5,-4,-3,-2,-1,0]\n");
}

Test(e2e_values_recorded, truths_that_clang_moves)
{
    values_check_moved("clang -O0");
    values_check_moved("clang -O2");
    values_check_moved("clang -O2 -fno-omit-frame-pointer");
    values_check_moved("gcc -O2");
}

/* The program prints "+" between names, as "|" is between its columns. */
static void values_check_enums(const char *compile)
{
    values_build(compile);
    free(run_well("$DWELL record -q --values 'choose:colour,change,access,*large,choice->change' ./valued enums 1000 "
                  "> printed"));
    values_compare(compile, BY_VALUE("choose", "colour"), PRINTED("1"));
    values_compare(compile, BY_VALUE("choose", "change"), PRINTED("2"));
    values_compare(compile, BY_VALUE("choose", "access"), PRINTED("3") " | tr + '|' | LC_ALL=C sort");
    values_compare(compile, BY_VALUE("choose", "*large"), PRINTED("4"));
    values_compare(compile, BY_VALUE("choose", "choice->change"), PRINTED("5"));
}

Test(e2e_values_recorded, enumerations_of_gcc)
{
    values_check_enums("gcc -O2 " SOURCES "valued.c");
    values_expect("$DWELL values --format json choose:colour | jq -c '[.rows[].values.colour]'",
                  "[\"RED\",7,\"GREEN\"]\n");
    values_expect("$DWELL values choose:access | sed -n '/VALUE$/,/^$/ s/.* //p'",
                  "VALUE\nACCESS_NONE\nACCESS_BOTH\nACCESS_WRITE|ACCESS_RUN\n20\n");
    values_expect("$DWELL values --format csv choose:change | cut -d, -f1",
                  "values.change\n-5\nCHANGE_DOWN\nCHANGE_NONE\nCHANGE_UP\n");
}

Test(e2e_values_recorded, enumerations_of_clang)
{
    values_check_enums("clang -Wno-unknown-attributes -O2 " SOURCES "valued.c");
    values_check_enums("clang -Wno-unknown-attributes -O0 " SOURCES "valued.c");
}

/* Each is a power of two, so that ranges have one value each. */
Test(e2e_values_recorded, by_ranges)
{
    values_build("gcc -O2 " SOURCES "valued.c");
    free(run_well("$DWELL record -q --values 'work:request->length' ./valued calls 20000 > printed"));
    values_compare("from", "$DWELL values -n 0 --format json work | jq '.rows[].values[\"request->length\"].from'",
                   "cut -d'|' -f3 printed | sort -nu");
    char *text = run_well("$DWELL values -n 0 --format json work | jq '[.rows[].values[\"request->length\"] | .to == "
                          "2 * .from] | all'");
    cr_assert(eq(str, text, "true\n"));
    free(text);
}

/* ---- C++ ---- */

static void values_check_cxx(const char *compile)
{
    values_build(compile);
    free(
        run_well("$DWELL record -q --values 'Store::put:this->count,name,item->size,factor' ./valued 20000 > printed"));
    values_compare(compile, BY_VALUE("Store::put", "this->count"), PRINTED("1"));
    values_compare(compile, BY_VALUE("Store::put", "name"), PRINTED("2"));
    values_compare(compile, BY_VALUE("Store::put", "item->size"), PRINTED("4"));
    values_compare(compile, BY_VALUE("Store::put", "factor"), PRINTED("5"));
}

Test(e2e_values_recorded, of_cxx)
{
    values_check_cxx("g++ -std=c++17 -O2 " SOURCES "valued.cc");
}

Test(e2e_values_recorded, of_cxx_without_optimisation)
{
    values_check_cxx("g++ -std=c++17 -O0 " SOURCES "valued.cc");
    free(run_well("$DWELL record -q --values Store::put:part ./valued 20000 > printed"));
    values_compare("part", BY_VALUE("Store::put", "part"), PRINTED("3"));
}

/* ---- results ---- */

/* The program prints what each call has returned. Calls of `twice` within calls have the same function. */
static void values_check_results(const char *compile)
{
    values_build(compile);
    free(run_well("$DWELL record -q --values scaled:n,return --values twice:return ./valued results 20000 > printed"));
    values_compare(compile, BY_VALUE("scaled", "return"), PRINTED("2"));
    values_compare(compile, BY_VALUE("scaled", "n"), PRINTED("1"));
    values_compare(compile, BY_VALUE("twice", "return"),
                   "sort twice | uniq -c | awk '{ print $2 \"|\" $1 }' | "
                   "LC_ALL=C sort");
}

Test(e2e_values_recorded, results_of_gcc)
{
    values_check_results("gcc -O2 " SOURCES "valued.c");
}

Test(e2e_values_recorded, results_of_gcc_without_optimisation)
{
    values_check_results("gcc -O0 " SOURCES "valued.c");
}

Test(e2e_values_recorded, results_of_clang)
{
    values_check_results("clang -Wno-unknown-attributes -O2 " SOURCES "valued.c");
}

/* ---- threads, processes, signals ---- */

Test(e2e_values_recorded, of_threads)
{
    values_build("gcc -O2 " SOURCES "valued.c");
    free(run_well("$DWELL record -q --values few ./valued threads 50000"));
    values_expect(BY_VALUE("few", "n"), "0|50000\n1|50000\n2|50000\n3|50000\n");
}

Test(e2e_values_recorded, of_forked_children)
{
    values_build("gcc -O2 " SOURCES "valued.c");
    free(run_well("$DWELL record -q --values few ./valued fork 50000"));
    values_expect(BY_VALUE("few", "n"), "1|50000\n2|50000\n");
}

Test(e2e_values_recorded, in_signal_handlers)
{
    values_build("gcc -O2 " SOURCES "valued.c");
    free(run_well("$DWELL record -q --values few ./valued signals 1000000 > printed"));
    values_compare("signals",
                   "$DWELL values --each -n 0 --format json few | jq -r '.rows[] | select(.values.n == 1000) | .calls'",
                   "cat printed");
    values_expect("$DWELL values --each -n 0 --format json few | jq '[.rows[] | select(.values.n < 10) | .calls] | "
                  "unique'",
                  "[\n  100000\n]\n");
}

/* Pages are unmapped, protected and cut from their file, after they could be read. The program has its own action for
 * SIGSEGV, or blocks it. It gets its own faults alone. */
Test(e2e_values_recorded, of_pages_that_vanish)
{
    free(run_well("gcc -O2 -g -finstrument-functions -o vanishing " SOURCES "vanishing.c -lpthread"));
    values_expect("$DWELL record -q --values 'look:*at' ./vanishing", "1 0\n");
    values_expect("$DWELL values --each -n 0 --format json 'look:*at' | jq -r '.rows[] | \"\\(.values[\"*at\"]) "
                  "\\(.calls)\"' | LC_ALL=C sort",
                  "1 21\n2 14\n3 7\nnull 28\n");
}

/* A new page has 0 until 4 is stored. */
Test(e2e_values_recorded, of_pages_that_another_thread_unmaps)
{
    free(run_well("gcc -O2 -g -finstrument-functions -o vanishing " SOURCES "vanishing.c -lpthread"));
    values_expect("$DWELL record -q --values 'look:*at' ./vanishing 5000 > printed; cut -d' ' -f1 printed", "1\n");
    values_compare("race", "$DWELL values --each -n 0 --format json 'look:*at' | jq '[.rows[].calls] | add'",
                   "expr $(cut -d' ' -f2 printed) + 70");
    values_expect("$DWELL values --each -n 0 --format json 'look:*at' | jq -c '[.rows[].values[\"*at\"]] - [0, 4] | "
                  "sort'",
                  "[null,1,2,3]\n");
}

/* The length of a text, and whether it is cut. */
#define LENGTHS(what)                                                                                                  \
    "$DWELL values --each -n 0 --format json long_texts:" what " | jq -r '.rows[].values." what "' | "                 \
    "awk '{ cut = sub(/\\.\\.\\.$/, \"\"); print length($0) (cut ? \"+\" : \"\") }' | sort -n | uniq | tr '\\n' ' '"

Test(e2e_values_recorded, long_texts)
{
    values_build("gcc -O2 " SOURCES "valued.c");
    values_expect("$DWELL record -q --values long_texts ./valued long", "");
    values_expect(LENGTHS("a"), "1 2 4 8 16 32 64 64+ ");
    values_expect("$DWELL record -q --values long_texts --values-text 5 ./valued long", "");
    values_expect(LENGTHS("b"), "1 2 4 5+ ");
    values_expect("$DWELL record -q --values long_texts --values-text 1024 ./valued long", "");
    values_expect(LENGTHS("a"), "1 2 4 8 16 32 64 128 256 512 1024 1024+ ");
    values_expect(LENGTHS("b"), "1 2 4 8 16 32 64 128 256 512 984+ "); /* a row has room for 255 words */
    values_expect(LENGTHS("c"), "0+ 1 2 4 8 16 32 64 128 256 512 ");
    values_expect("$DWELL values --each -n 0 --format json long_texts:n | jq '[.rows[].values.n] | max'", "1500\n");
}

/* The longest line of the table that a terminal of 80 columns gets; it has no characters of several bytes. */
static size_t values_widest(const char *what)
{
    struct ran r = run_on_terminal(80, "DWELL_PROGRESS=0 NO_COLOR=1 DWELL_PAGER= LC_ALL=C $DWELL values %s", what);
    size_t widest = 0;
    for (const char *line = strstr(r.out, "CALLS"); line && *line;) {
        const size_t length = strcspn(line, "\r\n");
        widest = length > widest ? length : widest;
        line += length + strspn(line + length, "\r\n");
    }
    ran_drop(&r);
    return widest;
}

Test(e2e_values_recorded, long_texts_fit_a_terminal)
{
    values_build("gcc -O2 " SOURCES "valued.c");
    values_expect("$DWELL record -q --values long_texts --values-text 1024 ./valued long", "");
    cr_assert(le(sz, values_widest("--each long_texts:a"), 80));
    cr_assert(le(sz, values_widest("--each long_texts:a,b"), 80));
    values_expect("$DWELL values long_texts:a | awk 'length > 1000 { print \"whole\" }' | uniq", "whole\n");
    values_expect("$DWELL values --format csv long_texts:a | awk 'length > 1000 { print \"whole\" }' | uniq",
                  "whole\n");
}

/* ---- what must not happen ---- */

Test(e2e_values_recorded, of_bad_addresses)
{
    for (int i = 0; i < 2; i++) {
        values_build(i ? "gcc -O2 " SOURCES "valued.c" : "gcc -O0 " SOURCES "valued.c");
        values_expect("$DWELL record -q --values 'point:*number,text' ./valued bad", "faults 0\n");
        values_expect(BY_VALUE("point", "*number"), "42|1\nnull|8\n");
        values_expect(BY_VALUE("point", "text"), "end|1\nnull|8\n");
        values_expect("$DWELL values point:text | grep -c ' (unreadable)$'", "1\n");
    }
}

/* The memory above a stack that the program made is not all stack, though open calls are further up. */
Test(e2e_values_recorded, above_a_stack_of_the_programs_own)
{
    for (int i = 0; i < 2; i++) {
        values_build(i ? "gcc -O2 " SOURCES "valued.c" : "gcc -O0 " SOURCES "valued.c");
        values_expect("$DWELL record -q --values 'point:*number,text' ./valued stack", "faults 0\n");
        values_expect(BY_VALUE("point", "*number"), "null|8\n");
    }
}

Test(e2e_values_recorded, change_no_state)
{
    values_build("gcc -O2 " SOURCES "valued.c");
    values_expect("$DWELL record -q --values 'many' ./valued state 100000", "wrong 0\n");
    values_expect("$DWELL info --format json | jq -c '.values.functions[0].calls'", "100000\n");
}

/* Around a probe in `watched`: that of the enter or of the exit. */
#define AROUND(hook)                                                                                                   \
    "awk '/^watched:/ { inside = 1 } /\\.size\\twatched/ { inside = 0 } inside && /call.*__cyg_profile_func_" hook     \
    "/ { print \"state before\"; print; print \"state after\"; next } { print }'"

/* With values in registers alone, then with such that programs of loads read, also from vector registers. */
static void values_check_state(const char *around)
{
    for (int i = 0; i < 2; i++) {
        free(run_well("gcc -O%d -g -finstrument-functions -S -o - " SOURCES "kept.c | %s > kept.s", 2 * i, around));
        free(run_well("gcc -o kept kept.s"));
        values_expect("$DWELL record -q --values watched:a,b,return ./kept 100000", "wrong 0 of 100000\n");
        values_expect(BY_VALUE("watched", "a") " | head -n 2", "0|12500\n1|12500\n");
        values_expect("$DWELL record -q --values watched ./kept 20000", "wrong 0 of 20000\n");
        values_expect(BY_VALUE("watched", "text"), "a|10000\nbc|10000\n");
    }
}

Test(e2e_values_recorded, keep_all_registers)
{
    values_check_state(AROUND("enter"));
}

Test(e2e_values_recorded, keep_all_registers_at_exits)
{
    values_check_state(AROUND("exit"));
}

Test(e2e_values_recorded, that_are_too_many)
{
    values_build("gcc -O2 " SOURCES "valued.c");
    values_expect("$DWELL record -q --values nothing ./valued calls 1 2>&1 | sed 's/; did.*//'",
                  "dwell: --values: no function of ./valued that calls a probe is named 'nothing'\n");
    values_expect("$DWELL record -q --values work:nothing ./valued calls 1 2>&1 >/dev/null; true",
                  "dwell: --values: work: no parameter 'nothing'; it has n, text, request, kind, good, byte\n");
}

/* Values of one function add up. A pattern for all, and another choice for one of these: the last one counts. */
Test(e2e_values_recorded, of_several_options)
{
#define NAMES "$DWELL info --format json | jq -c '.values.functions[] | select(.calls == 50) | .values'"
    values_build("gcc -O2 " SOURCES "valued.c");
    free(run_well("$DWELL record -q --values work:n --values work:kind,n ./valued calls 50"));
    values_expect(NAMES, "[\"n\",\"kind\"]\n");
    values_expect("$DWELL values work:kind --format json | jq '[.rows[].calls] | add'", "50\n");
    values_expect("$DWELL values work:n --format json | jq '[.rows[].calls] | add'", "50\n");
    free(run_well("$DWELL record -q --values 'w*' --values work:text ./valued calls 50"));
    values_expect(NAMES, "[\"text\"]\n");
    free(run_well("$DWELL record -q --values work:text --values 'wor*' ./valued calls 50"));
    values_expect(NAMES " | jq 'length > 3'", "true\n");
}

Test(e2e_values_recorded, of_many_functions)
{
    free(run_well(
        "(for i in $(seq 21); do echo \"__attribute__((noinline, noclone)) int part_$i(int n) { static volatile "
        "int sum; sum += n; return n; }\"; done; echo 'int main(void) { return 0'; for i in $(seq 21); do echo "
        "\"* part_$i($i)\"; done; echo '; }') > many.c"));
    free(run_well("gcc -O2 -g -finstrument-functions -o many many.c"));
    values_expect("$DWELL record -q --values 'part_*:n' ./many 2>&1; true",
                  "dwell: --values 'part_*:n' names more than 20 functions, and values are secrets: name fewer, or add "
                  "--values-many\n");
    free(run_well("$DWELL record -q --values 'part_*:n' --values-many ./many"));
    values_expect("$DWELL info --format json | jq '.values.functions | length'", "21\n");
    values_expect(BY_VALUE("part_7", "n"), "7|1\n");
    values_expect("$DWELL record -q --values-many ./many 2>&1; true",
                  "dwell: --values-many is for --values FUNCTION\n");
}

/* Named by its file, before the program loads it; then it is unloaded, and loaded again. */
static void values_check_plugin(const char *build_id)
{
    free(run_well("cat > plugin.c <<'END'\n"
                  "static volatile int sum;\n"
                  "int handle(int n) { sum += n; return sum; }\n"
                  "END\n"
                  "cat > host.c <<'END'\n"
                  "#include <dlfcn.h>\n"
                  "#include <stdio.h>\n"
                  "int main(void) { for (int round = 0; round < 3; round++) {\n"
                  "    void *plugin = dlopen(\"./plugin.so\", RTLD_NOW);\n"
                  "    int (*handle)(int) = (int (*)(int))dlsym(plugin, \"handle\");\n"
                  "    for (int i = 0; i < 100; i++) handle(round * 1000 + i);\n"
                  "    dlclose(plugin); } return 0; }\n"
                  "END\n"
                  "gcc -O2 -g -fPIC -shared -finstrument-functions %s -o plugin.so plugin.c\n"
                  "gcc -O2 -g -finstrument-functions -o host host.c -ldl",
                  build_id));
    free(run_well("$DWELL record -q --values ./plugin.so!handle:n ./host"));
    /* The first call after each loading comes before the runtime knows the library. */
    values_expect("$DWELL values --each -n 0 --format json handle:n | jq -c '[.rows[] | select(.calls != 1 or "
                  ".values.n % 1000 > 99)], ([.rows[].values.n / 1000 | floor] | unique), (.rows | length > 200)'",
                  "[]\n[0,1,2]\ntrue\n");
}

Test(e2e_values_recorded, of_a_library_that_is_loaded_later)
{
    values_check_plugin("");
    values_expect("$DWELL record -q --values ./nothing.so!handle ./host 2>&1; true",
                  "dwell: --values './nothing.so!handle': ./nothing.so: No such file or directory\n");
    values_expect(
        "$DWELL record -q --values ./plugin.so!hande ./host 2>&1 | grep -c \"did you mean '.*/plugin.so!handle'\"",
        "1\n");
}

Test(e2e_values_recorded, of_a_library_without_build_id)
{
    values_check_plugin("-Wl,--build-id=none");
}

/* What is read of so many calls takes longer than the budget allows, and the budget cannot change it. That the program
 * also waits makes it no cheaper. */
Test(e2e_values_recorded, dearer_than_the_budget)
{
    free(run_well("echo '#include <unistd.h>\n"
                  "static volatile long sum; __attribute__((noinline)) static void tiny(long n) { sum += n; } int "
                  "main(void) { for (long i = 0; i < 20000000; i++) tiny(i); sleep(6); return 0; }' > tiny.c; gcc -O2 "
                  "-g -finstrument-functions -o tiny tiny.c; $DWELL record -q --overhead 10%% --values tiny:n ./tiny"));
    values_expect("$DWELL info --format json | jq -r '.remarks[] | select(.code == \"budget-exceeded\").text'",
                  "overhead above the budget: values of 20000000 calls; name rarer functions\n");
}

Test(e2e_values_recorded, in_info)
{
    values_build("gcc -O2 " SOURCES "valued.c");
    free(run_well("$DWELL record -q --values work:n,text ./valued calls 1000"));
    values_expect(
        "$DWELL info --format json | jq -c '.values | [.functions[0].values, .functions[0].calls, .lost_calls]'",
        "[[\"n\",\"text\"],1000,0]\n");
    values_expect("$DWELL info | grep -c '^values .*n, text of 1000 calls of valued+0x'", "1\n");
    values_expect("$DWELL values work 2>&1; true",
                  "dwell: several values are recorded of that function; name one as FUNCTION:WHAT: n, text\n");
}

/* A result beside it leaves one parameter. */
Test(e2e_values_recorded, the_only_parameter_is_meant)
{
    values_build("gcc -O2 " SOURCES "valued.c");
    free(run_well("$DWELL record -q --values work:n,return ./valued calls 1000"));
    values_expect("$DWELL values work --format csv >one; $DWELL values work:n --format csv >other; cmp one other && "
                  "wc -l <one | tr -d ' ' | awk '{ print ($1 > 1) }'",
                  "1\n");
}

Test(e2e_values_recorded, that_are_not_merged)
{
    values_build("gcc -O2 " SOURCES "valued.c");
    free(run_well("$DWELL record -q -o one.data --values few ./valued threads 1000"));
    free(run_well("$DWELL record -q -o two.data --values few ./valued threads 1000"));
    free(run_well("$DWELL merge -o both.data one.data two.data"));
    values_expect("$DWELL info --format json both.data | jq .values", "null\n");
    values_expect("$DWELL values few both.data 2>&1; true",
                  "dwell: no values of few are recorded; dwell record --values 'few' does so\n");
}
