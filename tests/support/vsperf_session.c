/* Imports texts of Visual Studio reports as sessions, and describes their trees. */
#include "support/vsperf_session.h"
#include "support/load.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/scenario.h"
#include "vsperf/vsperf_import.h"

char *vsperf_try(const char *const *texts, size_t count, uint64_t resolution, const char *path)
{
    struct error error = { NULL };
    struct vsperf *v = vsperf_new(&error);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        char name[32];
        enum vsperf_kind kind;
        snprintf(name, sizeof name, "%zu.csv", i + 1);
        good = vsperf_read(v, name, texts[i], strlen(texts[i]), &kind);
    }
    if (good && vsperf_complete(v, "1.csv")) {
        struct vsperf_trees trees = vsperf_make_trees(v);
        vsperf_write(v, &trees, resolution, path);
        vsperf_drop_trees(&trees);
    }
    vsperf_free(v);
    return error.text;
}

struct analysis vsperf_load(const char *const *texts, size_t count, uint64_t resolution)
{
    struct analysis analysis;
    char *error = vsperf_try(texts, count, resolution, test_path("imported.dwell"));
    cr_assert(error == NULL, "%s", error);
    load_whole(&analysis, test_path("imported.dwell"), 1);
    return analysis;
}

struct times vsperf_times(const struct analysis *analysis, const char *name)
{
    struct times *all = rollup_groups(analysis->rollup, BY_FUNCTION), found = { 0 };
    int count = 0;
    for (size_t i = 0; i < analysis->profile->function_count; i++) {
        if (strcmp(analysis->names[i].name, name) == 0) {
            found = all[i];
            count++;
        }
    }
    free(all);
    cr_assert(count == 1, "%d functions %s", count, name);
    return found;
}

char *vsperf_paths(const struct analysis *analysis)
{
    const struct tree_options options = { .depth = 1000 };
    struct table t = view_tree(analysis, &options);
    char *text = NULL, *path[1000] = { NULL };
    size_t size;
    FILE *out = open_memstream(&text, &size);
    for (size_t row = 0; row < t.row_count; row++) {
        const struct cell *cells = &t.cells[row * t.column_count];
        path[cells[0].number] = cells[2].text;
        for (uint64_t depth = 1; depth <= cells[0].number; depth++)
            fprintf(out, "%s%s", depth > 1 ? "/" : "", path[depth]);
        fprintf(out, " %" PRIu64 " %" PRIu64, cells[5].number, cells[7].number);
        if (cells[4].known)
            fprintf(out, " %" PRIu64, cells[4].number);
        fputc('\n', out);
    }
    fclose(out);
    table_drop(&t);
    return text;
}
