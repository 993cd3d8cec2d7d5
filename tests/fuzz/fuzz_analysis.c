/*
 * The fuzzer's target for what is made of a session: bytes are loaded as a session with its names, and become tables,
 * the page's data, exports and levels for a new recording. Errors must have messages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analysis/analysis.h"
#include "analysis/level_changes.h"
#include "commands/features.h"
#include "fuzz/fuzz.h"
#include "recorder/earlier_levels.h"
#include "report/table_formats.h"
#include "tables/views.h"
#include "view/page_session.h"

static void analysis_check_error(struct error *error)
{
    fuzz_require(error->text && error->text[0]);
    error_drop(error);
}

static void analysis_print(struct table t, FILE *out)
{
    table_print_text(&t, out);
    table_print_json(&t, out);
    table_drop(&t);
}

static void analysis_show(const struct analysis *analysis, FILE *out)
{
    for (int by = BY_FUNCTION; by <= BY_PROCESS; by++)
        if (by != BY_LINE)
            analysis_print(view_rows(analysis, (enum rollup_by)by, &(struct sorting){ .key = "calls", .limit = 50 }),
                           out);
    analysis_print(view_module_functions(analysis), out);
    analysis_print(view_tree(analysis, &(struct tree_options){ .by_thread = true }), out);
    analysis_print(view_marks(analysis), out);
}

static void analysis_export(const struct analysis *analysis, FILE *out)
{
    const struct export_options options = { .time = EXPORT_ELAPSED };
    for (const struct export_format *const *each = all_exports(); *each; each++) {
        const struct export_format *f = *each;
        struct error error = { NULL };
        if (!f->write || f->compressed)
            continue;
        if ((f->check && !f->check(analysis, &options, &error)) || !f->write(analysis, &options, out, &error))
            analysis_check_error(&error);
    }
}

static void analysis_make_page(struct analysis *analysis)
{
    const struct view_options options = { .detail = 100000 };
    struct error error = { NULL };
    struct view_session *page = view_session_new(&(struct view_inputs){ .session = analysis }, &options, &error);
    if (page)
        view_session_free(page);
    else
        analysis_check_error(&error);
}

static void analysis_read_levels(const char *path)
{
    static const struct symbol_module modules[] = { { "/bin/p", NULL, 0 }, { "/no/shop", NULL, 0 } };
    struct error error = { NULL };
    struct earlier_levels *levels = earlier_levels_read(path, &error);
    if (!levels) {
        analysis_check_error(&error);
        return;
    }
    size_t found = 0;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        size_t place = 0;
        uint64_t offset;
        found += earlier_levels_find(levels, &modules[i], 0x1000, "main") != DWELL_PROBES_TIMED;
        while (earlier_levels_next(levels, &modules[i], &place, &offset) != DWELL_PROBES_TIMED)
            found++;
    }
    fuzz_require(found <= earlier_levels_count(levels));
    earlier_levels_free(levels);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    struct analysis analysis;
    struct error error = { NULL };
    const bool durations = size % 2 == 0; /* a corpus has both */
    const struct analysis_options options = { .jobs = 1,
                                              .lines = durations ? LINES_NONE : LINES_IF_KNOWN,
                                              .durations = durations };
    const int fd = fuzz_file(data, size, path);
    FILE *out = fopen("/dev/null", "w");
    fuzz_require(out != NULL);
    if (analysis_load(&analysis, path, &options, &error)) {
        analysis_show(&analysis, out);
        analysis_export(&analysis, out);
        analysis_make_page(&analysis);
        analysis_drop(&analysis);
    } else {
        analysis_check_error(&error);
    }
    analysis_read_levels(path);
    fclose(out);
    close(fd);
    return 0;
}
