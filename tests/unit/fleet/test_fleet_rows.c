/* The numbers of modules, functions and paths; the rows of a session; texts and rows on their way. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fleet/binary.h"
#include "fleet/ids.h"
#include "fleet/runs.h"
#include "fleet/sum_rows.h"
#include "support/scenario.h"

TestSuite(unit_fleet_rows, .timeout = 300);

/* Computed by another program from the definition in docs/fleet.md. If they change, so must FLEET_VERSION. */
Test(unit_fleet_rows, numbers_are_those_of_the_definition)
{
    uint8_t build[] = { 0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef };
    const struct profile_module module = { .path = "/a", .build_id = build, .build_id_length = 8 };
    const struct profile_module same = { .path = "/elsewhere/a", .build_id = build, .build_id_length = 8 };
    const struct profile_module nameless = { .path = "/lib/a.so", .build_id = build, .build_id_length = 0 };
    const uint64_t m = fleet_module_id(&module);
    cr_assert(eq(u64, m, UINT64_C(0x523deca57b82ae04)));
    cr_assert(eq(u64, fleet_module_id(&same), m));
    cr_assert(eq(u64, fleet_module_id(&nameless), UINT64_C(0x6de1edc39c5cafe4)));
    const uint64_t outer = fleet_path_id(FLEET_NO_ID, m, 0x1000, false);
    cr_assert(eq(u64, outer, UINT64_C(0xd93420bf74de9f78)));
    cr_assert(eq(u64, fleet_path_id(outer, m, 0x2000, false), UINT64_C(0xb179e56dc3cf8b3a)));
    cr_assert(eq(u64, fleet_path_id(outer, m, 0x2000, true), UINT64_C(0xd5d76e9e7468c395)));
    const struct function_name known = { .name = "f(int)", .linkage_name = "_Z1fi", .file = "/src/a.cc", .line = 7 };
    const struct function_name unknown = { .name = "f(int)", .linkage_name = "_Z1fi" };
    cr_assert(eq(u64, fleet_function_id(m, 0x1000, &known), UINT64_C(0xdd9dce3155d6696d)));
    cr_assert(eq(u64, fleet_function_id(m, 0x3000, &known), UINT64_C(0xdd9dce3155d6696d)), "a copy");
    cr_assert(eq(u64, fleet_function_id(m, 0x1000, &unknown), UINT64_C(0xc552901c94b35488)));
}

/* ---- rows ---- */

struct sums {
    struct times *functions, *modules;
    const struct fleet_numbers *numbers;
    const struct profile *profile;
    uint64_t elapsed;
    uint64_t paths[64];
    size_t count;
};

static bool rows_sum(void *context, const struct fleet_row *row)
{
    struct sums *s = context;
    for (size_t i = 0; i < s->profile->function_count; i++)
        if (s->numbers->functions[i] == row->place.function) {
            s->functions[i].calls += row->amounts.calls;
            s->functions[i].elapsed_exclusive += row->amounts.elapsed;
            s->functions[i].elapsed_inclusive += row->amounts.function_elapsed;
            s->functions[i].application_inclusive += row->amounts.function_application;
        }
    for (size_t i = 0; i < s->profile->module_count; i++)
        if (s->numbers->modules[i] == row->place.module)
            s->modules[i].elapsed_inclusive += row->amounts.module_elapsed;
    s->elapsed += row->amounts.elapsed;
    if (row->place.path && s->count < 64)
        s->paths[s->count++] = row->place.path;
    return true;
}

static struct sums rows_of(const char *name, struct writer *w, struct fleet_session *session)
{
    struct error error = { NULL };
    writer_save(w, test_path(name));
    writer_free(w);
    cr_assert(fleet_session_open(session, test_path(name), &error), "%s", error.text);
    const struct profile *p = session->analysis.profile;
    struct sums s = { .numbers = &session->numbers, .profile = p };
    s.functions = need_memory(p->function_count, sizeof *s.functions);
    s.modules = need_memory(p->module_count, sizeof *s.modules);
    cr_assert(fleet_follow_rows(session, rows_sum, &s, &error));
    return s;
}

static void rows_drop(struct sums *s, struct fleet_session *session)
{
    free(s->functions);
    free(s->modules);
    fleet_session_drop(session);
}

/* main calls f, which calls itself twice over g: f's inclusive time is that of the outer call. */
static struct writer *rows_recursive_session(void)
{
    const struct tree_node nodes[] = {
        { .function = 0x400100, .calls = 1, .elapsed = 100 },
        { .function = 0x400200, .parent = 1, .calls = 1, .elapsed = 20 },
        { .function = 0x400300, .parent = 2, .calls = 2, .elapsed = 3 },
        { .function = 0x400200, .parent = 3, .calls = 2, .elapsed = 400 },
        { .function = 0x400200, .parent = 4, .calls = 2, .elapsed = 5000 },
    };
    struct writer *w = writer_new();
    write_header(w, 96, 1, 4); /* mode profile */
    write_process(w, 1, 70, "/bin/p");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "one");
    write_tree(w, 1, 1, nodes, 5);
    return w;
}

Test(unit_fleet_rows, sums_of_rows_are_the_functions_inclusive_times)
{
    struct fleet_session session;
    struct analysis analysis;
    struct error error = { NULL };
    struct sums s = rows_of("recursive", rows_recursive_session(), &session);
    cr_assert(session.whole == false);
    cr_assert(analysis_load(&analysis, test_path("recursive"), &(struct analysis_options){ .no_merge = true }, &error));
    struct times *functions = rollup_groups(analysis.rollup, BY_FUNCTION),
                 *modules = rollup_groups(analysis.rollup, BY_MODULE);
    uint64_t largest = 0;
    for (uint32_t i = 0; i < analysis.profile->function_count; i++) {
        const struct times *function = &s.functions[profile_find_same_function(s.profile, analysis.profile, i)];
        cr_assert(eq(u64, function->calls, functions[i].calls));
        cr_assert(eq(u64, function->elapsed_exclusive, functions[i].elapsed_exclusive));
        cr_assert(eq(u64, function->elapsed_inclusive, functions[i].elapsed_inclusive));
        cr_assert(eq(u64, function->application_inclusive, functions[i].application_inclusive));
        if (functions[i].calls == 5)
            largest = functions[i].elapsed_inclusive;
    }
    for (size_t i = 0; i < analysis.profile->module_count; i++)
        cr_assert(eq(u64, s.modules[i].elapsed_inclusive, modules[i].elapsed_inclusive));
    cr_assert(eq(u64, s.elapsed, 5523));
    cr_assert(eq(u64, largest, 5423), "the calls of f on the stack, once");
    free(functions);
    free(modules);
    analysis_drop(&analysis);
    rows_drop(&s, &session);
}

Test(unit_fleet_rows, paths_have_the_same_numbers_in_each_run)
{
    struct fleet_session one, other;
    struct sums s = rows_of("one", rows_recursive_session(), &one);
    struct sums t = rows_of("other", rows_recursive_session(), &other);
    cr_assert(eq(sz, s.count, 5));
    cr_assert(eq(sz, t.count, 5));
    for (size_t i = 0; i < 5; i++) {
        cr_assert(eq(u64, s.paths[i], t.paths[i]));
        for (size_t j = 0; j < i; j++)
            cr_assert(ne(u64, s.paths[i], s.paths[j]));
    }
    rows_drop(&s, &one);
    rows_drop(&t, &other);
}

/* ---- texts ---- */

/* Quotes, escapes, UTF-8 and all control characters. */
static char *rows_hostile(unsigned seed)
{
    static const char *const pieces[] = { "'",        "\"", "\\",   "\t", "\n",      "\r", "\x01", "\x7f",       "\xff",
                                          "\xc3\xa9", "%s", "')--", "`",  "unhex('", "a",  "*",    "{x:String}", ";" };
    char *text = need_copy("", 0);
    for (int i = 0; i < 30; i++) {
        seed = seed * 1103515245 + 12345;
        char *more = need_text("%s%s", text, pieces[(seed >> 16) % (sizeof pieces / sizeof *pieces)]);
        free(text);
        text = more;
    }
    return text;
}

Test(unit_fleet_rows, texts_are_digits_in_questions)
{
    for (unsigned i = 0; i < 1000; i++) {
        char *text = rows_hostile(i), *sql = fleet_sql_text(text);
        const size_t digits = strspn(sql + 7, "0123456789abcdef");
        cr_assert(strncmp(sql, "unhex('", 7) == 0);
        cr_assert(eq(sz, digits, 2 * strlen(text)));
        cr_assert(eq(str, sql + 7 + digits, "')"));
        char *word = need_text("label:%s=%s", "x", text);
        struct fleet_conditions conditions = { NULL };
        struct error error = { NULL };
        cr_assert(fleet_condition_add(&conditions, word, &error));
        cr_assert(strspn(conditions.sql, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ,()'=->") ==
                  strlen(conditions.sql));
        fleet_conditions_drop(&conditions);
        free(word);
        free(text);
        free(sql);
    }
}

Test(unit_fleet_rows, rows_are_read_as_they_were_written)
{
    struct binary_rows rows = { 0 };
    for (unsigned i = 0; i < 200; i++) {
        char *text = rows_hostile(i);
        binary_put_text(&rows, text);
        binary_put(&rows, UINT64_C(0x8081828384858687) + i, 8);
        binary_put_double(&rows, 0.1 * i);
        free(text);
    }
    for (size_t length = rows.length; length + 3 > rows.length; length--) {
        struct binary_reader r = { .in = fmemopen(rows.bytes, length, "r") };
        for (unsigned i = 0; i < 200 && !r.broken; i++) {
            char *expected = rows_hostile(i), *text = binary_get_text(&r, NULL);
            const uint64_t number = binary_get(&r, 8);
            const double real = binary_get_double(&r);
            if (!r.broken) {
                cr_assert(eq(str, text, expected));
                cr_assert(eq(u64, number, UINT64_C(0x8081828384858687) + i));
                cr_assert(real >= 0.1 * i && real <= 0.1 * i);
            }
            free(expected);
            free(text);
        }
        cr_assert(eq(int, r.broken, length < rows.length));
        cr_assert(binary_has_row(&r) == false);
        fclose(r.in);
    }
    binary_drop(&rows);
}
