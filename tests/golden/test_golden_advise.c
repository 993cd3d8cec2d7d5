/* dwell advise, byte for byte, on a hand-written session with short functions whose names contain each other. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "dwell/format.h"
#include "support/golden.h"
#include "support/run.h"
#include "support/scenario.h"

enum { MAIN = 0x1000, WORK = 0x2000, FUNCTIONS = 0x3000, STEP = 0x100, TICK = 256 };

/* Called by main: name, calls and duration. */
static const struct {
    const char *name;
    unsigned calls, ticks;
} advise_functions[] = { { "get", 200, 20 },         /* a part of the next one */
                         { "widget_draw", 40, 900 }, /* long */
                         { "hash", 300, 15 },        /* a part of the next one, which is also short */
                         { "hash_step", 100, 16 },
                         { "rare", 20, 15 },                            /* too few calls to matter */
                         { "std::vector<int>::size() const", 100, 14 }, /* GCC prints another name */
                         { "int ns::twice<int>(int)", 90, 15 },
                         { "(anonymous namespace)::odd(int*, int)", 80, 15 } };
enum { ADVISE_FUNCTIONS = sizeof advise_functions / sizeof *advise_functions };

static struct writer *advise_session(uint32_t in_callee)
{
    struct writer *w = writer_new();
    write_process(w, 1, 70, "/opt/shop");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "shop");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/no/shop");
    if (in_callee)
        write_probes(w, 1, in_callee * TICK, 4 * TICK, 0);
    write_symbol_module(w, 1, "/no/shop");
    write_symbol_file(w, 1, "/src/shop.cc");
    write_symbol_file(w, 2, "/include/stl_vector.h");
    write_symbol(w, 1, 1, 90, MAIN, "main");
    for (unsigned i = 0; i < ADVISE_FUNCTIONS; i++)
        write_symbol(w, 1, strchr(advise_functions[i].name, '<') ? 2 : 1, 10 * (i + 1), FUNCTIONS + i * STEP,
                     advise_functions[i].name);
    return w;
}

static void advise_save(struct writer *w, const char *name)
{
    uint64_t at = 100;
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    for (unsigned i = 0; i < ADVISE_FUNCTIONS; i++)
        for (unsigned call = 0; call < advise_functions[i].calls; call++) {
            write_enter(w, at, FUNCTIONS + i * STEP);
            write_exit(w, at + advise_functions[i].ticks);
            at += advise_functions[i].ticks + 10;
        }
    write_exit(w, at + 20000);
    end_events(w, true);
    writer_save(w, test_path(name));
    writer_free(w);
}

enum {
    LIBRARY = 0x20000,
    TEXT_COPY = 0x100,
    TEXT_PARSE = 0x200,
    TEXT_RARE = 0x300,
    TEXT_READ = 0x400,
    TEXT_THROW = 0x500
};

/* A sample each millisecond: 40 of copy_text, which work and main call, 20 of [x], 1 of rare. Those of read and
 * __cxa_throw are left alone. */
static void advise_save_library_calls(void)
{
    static const char *const names[] = { "copy_text", "parse[x]", "rare", "read", "__cxa_throw" };
    struct writer *w = advise_session(8);
    write_header(w, 240, 1000000, 4);
    write_module(w, 1, 2, LIBRARY, LIBRARY, LIBRARY + 0x9000, 0, "/no/libtext.so.1");
    write_symbol(w, 1, 1, 95, WORK, "work");
    write_symbol_module(w, 2, "/no/libtext.so.1");
    for (unsigned i = 0; i < 5; i++)
        write_symbol(w, 2, 0, 0, TEXT_COPY + i * 0x100, names[i]);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, MAIN);
    write_enter(w, 100000000, WORK);
    write_exit(w, 180000000);
    write_exit(w, 200000000);
    end_events(w, true);
    begin_samples(w, 1, 1, 70, 71, 0);
    for (uint64_t ms = 0; ms < 200; ms++) {
        uint64_t address = ms < 100 || ms >= 180 ? MAIN : WORK;
        address = ms >= 100 && ms < 130   ? LIBRARY + TEXT_COPY
                  : ms >= 130 && ms < 150 ? LIBRARY + TEXT_PARSE
                  : ms == 150             ? LIBRARY + TEXT_RARE
                  : ms > 150 && ms < 160  ? LIBRARY + TEXT_READ
                  : ms >= 160 && ms < 170 ? LIBRARY + TEXT_THROW
                  : ms >= 185 && ms < 195 ? LIBRARY + TEXT_COPY
                                          : address;
        write_sample(w, &(struct written_sample){ ms * 1000000 + 500000, &address, NULL, 1, 0 });
    }
    end_samples(w, true);
    writer_save(w, test_path("library.data"));
    writer_free(w);
}

static void advise_save_sessions(void)
{
    advise_save_library_calls();
    advise_save(advise_session(8), "shop.data");
    advise_save(advise_session(0), "unknown.data");
}

TestSuite(golden_advise, .init = advise_save_sessions, .timeout = 300);

Test(golden_advise, the_table)
{
    check_golden("advise shop.data", "advise.txt");
    check_golden("advise --format csv shop.data", "advise.csv");
    check_golden("advise --format json shop.data", "advise.json");
    check_golden("advise --sort mean --columns mean,calls -n 3 --overhead 1 shop.data", "advise-chosen.txt");
}

/* The last line of the text records the calls. */
Test(golden_advise, functions_of_libraries)
{
    check_golden("advise library.data", "advise-library.txt");
    check_golden("advise --format json library.data", "advise-library.json");
}

static void advise_expect(const char *arguments, const char *name)
{
    char *text = run_well("$DWELL advise --overhead 1 %s shop.data 2>&1", arguments);
    check_text(text, name);
    free(text);
}

Test(golden_advise, forms)
{
    advise_expect("--flags gcc", "advise-gcc.txt");
    advise_expect("--flags clang", "advise-clang.txt");
    advise_expect("--attributes", "advise-attributes.txt");
    advise_expect("--filter", "advise-filter.txt");
    advise_expect("--levels", "advise-levels.txt");
}

Test(golden_advise, nothing_is_worth_leaving_out)
{
    check_golden("advise --overhead 1000% shop.data", "advise-nothing.txt");
    struct ran r = run("$DWELL advise --overhead 1000%% --flags gcc shop.data");
    cr_assert(eq(int, r.status, 0));
    cr_assert(eq(str, r.out, ""), "a make file can use it as it is");
    cr_assert(eq(str, r.err, "dwell: shop.data: nothing is worth leaving out\n"));
    ran_drop(&r);
}

Test(golden_advise, errors)
{
    static const struct {
        const char *arguments, *message;
    } wrong[] = {
        { "unknown.data", "dwell: unknown.data: has no cost of the probes; record again, with at least one call\n" },
        { "--flags icc shop.data", "dwell: --flags: 'icc' is none of gcc, clang; did you mean 'gcc'?\n" },
        { "--flags gcc --levels shop.data",
          "dwell: advise: --flags, --attributes, --filter and --levels are different forms: choose one\n" },
        { "--levels --format csv shop.data",
          "dwell: advise: --format is of the table; the other forms have their own\n" },
        { "--overhead 0 shop.data", "dwell: --overhead: '0' is not a percentage from 1 to 1000\n" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct ran r = run("$DWELL advise %s", wrong[i].arguments);
        cr_assert(eq(int, r.status, 2), "%s", wrong[i].arguments);
        cr_assert(eq(str, r.err, (char *)wrong[i].message));
        ran_drop(&r);
    }
}

/* What a terminal, a shell or make would obey is in no output. */
Test(golden_advise, hostile_names)
{
    struct writer *w = writer_new();
    write_process(w, 1, 70, "/opt/shop");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "shop");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "/no/shop");
    write_probes(w, 1, 8 * TICK, 4 * TICK, 0);
    write_symbol_module(w, 1, "/no/shop");
    write_symbol_file(w, 1, "/src/$(touch no).c");
    write_symbol(w, 1, 1, 9, FUNCTIONS, "x\033[31m\nFORGED");
    write_symbol(w, 1, 1, 9, FUNCTIONS + STEP, "$(touch no)");
    write_symbol(w, 1, 1, 9, FUNCTIONS + 2 * STEP, "`touch no`");
    advise_save(w, "hostile.data");
    static const char *const forms[] = { "", "--flags gcc", "--attributes", "--filter", "--levels" };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        free(run_well("$DWELL advise --overhead 1 %s hostile.data >out-%zu 2>err-%zu", forms[i], i, i));
        free(run_well("python3 -B " DWELL_CONSUMERS "/visible.py out-%zu err-%zu; ! grep ^FORGED out-%zu", i, i, i));
    }
    char *flags = run_well("cat out-1");
    cr_assert(eq(str, flags, ""));
    free(flags);
}
