/* The quick scan has the profile's counts and lists each function once. This does not depend on the chunks. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>

#include "support/model.h"
#include "support/scenario.h"
#include "trace/scan.h"

static bool scan_names(const struct scan *scan, uint32_t process, uint64_t address)
{
    size_t found = 0;
    for (size_t i = 0; i < scan->function_count; i++)
        found += scan->functions[i].process == process && scan->functions[i].address == address;
    cr_assert(le(sz, found, 1));
    return found == 1;
}

static void check_scan(const struct scan *scan, const struct outcome *o)
{
    cr_assert(eq(u64, scan->enters, o->profile->counts.enters));
    cr_assert(eq(u64, scan->exits, o->profile->counts.exits));
    cr_assert(eq(sz, scan->function_count, (size_t)MODEL_PROCESSES * MODEL_FUNCTIONS));
    for (unsigned process = 0; process < MODEL_PROCESSES; process++)
        for (int i = 0; i < MODEL_FUNCTIONS; i++)
            cr_assert(scan_names(scan, process + 1, model_address(process, i)));
}

Test(unit_scan, counts_and_functions)
{
    static const unsigned pieces[] = { 0, 100, 9, 1 };
    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct model *m = model_new(seed);
        for (unsigned i = 0; i < 4; i++) {
            struct outcome o = outcome_of(model_write(m, pieces[i], i), 1);
            for (unsigned jobs = 1; jobs <= 5; jobs += 2) {
                struct scan scan = scan_session(o.file, jobs);
                check_scan(&scan, &o);
                scan_free(&scan);
            }
            struct scan counts = scan_counts(o.file); /* some chunks store their counts, some do not */
            cr_assert(eq(u64, counts.enters, o.profile->counts.enters));
            cr_assert(eq(u64, counts.exits, o.profile->counts.exits));
            outcome_drop(&o);
        }
        model_free(m);
    }
}

/* More functions than the scan's cache holds, many with colliding places. */
Test(unit_scan, many_functions)
{
    enum { MANY = 30000 };
    struct writer *w = writer_new();
    for (uint32_t chunk = 0; chunk < 6; chunk++) {
        begin_events(w, 1, 1 + chunk, 0, 0, NULL, 0);
        for (uint64_t i = 0; i < MANY; i++) {
            write_enter(w, i, 0x10000 + (i * 7 % MANY) * 4096);
            write_exit(w, i);
        }
        end_events(w, chunk % 2);
    }
    struct outcome o = outcome_of(w, 2);
    struct scan scan = scan_session(o.file, 2);
    cr_assert(eq(sz, scan.function_count, MANY));
    cr_assert(eq(u64, scan.enters, 6 * MANY));
    cr_assert(eq(u64, scan.exits, 6 * MANY));
    cr_assert(eq(sz, o.profile->function_count, MANY));
    scan_free(&scan);
    outcome_drop(&o);
}

/* Any address is listed when it is seen for the first time, also one whose bits are all set. */
Test(unit_scan, the_last_address_is_listed)
{
    struct writer *w = writer_new();
    for (uint32_t chunk = 0; chunk < 4; chunk++) {
        begin_events(w, 1, 1 + chunk, 0, 0, NULL, 0);
        for (uint64_t i = 0; i < 1000; i++) {
            write_enter(w, i, i == 10 ? UINT64_MAX : UINT64_MAX - 0xf0);
            write_exit(w, i);
        }
    }
    struct outcome o = outcome_of(w, 1);
    struct scan scan = scan_session(o.file, 1);
    cr_assert(eq(sz, scan.function_count, 2));
    cr_assert(scan_names(&scan, 1, UINT64_MAX));
    cr_assert(scan_names(&scan, 1, UINT64_MAX - 0xf0));
    cr_assert(eq(u64, scan.enters, 4000));
    scan_free(&scan);
    outcome_drop(&o);
}

/* Open calls are functions too, although the chunk of their enter may be missing. */
Test(unit_scan, open_calls_are_listed)
{
    struct writer *w = writer_new();
    begin_events(w, 3, 1, 5, 100, (struct open_call[]){ { 0x1000, 10 }, { 0x2000, 20 } }, 2);
    write_exit(w, 110);
    struct outcome o = outcome_of(w, 1);
    struct scan scan = scan_session(o.file, 1);
    cr_assert(eq(u64, scan.enters, 0));
    cr_assert(eq(u64, scan.exits, 1));
    cr_assert(scan_names(&scan, 3, 0x1000));
    cr_assert(scan_names(&scan, 3, 0x2000));
    scan_free(&scan);
    outcome_drop(&o);
}
