/* Exports that fail: their exact errors, and nothing that is left behind or replaced. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "analysis/session_needs.h"
#include "base/memory.h"
#include "commands/features.h"
#include "support/example.h"
#include "support/exported.h"
#include "support/features.h"
#include "support/scenario.h"
#include "support/success.h"

TestSuite(unit_export_errors);

static size_t count_entries(const char *path)
{
    DIR *folder = opendir(path);
    size_t count = 0;
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

/* Writes files below the test's folder; the error names the path. */
static void refuse_files(const struct analysis *analysis, const char *format, const char *name, const char *file,
                         const char *why)
{
    char *path = need_text("%s", test_path(name)), *wanted = need_text("%s%s: %s", path, file, why);
    const size_t before = count_entries(test_folder());
    EXPECT_ERROR(find_export(format)->write_files(analysis, &(struct export_options){ 0 }, path, &error), wanted);
    cr_assert(eq(sz, count_entries(test_folder()), before), "%s %s", format, name);
    free(path);
    free(wanted);
}

Test(unit_export_errors, places_that_cannot_be)
{
    need_features("vsperf");
    struct analysis analysis = loaded_of(example_session(SOURCE_PERF));
    mkdir(test_path("folder"), 0777);
    mkdir(test_path("full"), 0777);
    mkdir(test_path("full/file"), 0777);
    mkdir(test_path("p_FunctionSummary.csv"), 0777);
    refuse_files(&analysis, "sqlite", "none/db", "", "No such file or directory");
    refuse_files(&analysis, "sqlite", "folder", "", "is not a regular file");
    refuse_files(&analysis, "ctf", "none/ctf", "", "No such file or directory");
    refuse_files(&analysis, "ctf", "full", "", "exists; ctf needs a new folder, choose another name");
    refuse_files(&analysis, "ctf", "exported.dwell", "", "exists; ctf needs a new folder, choose another name");
    refuse_files(&analysis, "vsperf", "none/p", "_CallerCalleeSummary.csv", "No such file or directory");
    refuse_files(&analysis, "vsperf", "p", "_FunctionSummary.csv", "is a directory");
    analysis_drop(&analysis);
}

Test(unit_export_errors, what_a_session_does_not_hold)
{
    need_features("perflog");
    struct analysis analysis = loaded_of(example_session(SOURCE_NONE));
    char *wanted =
        need_text("%s: application_exclusive is unknown: no thread had a source of OS events that reports it",
                  analysis.file->path);
    EXPECT_ERROR(
        find_export("collapsed")->check(&analysis, &(struct export_options){ .time = EXPORT_APPLICATION }, &error),
        wanted);
    free(wanted);
    analysis.file->header.mode = DWELL_MODE_PROFILE;
    wanted = need_text("%s: recorded in mode profile, which keeps no single calls; record in mode trace or ring, or "
                       "export callgrind, pprof or speedscope",
                       analysis.file->path);
    const struct export_format *chrome = find_export("chrome");
    EXPECT_ERROR(session_needs_check_loaded(chrome->needs, &analysis, chrome->instead, &error), wanted);
    free(wanted);
    wanted = need_text("%s: recorded in mode profile, which keeps no single calls; record in mode trace or ring, or "
                       "use --aggregate for one line for each function",
                       analysis.file->path);
    EXPECT_ERROR(find_export("perflog")->check(&analysis, &(struct export_options){ 0 }, &error), wanted);
    free(wanted);
    analysis_drop(&analysis);
}
