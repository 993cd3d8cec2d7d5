/* Files that cannot be imported, by the exact text of the error; no session is written. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/scenario.h"
#include "support/success.h"
#include "vsperf/vsperf_feature.h"

TestSuite(unit_import_errors);

static void import_errors_expect(const char *path, const char *why)
{
    char *file = need_text("%s", path), *output = need_text("%s", test_path("imported.data"));
    char *wanted = need_text("%s%s", file, why);
    EXPECT_ERROR(vsperf_import((char *const[]){ file }, 1, &(struct import_options){ 0 }, output, &error), wanted);
    cr_assert(ne(int, access(output, F_OK), 0));
    free(file);
    free(output);
    free(wanted);
}

Test(unit_import_errors, files)
{
    import_errors_expect(test_path("none.csv"), ": No such file or directory");
    import_errors_expect(test_folder(), ": is a directory");
    FILE *out = fopen(test_path("empty.csv"), "w");
    fclose(out);
    import_errors_expect(test_path("empty.csv"), ": the file is empty");
}
