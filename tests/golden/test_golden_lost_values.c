/* What dwell info says of values that were lost, by reason. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stddef.h>
#include <stdlib.h>

#include "dwell/format.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/session_writer.h"

#define AT(member) (sizeof(struct dwell_file_header) + offsetof(struct dwell_file_more, member))

static void lost_save(uint64_t lost, uint64_t unstored, uint64_t late)
{
    static const char *const names[] = { "n" };
    const int64_t value = 5;
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "main");
    write_values_plan(w, 0x1000, names, 1);
    begin_values(w, 1, 1);
    write_values(w, 1000, &value, 1);
    end_values(w);
    write_header(w, AT(lost_values), lost, 8);
    write_header(w, AT(unstored_values), unstored, 8);
    write_header(w, AT(late_values), late, 8);
    writer_save(w, test_path("lost.dwell"));
    writer_free(w);
}

static void lost_expect(const char *command, const char *wanted)
{
    char *text = run_well("%s", command);
    cr_expect(eq(str, text, (char *)wanted));
    free(text);
}

#define LINES "$DWELL info lost.dwell | grep '^lost values'"
#define COUNTS                                                                                                         \
    "$DWELL info --format json lost.dwell | "                                                                          \
    "jq -c '.values | [.lost_calls, .lost_unstored, .lost_late, .later_calls, .damaged_chunks]'"

Test(golden_lost_values, by_reason)
{
    lost_save(0, 0, 0);
    lost_expect(LINES, "lost values     0\n");
    lost_save(12, 0, 0);
    lost_expect(LINES, "lost values     12 enters and exits: 12 had no room\n");
    lost_save(12, 3, 2);
    lost_expect(LINES,
                "lost values     12 enters and exits: 7 had no room, 3 were in pages that could not be stored, 2 "
                "came when their thread ended\n");
    lost_expect(COUNTS, "[12,3,2,0,0]\n");
    lost_save(3, 3, 0);
    lost_expect(LINES, "lost values     3 enters and exits: 3 were in pages that could not be stored\n");
}

/* Sums of sessions have those of all, if they have the values. */
Test(golden_lost_values, of_merged_sessions)
{
    lost_save(12, 3, 2);
    free(run_well("mv lost.dwell one.dwell; cp one.dwell two.dwell; "
                  "$DWELL merge --with-values -o lost.dwell one.dwell two.dwell"));
    lost_expect(COUNTS, "[24,6,4,0,0]\n");
}
