/* dwell marks: reads its options and prints the marks that a program has set, in order of time. */
#include "commands/command_line.h"
#include "commands/commands.h"
#include "tables/views.h"

static const struct shared_use shared[] = {
    { SHARED_FILTER, NULL },       { SHARED_SORT, "(default: in order of time)" },
    { SHARED_LIMIT, "(default)" }, { SHARED_COLUMNS, NULL },
    { SHARED_FORMAT, NULL },       { SHARED_CSV_SAFE, NULL },
    { SHARED_TEXT, NULL },         { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },       { SHARED_END, NULL },
};

struct marks_settings {
    struct shared_options shared;
    const char *file;
};

static const struct option_row options[] = { { TAKE_SESSION(struct marks_settings, file) }, { 0 } };

static const struct command_line line = {
    .name = "marks",
    .arguments = "[FILE]",
    .text = "Lists the marks that the program has set (dwell_mark in dwell/dwell.h), in order of time. Times are "
            "since the session began, and since the mark before. Timers of PerfLog (Perf_MarkBegin to Perf_MarkEnd "
            "in dwell/perflog.h) are listed at their start, with their duration.\vExamples:\n"
            "  dwell marks\n"
            "  dwell marks --filter 'frame*' --format csv run.data",
    .options = options,
    .shared = shared,
    .columns = view_marks_columns,
    .column_count = &view_marks_column_count,
};

int command_marks(int argc, char **argv)
{
    struct marks_settings s = { .file = DEFAULT_SESSION };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    struct analysis loaded;
    shared_options_load_plain(&loaded, s.file, &s.shared);
    struct table table = view_marks(&loaded);
    option_filter(&table, &s.shared.filters);
    option_arrange_first(&table, s.shared.sort, s.shared.limit, s.shared.columns);
    s.shared.print(&table, stdout);
    table_drop(&table);
    analysis_drop(&loaded);
    shared_options_drop(&s.shared);
    return finish_output();
}
