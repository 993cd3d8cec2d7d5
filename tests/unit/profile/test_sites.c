/* Call sites: their records to the byte, paths that differ only by call site, and the view by line. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/find_function.h"
#include "analysis/lines.h"
#include "profile/node_order.h"
#include "support/load.h"
#include "support/scenario.h"
#include "support/site_session.h"
#include "tables/views.h"
#include "trace/decode.h"

enum { SITE = 16, INLINED = 17, OPEN_SITES = 18 };
enum { F = 0x10000, G = 0x20000 };
static const uint64_t inlined = 1ull << 63;

/* ---- records ---- */

/* The site of the last enter, whose caller is F. */
static uint64_t decode_written_site(struct writer *w)
{
    const char *path = test_path("sites.dwell"), *error;
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    cr_assert(file != NULL);
    uint8_t *buffer = malloc(file->chunks[0].size + TRACE_PADDING);
    cr_assert(session_file_read_chunk(file, &file->chunks[0], buffer));
    struct decoder d;
    decode_begin(&d, &file->chunks[0], buffer);
    uint64_t site = 0;
    for (enum decoded kind; (kind = decode_next(&d)) != DECODED_END; d.site = (struct decoded_site){ 0, 0, false })
        if (kind == DECODED_ENTER)
            site = decode_site(&d.site, F);
    free(buffer);
    session_file_close(file);
    return site;
}

static struct writer *sites_within_f(void)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_site(w, SITE, 0x777, 1);
    write_enter(w, 10, F);
    return w;
}

static uint64_t decode_value(unsigned type, uint64_t value, unsigned words)
{
    struct writer *w = sites_within_f();
    write_site(w, type, value, words);
    write_enter(w, 20, G);
    return decode_written_site(w);
}

Test(unit_sites, sites_of_every_length)
{
    cr_assert(eq(u64, decode_value(SITE, 1, 1), F + 1));
    cr_assert(eq(u64, decode_value(SITE, 0xffff, 1), F + 0xffff));
    cr_assert(eq(u64, decode_value(INLINED, 0x8001, 1), (F + 0x8001) | inlined));
    cr_assert(eq(u64, decode_value(SITE, 0x12345, 2), F + 0x12345));
    cr_assert(eq(u64, decode_value(SITE, 0xfffffff0, 2), F - 16)); /* signed */
    cr_assert(eq(u64, decode_value(INLINED, 0xfffffff0, 2), (F - 16) | inlined));
    cr_assert(eq(u64, decode_value(SITE, 0x7f0000001234, 3), 0x7f0000001234));
    cr_assert(eq(u64, decode_value(INLINED, 0x7f0000001234, 3), 0x7f0000001234 | inlined));
}

/* Before and after other extensions, and with words that a later version might add. */
Test(unit_sites, sites_among_other_extensions)
{
    struct writer *w = sites_within_f();
    write_site(w, SITE, 0x30, 1);
    write_os(w);
    write_enter(w, 20, G);
    cr_assert(eq(u64, decode_written_site(w), F + 0x30));
    w = sites_within_f();
    write_os(w);
    write_site(w, INLINED, 0x30, 1);
    write_enter(w, 20, G);
    cr_assert(eq(u64, decode_written_site(w), (F + 0x30) | inlined));
    w = sites_within_f();
    write_words(w, (uint16_t[]){ SITE << 8 | 5, 0x1234, 0, 0x7f00, 9, 9 }, 6);
    write_enter(w, 20, G);
    cr_assert(eq(u64, decode_written_site(w), 0x7f0000001234));
}

/* Sites without an enter: before a missing enter, or before an exit. The next enter has none. */
Test(unit_sites, a_site_without_an_enter_is_ignored)
{
    struct writer *w = sites_within_f();
    write_site(w, SITE, 0x30, 1);
    write_words(w, (uint16_t[]){ 0, 0, 0 }, 3);
    write_enter(w, 20, G);
    cr_assert(eq(u64, decode_written_site(w), 0));
    w = sites_within_f();
    write_site(w, SITE, 0x30, 1);
    write_exit(w, 20);
    write_enter(w, 30, G);
    cr_assert(eq(u64, decode_written_site(w), 0));
    w = sites_within_f();
    write_enter(w, 20, G);
    cr_assert(eq(u64, decode_written_site(w), 0));
}

Test(unit_sites, damaged_sites_end_the_chunk)
{
    const uint16_t heads[] = { SITE << 8, INLINED << 8 };
    for (int i = 0; i < 2; i++) {
        struct writer *w = sites_within_f();
        write_words(w, &heads[i], 1);
        write_enter(w, 20, G);
        struct outcome o = outcome_of(w, 1);
        cr_assert(eq(u64, o.profile->counts.enters, 1));
        cr_assert(eq(u64, o.profile->counts.damaged_chunks, 1));
        outcome_drop(&o);
    }
    struct writer *w = sites_within_f(); /* cut off by the chunk's end */
    write_words(w, (uint16_t[]){ SITE << 8 | 3, 1 }, 2);
    end_events(w, true);
    struct outcome o = outcome_of(w, 1);
    cr_assert(eq(u64, o.profile->counts.enters, 1));
    outcome_drop(&o);
}

/* ---- open calls ---- */

enum { MANY = 130 };

/* The site of each open call. `with_sites` of them have sites, in records of up to `per_record`. */
static void sites_check_open(unsigned with_sites, unsigned per_record)
{
    struct open_call calls[MANY];
    struct writer *w = writer_new();
    for (unsigned i = 0; i < MANY; i++)
        calls[i] = (struct open_call){ F, i };
    begin_events(w, 1, 1, 0, MANY, calls, MANY);
    for (unsigned i = 0; i < with_sites; i++) {
        if (i % per_record == 0) {
            const unsigned here = with_sites - i < per_record ? with_sites - i : per_record;
            write_words(w, (uint16_t[]){ (uint16_t)(OPEN_SITES << 8 | here * 4) }, 1);
        }
        write_words(w, (uint16_t[]){ (uint16_t)(i + 1), 0, 0, i % 2 ? 0x8000 : 0 }, 4);
    }
    write_enter(w, 200, G);
    const char *path = test_path("open.dwell"), *error;
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    struct profile *p = collect_sites(file, NULL, 1, NULL), *without = collect_profile(file, 1);
    cr_assert(eq(sz, p->site_count, with_sites));
    cr_assert(eq(sz, p->node_count, MANY + 2));
    cr_assert(eq(sz, without->node_count, MANY + 2));
    cr_assert(eq(sz, without->site_count, 0));
    for (unsigned i = 0; i < MANY; i++) {
        const uint32_t site = p->nodes[i + 1].site;
        cr_assert(eq(u32, site, i < with_sites ? i : PROFILE_NONE));
        if (i < with_sites) {
            cr_assert(eq(u64, p->sites[site].offset, i + 1));
            cr_assert(eq(int, p->sites[site].inlined, i % 2));
        }
    }
    profile_free(p);
    profile_free(without);
    session_file_close(file);
}

Test(unit_sites, sites_of_open_calls)
{
    sites_check_open(MANY, 63);
    sites_check_open(MANY, 1);
    sites_check_open(70, 63);
    sites_check_open(0, 63);
}

/* A record that extends beyond the chunk is ignored, and no other data is lost. */
Test(unit_sites, damaged_sites_of_open_calls)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 10, &(struct open_call){ F, 0 }, 1);
    write_words(w, (uint16_t[]){ OPEN_SITES << 8 | 252, 1, 1 }, 3);
    end_events(w, true);
    const char *path = test_path("open.dwell"), *error;
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    struct profile *p = collect_sites(file, NULL, 1, NULL);
    cr_assert(eq(sz, p->site_count, 0));
    cr_assert(eq(sz, p->node_count, 2));
    profile_free(p);
    session_file_close(file);
}

/* No runtime records the address zero. A damaged session has the same paths with and without sites. */
Test(unit_sites, open_calls_at_address_zero)
{
    struct writer *w = writer_new();
    begin_events(w, 1, 1, 0, 10, (struct open_call[]){ { 0, 0 }, { 0, 5 } }, 2);
    write_exit(w, 20);
    const char *path = test_path("zero.dwell"), *error;
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    struct profile *sites = collect_sites(file, NULL, 1, NULL), *without = collect_selection(file, NULL, 1, NULL);
    cr_assert(eq(sz, without->function_count, 1));
    cr_assert(eq(sz, sites->function_count, 1));
    cr_assert(eq(sz, without->node_count, 3));
    cr_assert(eq(sz, sites->node_count, 3));
    cr_assert(eq(u64, sites->nodes[2].elapsed, 10));
    profile_free(sites);
    profile_free(without);
    session_file_close(file);
}

/* ---- the view ---- */

static void sites_load(struct analysis *analysis, struct writer *w)
{
    writer_save(w, test_path("lines.dwell"));
    writer_free(w);
    load_with(analysis, test_path("lines.dwell"), &(struct analysis_options){ .jobs = 2, .lines = LINES_NEEDED });
}

static struct times line_times(const struct analysis *analysis, const char *source)
{
    struct times *sums = rollup_groups(analysis->rollup, BY_LINE), found = { .shortest = UINT64_MAX };
    for (size_t i = 0; i <= analysis->profile->site_count; i++) {
        const char *name = i < analysis->profile->site_count ? analysis->lines[i].source : "(unknown)";
        if (strcmp(name, source) == 0)
            times_add(&found, &sums[i]); /* all but one of a line are empty */
    }
    free(sums);
    return found;
}

Test(unit_sites, lines)
{
    for (int way = 0; way < SITES_WAYS; way++) {
        struct analysis analysis;
        sites_load(&analysis, site_session(way));
        ASSERT_TIMES(line_times(&analysis, "a.c:10"), 20, 20, 20, 20, 1);
        ASSERT_TIMES(line_times(&analysis, "a.c:11"), 90, 45, 90, 45, 2);
        ASSERT_TIMES(line_times(&analysis, "a.c:20"), 30, 20, 30, 20, 1);
        ASSERT_TIMES(line_times(&analysis, "a.c:30"), 10, 10, 10, 10, 1);
        ASSERT_TIMES(line_times(&analysis, "b.h:5"), 5, 5, 5, 5, 1);
        ASSERT_TIMES(line_times(&analysis, "(unknown)"), 10, 10, 10, 10, 1);
        ASSERT_TIMES(line_times(&analysis, "[unknown]+0x7f0000001234"), 150, 40, 150, 40, 1);
        cr_assert(eq(u64, analysis.rollup->session.elapsed_inclusive, 150));
        analysis_drop(&analysis);
    }
}

/* A line that is on the stack twice counts once. Here all calls of F are from one place. */
Test(unit_sites, a_line_on_the_stack_twice_counts_once)
{
    struct writer *w = writer_new();
    write_header(w, 176, 1, 4);
    write_thread(w, 1, 1, 1, SOURCE_PERF, "t");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    for (uint64_t i = 1; i <= 3; i++) {
        write_site(w, SITE, 0x40, 1);
        write_enter(w, 10 * i, F);
    }
    for (uint64_t i = 1; i <= 4; i++)
        write_exit(w, 30 + 10 * i);
    struct analysis analysis;
    sites_load(&analysis, w);
    ASSERT_TIMES(line_times(&analysis, "[unknown]+0x10040"), 50, 50, 50, 50, 3);
    ASSERT_TIMES(line_times(&analysis, "(unknown)"), 70, 20, 70, 20, 1);
    analysis_drop(&analysis);
}

Test(unit_sites, callers_by_line)
{
    struct analysis analysis;
    sites_load(&analysis, site_session(SITES_WHOLE));
    size_t count;
    uint32_t *found = function_find_all(&analysis, "f", &count);
    struct neighbours n = rollup_neighbours(analysis.rollup, found[0]);
    uint64_t calls = 0;
    cr_assert(eq(sz, n.caller_count, 4)); /* main from two lines, g, f */
    for (size_t i = 0; i < n.caller_count; i++)
        calls += n.callers[i].times.calls;
    cr_assert(eq(u64, calls, 5));
    cr_assert(eq(sz, n.callee_count, 3)); /* g from a line and from an unknown place, f */
    neighbours_free(&n);
    free(found);
    analysis_drop(&analysis);
}

/* ---- any calls ---- */

enum { FUNCTIONS = 4, PLACES = 3, EVENTS = 30000, DEEPEST = 40 };

struct made {
    unsigned function, place;
};

/* The times of each line by the rule of the time model: the stack is walked for each interval. */
struct expected {
    struct times lines[FUNCTIONS * PLACES + 1]; /* the last one: calls without an open caller */
};

static uint64_t lines_address_of(unsigned function)
{
    return 0x10000 + 0x1000ull * function;
}

static void lines_add_interval(struct expected *e, const unsigned *lines, unsigned depth, uint64_t d)
{
    bool seen[FUNCTIONS * PLACES + 1] = { false };
    for (unsigned i = 0; i < depth; i++) {
        if (!seen[lines[i]])
            e->lines[lines[i]].elapsed_inclusive += d;
        seen[lines[i]] = true;
    }
    if (depth)
        e->lines[lines[depth - 1]].elapsed_exclusive += d;
}

static struct writer *random_calls(unsigned seed, struct expected *e)
{
    struct made stack[DEEPEST];
    unsigned lines[DEEPEST], depth = 0;
    uint64_t now = 0;
    struct writer *w = writer_new();
    memset(e, 0, sizeof *e);
    write_header(w, 176, 1, 4);
    write_thread(w, 1, 1, 1, SOURCE_PERF, "t");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    srand(seed);
    for (int i = 0; i < EVENTS || depth; i++) {
        const uint64_t passed = (uint64_t)(rand() % 50);
        now += passed;
        lines_add_interval(e, lines, depth, passed);
        if (i < EVENTS && depth < DEEPEST && (depth == 0 || rand() % 2)) {
            const struct made call = { (unsigned)(rand() % FUNCTIONS), (unsigned)(rand() % PLACES) };
            lines[depth] = depth ? stack[depth - 1].function * PLACES + call.place : FUNCTIONS * PLACES;
            if (depth)
                write_site(w, SITE, 0x10 + 0x10 * call.place, 1);
            e->lines[lines[depth]].calls++;
            stack[depth++] = call;
            write_enter(w, now, lines_address_of(call.function));
        } else {
            depth--;
            write_exit(w, now);
        }
    }
    end_events(w, true);
    return w;
}

/* Functions and the paths of functions have the same values as without sites. */
static void sites_check_functions(const struct analysis *analysis, const char *path)
{
    struct analysis plain;
    load_whole(&plain, path, 1);
    struct times *with = rollup_groups(analysis->rollup, BY_FUNCTION),
                 *without = rollup_groups(plain.rollup, BY_FUNCTION);
    cr_assert(eq(sz, analysis->profile->function_count, plain.profile->function_count));
    for (size_t i = 0; i < plain.profile->function_count; i++) {
        const struct profile_function *f = &plain.profile->functions[i];
        const struct profile_module *m = &plain.profile->modules[f->module];
        const uint32_t same = profile_find_function(
            analysis->profile, profile_find_module(analysis->profile, m->path, m->build_id, m->build_id_length),
            f->offset);
        cr_assert(eq(int, memcmp(&with[same], &without[i], sizeof *with), 0));
    }
    struct profile *stripped = profile_new(), view = *analysis->profile;
    view.nodes = malloc(view.node_count * sizeof *view.nodes);
    memcpy(view.nodes, analysis->profile->nodes, view.node_count * sizeof *view.nodes);
    for (size_t i = 0; i < view.node_count; i++)
        view.nodes[i].site = PROFILE_NONE;
    profile_merge(stripped, &view);
    cr_assert(eq(sz, stripped->node_count, plain.profile->node_count));
    free(view.nodes);
    profile_free(stripped);
    free(with);
    free(without);
    analysis_drop(&plain);
}

Test(unit_sites, random_calls_have_the_models_times)
{
    for (unsigned seed = 1; seed <= 6; seed++) {
        struct expected e;
        struct analysis analysis;
        sites_load(&analysis, random_calls(seed, &e));
        for (unsigned line = 0; line <= FUNCTIONS * PLACES; line++) {
            char name[64] = "(unknown)";
            if (line < FUNCTIONS * PLACES)
                snprintf(name, sizeof name, "[unknown]+0x%llx",
                         (unsigned long long)(lines_address_of(line / PLACES) + 0x10 + 0x10 * (line % PLACES)));
            const struct times found = line_times(&analysis, name);
            cr_assert(eq(u64, found.elapsed_inclusive, e.lines[line].elapsed_inclusive), "%u: %s", seed, name);
            cr_assert(eq(u64, found.elapsed_exclusive, e.lines[line].elapsed_exclusive), "%u: %s", seed, name);
            cr_assert(eq(u64, found.calls, e.lines[line].calls), "%u: %s", seed, name);
        }
        sites_check_functions(&analysis, test_path("lines.dwell"));
        analysis_drop(&analysis);
    }
}

static void write_fib(struct writer *w, uint64_t *now, int n, unsigned place)
{
    write_site(w, SITE, 0x10 * place, 1);
    write_enter(w, *now += 100, F);
    if (n >= 2) {
        write_fib(w, now, n - 1, 1);
        write_fib(w, now, n - 2, 2);
    }
    write_exit(w, *now += 100);
}

/* There are no more paths than the combinations of functions and places allow. Overhead is subtracted in the right
 * call, although callee nodes stand for all recursive calls. */
Test(unit_sites, calls_of_itself_from_two_places)
{
    enum { TICK = 256 };
    struct writer *w = writer_new();
    uint64_t now = 0;
    write_header(w, 176, 1, 4);
    write_probes(w, 1, 2 * TICK, 3 * TICK, 0);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_fib(w, &now, 18, 3);
    struct analysis analysis;
    sites_load(&analysis, w);
    cr_assert(le(sz, analysis.profile->node_count, 400)); /* some 18 levels, squared */
    uint64_t calls = 0;
    for (size_t i = 0; i < analysis.profile->node_count; i++)
        calls += analysis.profile->nodes[i].calls;
    cr_assert(eq(u64, calls, 8361));
    cr_assert(eq(sz, analysis.overhead.held, 0));
    cr_assert(eq(u64, analysis.overhead.subtracted, 8361 * 2 + 8360 * 3));
    cr_assert(eq(u64, analysis.rollup->session.elapsed_inclusive, 100 * (2 * 8361 - 1) - (8361 * 2 + 8360 * 3)));
    const struct times first = line_times(&analysis, "[unknown]+0x10010"),
                       second = line_times(&analysis, "[unknown]+0x10020"),
                       outside = line_times(&analysis, "[unknown]+0x30");
    cr_assert(eq(u64, first.elapsed_exclusive + second.elapsed_exclusive + outside.elapsed_exclusive,
                 analysis.rollup->session.elapsed_inclusive));
    cr_assert(eq(u64, first.overhead_exclusive + second.overhead_exclusive + outside.overhead_exclusive,
                 analysis.overhead.subtracted));
    cr_assert(eq(u64, outside.overhead_exclusive, 2 + 2 * 3)); /* one call, which has made two */
    cr_assert(eq(u64, line_times(&analysis, "[unknown]+0x10010").calls, 4180));
    cr_assert(eq(u64, line_times(&analysis, "[unknown]+0x10020").calls, 4180));
    analysis_drop(&analysis);
}

/* Two sessions, one a copy of the other: all values are doubled. */
Test(unit_sites, lines_of_several_sessions)
{
    static const char *const names[] = { "one.dwell", "two.dwell" };
    const char *paths[2];
    for (int i = 0; i < 2; i++) {
        struct writer *w = site_session(i);
        paths[i] = strdup(test_path(names[i]));
        writer_save(w, paths[i]);
        writer_free(w);
    }
    struct analysis analysis;
    load_several(&analysis, paths, 2, &(struct analysis_options){ .jobs = 1, .lines = LINES_NEEDED });
    ASSERT_TIMES(line_times(&analysis, "a.c:11"), 180, 90, 180, 90, 4);
    ASSERT_TIMES(line_times(&analysis, "b.h:5"), 10, 10, 10, 10, 2);
    analysis_drop(&analysis);
    for (int i = 0; i < 2; i++)
        free((char *)paths[i]);
}

/* ---- call trees ---- */

/* F calls G from two places. The same place twice is one path. */
Test(unit_sites, sites_in_call_trees)
{
    static const struct tree_node nodes[] = {
        { .function = F, .calls = 10, .elapsed = 100 },
        { .function = G, .parent = 1, .calls = 11, .elapsed = 101, .site = F + 0x10 },
        { .function = G, .parent = 1, .calls = 12, .elapsed = 102, .site = (F + 0x20) | (1ull << 63) },
        { .function = G, .parent = 1, .calls = 13, .elapsed = 103, .site = F + 0x10 },
    };
    struct writer *w = writer_new();
    write_header(w, 176, 1, 4);
    write_thread(w, 1, 1, 1, SOURCE_PERF, "t");
    end_records(w, true);
    write_tree(w, 1, 1, nodes, 4);
    const char *path = test_path("tree.dwell"), *error;
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    struct profile *p = collect_sites(file, NULL, 1, NULL);
    cr_assert(eq(sz, p->node_count, 4)); /* the thread, F, and G twice */
    cr_assert(eq(u64, p->nodes[1].site, PROFILE_NONE));
    cr_assert(eq(u64, p->nodes[2].calls, 11 + 13));
    cr_assert(eq(u64, p->sites[p->nodes[2].site].offset, F + 0x10));
    cr_assert(eq(u64, p->nodes[3].calls, 12));
    cr_assert(eq(u64, p->sites[p->nodes[3].site].offset, F + 0x20));
    cr_assert(p->sites[p->nodes[3].site].inlined);
    profile_free(p);
    p = collect_profile(file, 1);
    cr_assert(eq(sz, p->node_count, 3));
    cr_assert(eq(u64, p->nodes[2].calls, 36));
    profile_free(p);
    session_file_close(file);
}

/* Callees are in the order of their addresses, and then of the module and offset of their sites. The second module has
 * the first name. */
Test(unit_sites, the_order_of_paths)
{
    static const uint64_t sites[] = { F + 0x11, F + 0x21, 0x70011, F + 0x31, 0x70021, 0x70031 };
    static const uint64_t calls[] = { 100, 50, 3, 5, 6, 1, 2, 4 };
    enum { SITES = sizeof sites / sizeof *sites };
    struct tree_node nodes[SITES + 2] = { { .function = F, .calls = 100, .elapsed = 100 } };
    for (unsigned i = 0; i < SITES; i++)
        nodes[1 + i] = (struct tree_node){ .function = G, .parent = 1, .calls = 1 + i, .elapsed = 1, .site = sites[i] };
    nodes[SITES + 1] = (struct tree_node){ .function = F / 2, .parent = 1, .calls = 50, .elapsed = 1, .site = F + 1 };
    struct writer *w = writer_new();
    write_header(w, 176, 1, 4);
    write_process(w, 1, 1, "/z");
    write_thread(w, 1, 1, 1, SOURCE_PERF, "t");
    write_module(w, 1, 1, 0, 0x1000, 0x60000, 0, "/z");
    write_module(w, 1, 2, 0, 0x70000, 0x80000, 0, "/a");
    end_records(w, true);
    write_tree(w, 1, 1, nodes, SITES + 2);
    const char *path = test_path("tree.dwell"), *error;
    writer_save(w, path);
    writer_free(w);
    struct session_file *file = session_file_open(path, &error);
    struct profile *p = collect_sites(file, NULL, 1, NULL);
    cr_assert(eq(sz, p->node_count, SITES + 3));
    uint32_t *order = node_order_list(p);
    for (unsigned i = 0; i < SITES + 2; i++)
        cr_assert(eq(u64, p->nodes[order[1 + i]].calls, calls[i]), "%u", i);
    free(order);
    profile_free(p);
    session_file_close(file);
}
