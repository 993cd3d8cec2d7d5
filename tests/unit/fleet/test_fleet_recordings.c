/* The deltas of a session are one recording. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "fleet/recordings.h"

TestSuite(unit_fleet_recordings, .timeout = 300);

#define SESSION "00000000000000aB"
enum { SESSION_NUMBER = 0xab };

static char *recordings_keys[] = { (char *)"session", (char *)"kind", (char *)"session", (char *)"delta" };

static struct fleet_run recordings_run(uint64_t run, char **values, size_t first_label, size_t labels)
{
    return (struct fleet_run){ .run = run,
                               .label_keys = { recordings_keys + first_label, labels },
                               .label_values = { values + first_label, labels },
                               .elapsed = run * 10,
                               .rows = run,
                               .lost_events = 1,
                               .threads = 20 - run,
                               .processes = run };
}

static char *of_session[] = { (char *)"mine", (char *)"service", (char *)SESSION, (char *)"1" };
static char *of_another[] = { (char *)"mine", (char *)"service", (char *)"00000000000000ac", (char *)"1" };
static char *of_none[] = { (char *)"mine", (char *)"service", (char *)"no number", (char *)"1" };

enum { RUNS = 6 };

/* A run, three deltas of a session with another one's between them, and a run whose labels look like those of a delta.
 */
static void recordings_list(struct fleet_run *runs)
{
    runs[0] = recordings_run(1, of_session, 1, 1);
    runs[1] = recordings_run(2, of_session, 0, 4); /* with a label of the user */
    runs[2] = recordings_run(3, of_another, 1, 3);
    runs[3] = recordings_run(4, of_session, 1, 3);
    runs[4] = recordings_run(5, of_none, 1, 3);
    runs[5] = recordings_run(6, of_session, 2, 2);
}

Test(unit_fleet_recordings, deltas_of_a_session_add_up)
{
    struct fleet_run list[RUNS];
    const struct fleet_runs runs = { .list = list, .count = RUNS };
    const struct {
        uint64_t number, deltas, elapsed, rows, lost, threads, processes;
    } expected[] = {
        { 1, 0, 10, 1, 1, 19, 1 },
        { SESSION_NUMBER, 3, 120, 12, 3, 18, 6 },
        { 0xac, 1, 30, 3, 1, 17, 3 },
        { 5, 0, 50, 5, 1, 15, 5 },
    };
    size_t count;
    recordings_list(list);
    struct fleet_recording *found = fleet_recordings(&runs, false, &count);
    cr_assert(eq(sz, count, 4));
    for (size_t i = 0; i < count; i++) {
        cr_assert(eq(u64, found[i].number, expected[i].number));
        cr_assert(eq(u64, found[i].deltas, expected[i].deltas));
        cr_assert(eq(u64, found[i].elapsed, expected[i].elapsed));
        cr_assert(eq(u64, found[i].rows, expected[i].rows));
        cr_assert(eq(u64, found[i].lost_events, expected[i].lost));
        cr_assert(eq(u64, found[i].threads, expected[i].threads));
        cr_assert(eq(u64, found[i].processes, expected[i].processes));
    }
    cr_assert(found[1].first == &list[1]);
    free(found);
}

Test(unit_fleet_recordings, deltas_can_be_apart)
{
    struct fleet_run list[RUNS];
    const struct fleet_runs runs = { .list = list, .count = RUNS };
    size_t count;
    recordings_list(list);
    struct fleet_recording *found = fleet_recordings(&runs, true, &count);
    cr_assert(eq(sz, count, RUNS));
    for (size_t i = 0; i < count; i++) {
        cr_assert(eq(u64, found[i].number, i + 1));
        cr_assert(eq(u64, found[i].deltas, 0));
        cr_assert(found[i].first == &list[i]);
    }
    free(found);
}

Test(unit_fleet_recordings, a_number_stands_for_a_run_or_for_the_deltas_of_a_session)
{
    struct fleet_run list[RUNS];
    const struct fleet_runs runs = { .list = list, .count = RUNS };
    struct fleet_conditions conditions = { NULL };
    struct error error = { NULL };
    recordings_list(list);
    for (const char *const *text = (const char *const[]){ SESSION, "0000000000000006", "00000000000000AB", NULL };
         *text; text++)
        cr_assert(fleet_condition_add(&conditions, *text, &error));
    cr_assert(eq(sz, conditions.run_count, 2));
    cr_assert(eq(sz, fleet_conditions_found(&conditions, &runs), 2));
    cr_assert(fleet_condition_add(&conditions, "0000000000000007", &error));
    cr_assert(eq(sz, fleet_conditions_found(&conditions, &runs), 2));
    cr_assert(not(fleet_condition_add(&conditions, "0000000000000g07", &error)));
    error_drop(&error);
    fleet_conditions_drop(&conditions);
}
