/* Every command of the documents runs, or the document says why not (scripts/doc-commands). */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/features.h"
#include "support/run.h"

#define DOC_COMMANDS DWELL_CONSUMERS "/../../scripts/doc-commands " DWELL_BUILD

TestSuite(e2e_docs, .timeout = 600);

Test(e2e_docs, all_commands_run)
{
    need_features("events fleet perflog vsperf");
    char *out = run_well(DOC_COMMANDS);
    cr_assert(has(out, "packaging/skill/SKILL.md: 13 commands run, 0 with a reason not to\n"), "%s", out);
    free(out);
}

Test(e2e_docs, failing_commands_and_useless_remarks_are_found)
{
    struct ran r =
        run("printf 'Text\\n\\n    dwell report --by nothing\\n\\n<!-- not run: dwell top: no reason -->\\n' >a.md; "
            "printf '```sh\\ndwell info\\ndwell reprot\\n```\\n' >b.md; " DOC_COMMANDS " $PWD/a.md $PWD/b.md");
    cr_assert(eq(int, r.status, 1));
    cr_assert(has(r.err, "a.md: dwell report --by nothing\nexit status 2\n"), "%s", r.err);
    cr_assert(has(r.err, "a.md: the remark 'dwell top' matches no command\n"), "%s", r.err);
    cr_assert(has(r.err, "b.md: dwell reprot\nexit status 2\n"), "%s", r.err);
    cr_assert(not(has(r.err, "dwell info")), "%s", r.err);
    ran_drop(&r);
}
