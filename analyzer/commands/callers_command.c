/* dwell callers: reads its options and prints one function with its callers and callees. */
#include <string.h>

#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/function_words.h"
#include "commands/sessions.h"
#include "tables/first_screen.h"
#include "tables/row_probes.h"

static const struct shared_use shared[] = {
    { SHARED_PART, NULL },
    { SHARED_CALLS, NULL },
    { SHARED_FILTER, NULL },
    { SHARED_SORT, "(default: cpu_inclusive if it is known and in text, else elapsed_inclusive); callers and callees" },
    { SHARED_COLUMNS, NULL },
    { SHARED_FORMAT, NULL },
    { SHARED_TEXT, NULL },
    { SHARED_CSV_SAFE, NULL },
    { SHARED_RAW, NULL },
    { SHARED_NO_MERGE, NULL },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

struct callers_settings {
    struct shared_options shared;
    struct function_words words;
};

static const struct option_word ways[] = { { "line", LINES_NEEDED }, { NULL, 0 } };

static const struct option_row options[] = {
    { "by", "WHAT", "line: a row for each line that makes calls (needs record --call-sites)",
      STORE_CHOICE(struct callers_settings, shared.load.lines, ways) },
    { TAKE_FUNCTION(struct callers_settings, words) },
    { 0 },
};

static const struct command_line line = {
    .name = "callers",
    .daily = "by from to thread root filter sort columns format",
    .arguments = "FUNCTION [FILE...]",
    .text =
        "Shows a function of one or more sessions (default: dwell.data) between its callers and its callees.\v"
        "A caller's times are the function's own in calls from there. A callee's times are its own in calls from "
        "the function. In text, rows are sorted by inclusive CPU time where that is known, and CPU % is their share of "
        "the function's. Otherwise, and if the function mostly waits, SHARE % is that of inclusive elapsed time. "
        "FUNCTION is a whole name, a "
        "C++ name without its return type or parameters, or a part that only one name has. name@module, name@file and "
        "name@file:line tell functions of one name apart.\n\nExamples:\n"
        "  dwell callers parse\n"
        "  dwell callers read@libc.so.6 run.data\n"
        "  dwell callers --process worker 'ns::Class::method'",
    .options = options,
    .shared = shared,
    .read_shared = option_read_times,
};

int command_callers(int argc, char **argv)
{
    struct callers_settings s = { .words = { .command = "callers" } };
    struct session_list sessions = { 0 };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    const char *function = function_words_take(&s.words);
    for (size_t i = 0; i < s.words.count; i++)
        session_list_add(&sessions, s.words.words[i]);
    struct analysis loaded;
    session_list_load(&sessions, &loaded, &s.shared);
    const bool by_cpu =
        s.shared.print == table_print_text && !s.shared.columns && first_screen_is_known(&loaded.summary);
    struct table table = view_callers(&loaded, option_function(&loaded, function), by_cpu);
    option_filter(&table, &s.shared.filters);
    option_arrange(&table, s.shared.sort, s.shared.columns, false);
    row_probes_remark(&loaded.summary, &table);
    s.shared.print(&table, stdout);
    table_drop(&table);
    analysis_drop(&loaded);
    shared_options_drop(&s.shared);
    session_list_drop(&sessions);
    function_words_drop(&s.words);
    return finish_output();
}
