/* How long a program ran: from its first process' start to its last one's end, whatever its threads did. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "analysis/run_length.h"
#include "support/load.h"
#include "support/scenario.h"

enum { START_TICKS = 40, END_TICKS = 72 }; /* places in the header */

/* Two processes: 1,000 to 5,000, and 2,000 to `end`, which is unknown if zero. A thread of each ends at 4,000. */
static struct analysis run_load(uint64_t end, uint64_t end_ticks)
{
    struct writer *w = writer_new();
    struct analysis analysis;
    write_header(w, START_TICKS, 500, 8);
    write_header(w, END_TICKS, end_ticks, 8);
    write_process_of(w, 1, 100, 1, 0, 1000, "/bin/one");
    write_process_of(w, 2, 200, 100, 1, 2000, "/bin/two");
    for (uint32_t i = 1; i <= 2; i++) {
        write_thread_at(w, i, i, 100 * i, SOURCE_PERF, 1000 * i, "thread");
        begin_events(w, i, i, 0, 2500, NULL, 0);
        write_enter(w, 2500, 0x1000);
        write_exit(w, 3500);
        end_events(w, true);
        write_thread_end(w, i, i, false, 4000);
    }
    write_process_end(w, 1, 100, END_EXIT, 0, 5000);
    if (end)
        write_process_end(w, 2, 200, END_EXIT, 0, end);
    writer_save(w, test_path("run.dwell"));
    writer_free(w);
    load_whole(&analysis, test_path("run.dwell"), 1);
    return analysis;
}

Test(unit_run_length, is_that_of_all_processes)
{
    struct analysis analysis = run_load(7000, 9000);
    cr_assert(eq(u64, analysis.summary.run, 6000));
    analysis_drop(&analysis);
    analysis = run_load(4500, 9000);
    cr_assert(eq(u64, analysis.summary.run, 4000));
    analysis_drop(&analysis);
}

/* The recorder waited for a process whose end is unknown. Without a recorder, the last end that is known counts. */
Test(unit_run_length, goes_to_the_end_of_the_recording_if_a_process_has_none)
{
    struct analysis analysis = run_load(0, 9000);
    cr_assert(eq(u64, analysis.summary.run, 8000));
    analysis.file->header.end_ticks = 0;
    cr_assert(eq(u64, run_length(analysis.file, NULL), 4000));
    analysis_drop(&analysis);
}

Test(unit_run_length, is_unknown_while_a_process_runs)
{
    struct analysis analysis = run_load(0, 0);
    analysis.file->header.state = DWELL_RECORDING;
    cr_assert(eq(u64, run_length(analysis.file, NULL), 0));
    analysis_drop(&analysis);
}

Test(unit_run_length, of_a_range_is_the_part_in_it)
{
    struct analysis analysis = run_load(7000, 9000);
    struct selection range = { .cut = true, .from = 3000, .to = 4000 };
    cr_assert(eq(u64, run_length(analysis.file, &range), 1000));
    range.from = 0;
    cr_assert(eq(u64, run_length(analysis.file, &range), 3000));
    range.to = UINT64_MAX;
    cr_assert(eq(u64, run_length(analysis.file, &range), 6000));
    range.within = (struct thread_ranges *)&range; /* of some threads: not looked at */
    cr_assert(eq(u64, run_length(analysis.file, &range), 0));
    analysis_drop(&analysis);
}

Test(unit_run_length, of_imported_reports_and_of_sums_of_several_runs_is_unknown)
{
    struct analysis analysis = run_load(7000, 9000);
    analysis.file->sums.summed_count = 2;
    cr_assert(eq(u64, run_length(analysis.file, NULL), 0));
    analysis.file->sums.summed_count = 0;
    analysis.file->header.origin = DWELL_ORIGIN_IMPORTED;
    cr_assert(eq(u64, run_length(analysis.file, NULL), 0));
    analysis.file->header.origin = 0;
    analysis_drop(&analysis);
}
