/* Copies of one source function are one function of a session. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/copies.h"
#include "analysis/find_function.h"
#include "profile/calls.h"
#include "support/copies_session.h"
#include "support/load.h"
#include "support/rows.h"
#include "support/scenario.h"
#include "support/success.h"

TestSuite(unit_copies, .timeout = 300);

static const char *copies_save(void)
{
    struct writer *w = copies_session();
    writer_save(w, test_path("copies"));
    writer_free(w);
    return test_path("copies");
}

static uint32_t copies_only(const struct analysis *analysis, const char *text)
{
    uint32_t function = 0;
    EXPECT_SUCCESS(function_find(analysis, text, &function, &error));
    return function;
}

Test(unit_copies, a_merged_row_counts_nested_activations_once)
{
    struct analysis analysis;
    load_whole(&analysis, copies_save(), 1);
    struct times *sums = rollup_groups(analysis.rollup, BY_FUNCTION);
    cr_assert(eq(sz, analysis.profile->function_count, 4));
    ASSERT_TIMES(sums[copies_only(&analysis, "length@0x2000")], 30, 30, 30, 30, 3);
    ASSERT_TIMES(sums[copies_only(&analysis, "length@list.h")], 10, 10, 10, 10, 1);
    ASSERT_TIMES(sums[copies_only(&analysis, "length@libshop.so")], 10, 10, 10, 10, 1);
    ASSERT_TIMES(sums[copies_only(&analysis, "main")], 100, 50, 100, 50, 1);
    cr_assert(eq(u64, analysis.profile->functions[copies_only(&analysis, "length@0x2000")].offset, 0x2000));
    free(sums);
    analysis_drop(&analysis);
}

Test(unit_copies, can_be_kept_apart)
{
    struct analysis analysis;
    load_with(&analysis, copies_save(), &(struct analysis_options){ .jobs = 1, .no_merge = true });
    struct times *sums = rollup_groups(analysis.rollup, BY_FUNCTION);
    cr_assert(eq(sz, analysis.profile->function_count, 5));
    ASSERT_TIMES(sums[copies_only(&analysis, "length@0x3000")], 20, 15, 20, 15, 1);
    ASSERT_TIMES(sums[copies_only(&analysis, "length@0x2000")], 15, 15, 15, 15, 2);
    free(sums);
    analysis_drop(&analysis);
}

struct copies_calls {
    uint32_t function;
    uint64_t count, elapsed;
};

static bool copies_add_call(void *context, const struct finished_call *call)
{
    struct copies_calls *c = context;
    if (call->function == c->function) {
        c->count++;
        c->elapsed += call_ticks(call->times[CALL_ELAPSED_INCLUSIVE]);
    }
    return true;
}

/* Also where only the calls of a function are selected. */
Test(unit_copies, single_calls_are_those_of_all_copies)
{
    struct analysis_options options = { .jobs = 1 };
    for (int narrow = 0; narrow < 2; narrow++) {
        struct analysis analysis;
        if (narrow)
            selection_add_name(&options.selection.roots, "mai?");
        load_with(&analysis, copies_save(), &options);
        struct copies_calls calls = { .function = copies_only(&analysis, "length@0x2000") };
        analysis_follow_calls(&analysis, false, copies_add_call, &calls);
        cr_assert(eq(u64, calls.count, 3));
        cr_assert(eq(u64, calls.elapsed, 35));
        analysis_drop(&analysis);
    }
    selection_request_drop(&options.selection);
}

/* The shortest and longest calls of paths, if a later pass finds them, come to the paths of joined copies. */
Test(unit_copies, limits_that_are_found_later_are_those_of_all_copies)
{
    struct analysis wanted, later;
    load_with(&wanted, copies_save(), &(struct analysis_options){ .jobs = 1, .limits = true });
    load_with(&later, copies_save(), &(struct analysis_options){ .jobs = 2, .limits = true, .limits_later = true });
    cr_assert(later.measured != NULL);
    cr_assert(later.lacks_limits);
    for (uint32_t i = 0; i < later.measured->node_count; i++) { /* as where the cost of probes is known */
        later.measured->nodes[i].shortest = UINT64_MAX;
        later.measured->nodes[i].longest = 0;
    }
    for (uint32_t i = 0; i < later.profile->node_count; i++) {
        later.profile->nodes[i].shortest = UINT64_MAX;
        later.profile->nodes[i].longest = 0;
    }
    analysis_scan_with_limits(&later, NULL, NULL);
    struct times *sums = rollup_groups(wanted.rollup, BY_FUNCTION), *found = rollup_groups(later.rollup, BY_FUNCTION);
    for (uint32_t i = 0; i < wanted.profile->function_count; i++) {
        cr_assert(eq(u64, found[i].shortest, sums[i].shortest));
        cr_assert(eq(u64, found[i].longest, sums[i].longest));
    }
    const uint32_t length = copies_only(&later, "length@0x2000");
    cr_assert(eq(u64, found[length].shortest, 5));
    cr_assert(eq(u64, found[length].longest, 20));
    free(sums);
    free(found);
    analysis_drop(&wanted);
    analysis_drop(&later);
}

Test(unit_copies, several_roots)
{
    struct analysis_options options = { .jobs = 1 };
    struct analysis analysis;
    selection_add_name(&options.selection.roots, "length@list.h:9");
    selection_add_name(&options.selection.roots, "length@*.so");
    load_with(&analysis, copies_save(), &options);
    cr_assert(eq(u64, analysis.summary.elapsed_inclusive, 20));
    cr_assert(eq(str, analysis.summary.selection, "in calls of length@list.h:9 or length@*.so"));
    analysis_drop(&analysis);
    selection_request_drop(&options.selection);
}

Test(unit_copies, the_message_lists_what_can_be_typed)
{
    struct analysis analysis;
    uint32_t function;
    struct error error = { NULL };
    load_whole(&analysis, copies_save(), 1);
    cr_assert(not(function_find(&analysis, "length", &function, &error)));
    cr_assert(eq(str, error.text, "'length' names 3 functions; type one of:"));
    cr_assert(eq(str, error.list, "  length@libshop.so\n  length@0x2000\n  length@list.h:9\n"));
    error_drop(&error);
    analysis_drop(&analysis);
}

static const char *copies_save_build(const char *name, const char *build_id)
{
    const char *path = strdup(test_path(name));
    struct writer *w = writer_new();
    set_build_id(w, build_id, strlen(build_id));
    write_process(w, 1, 100, "/bin/p");
    write_module(w, 1, 1, 0x400000, 0x401000, 0x402000, 0, "/bin/p");
    write_symbol_module(w, 0, "/bin/p");
    write_symbol(w, 0, 0, 0, 0x1000, "work");
    write_thread_at(w, 1, 1, 100, SOURCE_PERF, 10, "t");
    begin_events(w, 1, 1, 0, 10, NULL, 0);
    write_enter(w, 10, 0x401000);
    write_exit(w, 20);
    end_events(w, true);
    writer_save(w, path);
    writer_free(w);
    return path;
}

/* Two builds have the function at one address: each text of the message names one of them. */
Test(unit_copies, of_several_builds)
{
    struct analysis analysis;
    uint32_t one, other;
    struct error error = { NULL };
    const char *const paths[] = { copies_save_build("one", "abcdefgh"), copies_save_build("other", "abcdeghi") };
    load_several(&analysis, paths, 2, &(struct analysis_options){ .jobs = 1 });
    cr_assert(not(function_find(&analysis, "work", &one, &error)));
    cr_assert(eq(str, error.list, "  work@0x1000:616263646566\n  work@0x1000:616263646567\n"));
    error_drop(&error);
    cr_assert(function_find(&analysis, "work@0x1000:616263646566", &one, &error));
    cr_assert(function_find(&analysis, "work@0x1000:616263646567", &other, &error));
    cr_assert(ne(u32, one, other));
    analysis_drop(&analysis);
}

/* The copies of several sessions of one build are one function, whichever of them each session has. */
Test(unit_copies, of_several_sessions)
{
    struct analysis analysis;
    const char *const paths[] = { copies_save(), copies_save() };
    load_several(&analysis, paths, 2, &(struct analysis_options){ .jobs = 1 });
    struct times *sums = rollup_groups(analysis.rollup, BY_FUNCTION);
    cr_assert(eq(sz, analysis.profile->function_count, 4));
    ASSERT_TIMES(sums[copies_only(&analysis, "length@0x2000")], 60, 60, 60, 60, 6);
    free(sums);
    analysis_drop(&analysis);
}

/* The destructor that frees the object calls the other one of its name: two rows, as before. */
Test(unit_copies, constructors_and_destructors)
{
    struct profile *p = profile_new();
    const uint32_t module = profile_module(p, "/bin/shop", (const uint8_t *)"", 0);
    char *const linkage[] = { "_ZN1AC1Ev", "_ZN1AC2Ev", "_ZN1AD0Ev", "_ZN1AD1Ev", "_ZN1AD2Ev" };
    struct function_name names[5];
    for (uint32_t i = 0; i < 5; i++) {
        profile_function(p, module, 0x100 + i);
        names[i] = (struct function_name){ i < 2 ? "A::A()" : "A::~A()", linkage[i], "shop", "a.cc", i < 2 ? 3 : 4 };
    }
    uint32_t *first = copies_find(p, names);
    const uint32_t expected[] = { 0, 0, 2, 3, 3 };
    cr_assert(zero(int, memcmp(first, expected, sizeof expected)));
    free(first);
    profile_free(p);
}
