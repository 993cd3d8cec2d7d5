/* A recording that was to watch system calls and could not: reports say so. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>

#include "dwell/format.h"
#include "support/example.h"
#include "support/load.h"
#include "support/scenario.h"

TestSuite(unit_fallback);

static struct analysis fallback_load(const char *note)
{
    struct writer *w = example_session(SOURCE_PERF);
    struct analysis analysis;
    write_note(w, 1, note);
    writer_save(w, test_path("session.dwell"));
    writer_free(w);
    load_whole(&analysis, test_path("session.dwell"), 1);
    return analysis;
}

Test(unit_fallback, system_calls_that_were_not_watched)
{
    struct analysis analysis = fallback_load("another note"), said = fallback_load(DWELL_NOTE_NO_SYSCALLS);
    cr_assert(eq(sz, said.summary.remark_count, analysis.summary.remark_count + 1));
    cr_assert(eq(str, said.summary.remarks[said.summary.remark_count - 1],
                 (char *)"system calls were not watched: application times hold some (dwell doctor)"));
    analysis_drop(&analysis);
    analysis_drop(&said);
}
