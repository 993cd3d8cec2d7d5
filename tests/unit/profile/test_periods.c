/* Periods of a session: the sums over consecutive ones are those of the selection with the same limits, to the tick. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "profile/collect.h"
#include "profile/interval_limits.h"
#include "profile/periods.h"
#include "support/model.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(unit_periods, .timeout = 300);

enum { PERIODS = 37, PLENTY = 1 << 20 };

/* Borders that do not fall on events, about evenly over the session. */
static uint64_t *periods_even_borders(uint64_t begin, uint64_t end, uint32_t count)
{
    uint64_t *borders = calloc(count + 1, sizeof *borders);
    for (uint32_t i = 0; i <= count; i++)
        borders[i] = begin + (end - begin) * i / count;
    borders[0] = 0;
    borders[count] = UINT64_MAX;
    return borders;
}

/* The amounts of the periods from `first` to before `last` as a profile. */
static struct profile *periods_sum(const struct periods *p, uint32_t first, uint32_t last)
{
    struct profile *sum = profile_new();
    profile_merge(sum, p->profile);
    for (size_t i = 0; i < p->row_count; i++)
        if (p->rows[i].period >= first && p->rows[i].period < last)
            profile_add_values(&sum->nodes[p->rows[i].path], &p->rows[i].amounts);
    return sum;
}

/* Each call path of `all` has the same amounts in `part`, or none if `part` does not have it. */
static void check_same_amounts(struct profile *all, const struct profile *part)
{
    struct profile_node *found = calloc(all->node_count, sizeof *found);
    uint32_t *nodes = profile_add_nodes(all, part);
    for (size_t i = 0; i < all->node_count; i++)
        amounts_clear(&found[i]);
    for (size_t i = 0; i < part->node_count; i++)
        profile_add_values(&found[nodes[i]], &part->nodes[i]);
    for (size_t i = 0; i < all->node_count; i++) {
        found[i].first = all->nodes[i].first; /* periods do not keep the chunk */
#define CHECK_AMOUNT(member, unit, merge) cr_assert(eq(u64, all->nodes[i].member, found[i].member), #member);
        PATH_AMOUNTS(CHECK_AMOUNT)
    }
    free(nodes);
    free(found);
}

static void check_range(const struct session_file *file, const struct periods *p, uint32_t first, uint32_t last)
{
    const struct selection selection = { .cut = true, .from = p->borders[first], .to = p->borders[last] };
    struct profile *theirs = collect_selection(file, NULL, 2, &selection), *mine = periods_sum(p, first, last);
    check_same_amounts(mine, theirs);
    profile_free(mine);
    profile_free(theirs);
}

static void check_session(const char *path, uint64_t begin, uint64_t end)
{
    const char *wrong;
    struct session_file *file = session_file_open(path, &wrong);
    cr_assert(file != NULL, "%s", wrong);
    struct periods *p =
        periods_collect(file, NULL, NULL, periods_even_borders(begin, end, PERIODS), PERIODS, 5, PLENTY);
    while (true) {
        struct profile *whole = collect_profile(file, 1), *sum = periods_sum(p, 0, p->count);
        check_same_amounts(sum, whole);
        profile_free(whole);
        profile_free(sum);
        for (uint32_t i = 0; i < p->count; i += 3)
            check_range(file, p, i, i + 1 + i % 7 < p->count ? i + 1 + i % 7 : p->count);
        if (!periods_join(p))
            break;
    }
    periods_free(p);
    session_file_close(file);
}

Test(unit_periods, ranges_have_the_sums_of_selections)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct model *m = model_new(seed);
        struct writer *w = model_write(m, (unsigned)seed * 9, 0);
        writer_save(w, test_path("model.dwell"));
        writer_free(w);
        check_session(test_path("model.dwell"), 1000, m->end[0]);
        model_free(m);
    }
}

/* Intervals over several periods, with off-CPU times, page faults, pauses and marks. */
Test(unit_periods, waits_pauses_and_ends)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_thread(w, 1, 2, 101, SOURCE_NONE, "blind");
    write_thread_end_off_cpu(w, 1, 1, 9500, 400, 77);
    begin_events(w, 1, 1, 0, 1000, NULL, 0);
    write_enter(w, 1010, 0x1000);
    write_enter(w, 1100, 0x2000);
    write_os(w);
    write_off_cpu(w, false, 1150, 1700);
    write_off_cpu(w, true, 2900, 600);
    write_faults(w, 3);
    write_exit(w, 4000);
    write_pause(w, 4100);
    write_resume(w, 6000, 0);
    write_mark(w, 6100, 6100, 1, "mark");
    write_os(w);
    write_enter(w, 7000, 0x2000);
    end_events(w, true);
    begin_events(w, 1, 2, 0, 1000, NULL, 0);
    write_enter(w, 1500, 0x3000);
    write_exit(w, 9000);
    end_events(w, true);
    writer_save(w, test_path("waits.dwell"));
    writer_free(w);
    check_session(test_path("waits.dwell"), 1000, 9400);
}

/* With too many rows, periods are joined while they are read. */
Test(unit_periods, are_joined_until_they_fit)
{
    const char *wrong;
    struct model *m = model_new(7);
    struct writer *w = model_write(m, 20, 0);
    writer_save(w, test_path("model.dwell"));
    writer_free(w);
    struct session_file *file = session_file_open(test_path("model.dwell"), &wrong);
    struct periods *all =
        periods_collect(file, NULL, NULL, periods_even_borders(1000, m->end[0], PERIODS), PERIODS, 5, PLENTY);
    struct periods *few = periods_collect(file, NULL, NULL, periods_even_borders(1000, m->end[0], PERIODS), PERIODS, 5,
                                          all->row_count * 15 / 16);
    cr_assert(few->count > 1 && few->count < PERIODS && few->row_count <= all->row_count * 15 / 16,
              "%u periods, %zu of %zu rows", few->count, few->row_count, all->row_count);
    while (all->count > few->count)
        cr_assert(periods_join(all));
    cr_assert(eq(u64, all->first, few->first));
    cr_assert(eq(int, (int)all->joined, (int)few->joined));
    cr_assert(eq(sz, all->row_count, few->row_count));
    for (uint32_t i = 0; i <= all->count; i++)
        cr_assert(eq(u64, all->borders[i], few->borders[i]));
    for (uint32_t i = 0; i < all->count; i++)
        check_range(file, few, i, i + 1);
    periods_free(all);
    periods_free(few);
    session_file_close(file);
    model_free(m);
}

/* Wherever an interval is cut, its parts add up to the whole: also the runtime's time, which is at the end. */
Test(unit_periods, parts_of_an_interval_add_up)
{
    const struct decoded_extras all[] = {
        { .flagged = true, .os_events = 2, .blocked = 50, .preempted = 20, .runtime = 60 },
        { .flagged = true, .flagged_part = 40, .runtime = 30 },
        { .flagged = true, .flagged_part = 90, .blocked = 30, .runtime = 30, .page_faults = 4 },
        { .runtime = 100 },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        struct profile_node whole = { 0 };
        interval_add_os(&whole, &all[i], 100);
        for (uint64_t at = 0; at <= 110; at += 5) {
            struct profile_node parts = { 0 };
            struct profile_counts counts = { 0 };
            interval_add_os_within(&parts, &counts, &all[i], &(struct interval){ 1000, 1100, 0, 1000 + at });
            interval_add_os_within(&parts, &counts, &all[i], &(struct interval){ 1000, 1100, 1000 + at, UINT64_MAX });
#define CHECK_SUM(member, unit, merge) cr_assert(eq(u64, whole.member, parts.member), #member);
            PATH_AMOUNTS(CHECK_SUM)
            cr_assert(eq(u64, counts.blocked, all[i].blocked));
            cr_assert(eq(u64, counts.os_events, all[i].os_events));
        }
    }
}
