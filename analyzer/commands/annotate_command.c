/* dwell annotate: reads its options, and prints a function's source with the calls and times of its lines. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "analysis/find_function.h"
#include "base/counted_text.h"
#include "base/json_text.h"
#include "base/memory.h"
#include "base/text_options.h"
#include "base/units.h"
#include "base/visible.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/function_words.h"
#include "report/annotate.h"
#include "report/text_lines.h"
#include "report/text_summary.h"

enum { MAX_SOURCE = 64 << 20 };

static const struct shared_use shared[] = {
    { SHARED_FORMAT, NULL },   { SHARED_TEXT, NULL }, { SHARED_CSV_SAFE, NULL }, { SHARED_RAW, NULL },
    { SHARED_NO_MERGE, NULL }, { SHARED_JOBS, NULL }, { SHARED_STRICT, NULL },   { SHARED_END, NULL },
};

struct annotate_settings {
    struct shared_options shared;
    struct source_search search;
    struct function_words words;
};

static void annotate_add_map(void *settings, const struct option_row *row, char *text)
{
    struct annotate_settings *s = settings;
    char *equals = strchr(text, '=');
    (void)row;
    if (!equals)
        die(STATUS_ERROR, "--source-path: '%s' is not A=B, a folder of the build and the one that replaces it", text);
    *equals = '\0';
    GROW(s->search.maps, s->search.map_count, s->search.map_room);
    s->search.maps[s->search.map_count++] = (struct source_map){ text, equals + 1 };
}

static const struct option_row options[] = {
    { "source-path", "A=B", "Look for files of folder A in B instead; may be repeated, the first that fits counts",
      READ_BY(annotate_add_map) },
    { TAKE_FUNCTION(struct annotate_settings, words) },
    { 0 },
};

static const struct command_line line = {
    .name = "annotate",
    .arguments = "FUNCTION [FILE]",
    .text =
        "Prints a function's source. Beside each line are the calls made from it and their time, and the function's own "
        "time there.\v"
        "CALLS and TIME need a session of record --call-sites: TIME is the elapsed time of the calls. SELF needs samples "
        "(record --sample): the function's own time in proportion to them. A star marks lines with a tenth of the "
        "function's time. Calls and samples in an inlined function without probes belong to the line that calls it. "
        "FUNCTION is as in dwell callers; a glob such as 'twice<*' adds up all copies that are in one place.\n\n"
        "The source is looked for at its path in the debug information, with --source-path, and on the servers of "
        "DEBUGINFOD_URLS if that is set.\n\nExamples:\n"
        "  dwell annotate parse_line\n"
        "  dwell annotate --source-path /build/src=. parse_line run.data",
    .options = options,
    .shared = shared,
};

/* Marks the functions that are named. Returns the first one. Ends the program if they are not in one place. */
static uint32_t annotate_select(const struct analysis *analysis, const char *text, bool *functions)
{
    struct error error = { NULL };
    uint32_t first = PROFILE_NONE;
    if (!function_find_each(analysis, text, functions, &error))
        die_of(&error);
    for (uint32_t i = 0; i < analysis->profile->function_count; i++) {
        if (!functions[i])
            continue;
        const struct function_name *name = &analysis->names[i],
                                   *other = first == PROFILE_NONE ? name : &analysis->names[first];
        first = first == PROFILE_NONE ? i : first;
        if (!name->file || !name->line)
            die(STATUS_ERROR, "annotate: the source of '%s' is %s", name->name,
                analysis->summary.imported ? "not in the report" : "unknown: compile with -g, and record again");
        if (name->line != other->line || strcmp(name->file, other->file) != 0)
            die(STATUS_ERROR,
                "annotate: '%s' names functions in several places, such as %s:%" PRIu32 " and %s:%" PRIu32, text,
                other->file, other->line, name->file, name->line);
    }
    return first;
}

static void annotate_refuse_missing(const struct source_search *search, const char *file)
{
    const char *servers = getenv("DEBUGINFOD_URLS");
    fflush(stdout);
    say("%s: no such source file%s; --source-path A=B looks in B for the files of A%s. Looked at:", file,
        getenv(SOURCE_FOLDERS) ? " in the folders of dwell mcp" : "",
        servers && *servers ? ", and the servers of DEBUGINFOD_URLS do not have it" : "");
    for (size_t i = 0; i < search->tried_count; i++)
        print_text(stderr, "  %s\n", search->tried[i]);
    exit(STATUS_ERROR);
}

static void annotate_remark(struct analysis *analysis, const struct annotation *a)
{
    if (!a->has_sites)
        summary_remark(&analysis->summary, "no-call-sites",
                       "the lines of calls were not recorded: record with --call-sites to see them");
    if (!a->has_samples)
        summary_remark(&analysis->summary, "no-samples",
                       "there are no samples: record with --sample 1000 to see the function's own time by "
                       "line");
    if (a->elsewhere)
        summary_remark(&analysis->summary, "calls-elsewhere", "%s made from lines outside of the function's text",
                       COUNTED_WAS(a->elsewhere, "call"));
    if (a->has_sites && a->unknown)
        summary_remark(&analysis->summary, "calls-without-line", "%s made from unknown lines",
                       COUNTED_WAS(a->unknown, "call"));
}

static void annotate_print_head(const struct annotation *a, const struct function_name *name, const char *path)
{
    char inclusive[TIME_TEXT], exclusive[TIME_TEXT];
    const uint64_t per_second = a->analysis->summary.ticks_per_second;
    text_time(ticks_to_ns(a->sums.elapsed_inclusive, per_second), inclusive);
    text_time(ticks_to_ns(a->sums.elapsed_exclusive, per_second), exclusive);
    char *calls = need_text("%s (%s), %s:%" PRIu32 ": %s", name->name, name->module, path, a->first,
                            COUNTED(a->sums.calls, "call"));
    if (times_are_counted(&a->sums))
        text_print_lines(stdout,
                         "%s, only counted, so their times are unknown; record with --level 'timed=%s' to time them",
                         calls, name->name);
    else
        text_print_lines(stdout, "%s, elapsed %s, of which its own %s", calls, inclusive, exclusive);
    puts("");
    free(calls);
}

static void annotate_print(const struct annotate_settings *s, const struct annotation *a,
                           const struct function_name *name, const char *path, bool newer)
{
    struct table t = view_annotation(a);
    if (s->shared.print == table_print_text) {
        annotate_print_head(a, name, path);
        annotation_print(a, stdout);
        text_print_facts(&a->analysis->summary, true, stdout);
    } else if (s->shared.print == table_print_json) {
        json_begin(stdout);
        json_print_remarks(&a->analysis->summary, stdout);
        fputs("\"function\": ", stdout);
        json_put_text(stdout, name->name);
        fputs(", \"file\": ", stdout);
        json_put_text(stdout, name->file);
        fputs(", \"path\": ", stdout);
        json_put_text(stdout, path);
        printf(", \"newer\": %s,\n ", newer ? "true" : "false");
        table_print_json_rows(&t, "rows", stdout);
        fputs("}\n", stdout);
    } else {
        s->shared.print(&t, stdout);
    }
    table_drop(&t);
}

int command_annotate(int argc, char **argv)
{
    struct annotate_settings s = { .search = { .servers = true }, .words = { .command = "annotate", .most = 1 } };
    struct analysis loaded;
    command_line_parse(&line, argc, argv, &s, &s.shared);
    const char *function = function_words_take(&s.words), *file = function_words_file(&s.words);
    s.shared.load.lines = LINES_IF_KNOWN;
    s.shared.load.sites_apart = true;
    shared_options_load_plain(&loaded, file, &s.shared);
    bool *functions = need_memory(loaded.profile->function_count, sizeof *functions);
    const uint32_t first = annotate_select(&loaded, function, functions);
    const struct function_name *name = &loaded.names[first];
    const struct profile_module *module = &loaded.profile->modules[loaded.profile->functions[first].module];
    struct source_text source = source_file_find(&s.search, name->file, module, MAX_SOURCE);
    if (!source.text)
        annotate_refuse_missing(&s.search, name->file);
    const bool newer = source_file_is_newer(&loaded, module->path, &source.status);
    if (newer)
        say("%s: is newer than %s: its lines may have moved", source.path, module->path);
    struct annotation a = annotate(&loaded, functions, name->file, name->line, &source);
    if (!a.first)
        die(STATUS_ERROR, "%s: has no line %" PRIu32 ", where '%s' begins: it is another version of the source",
            source.path, name->line, name->name);
    annotate_remark(&loaded, &a);
    annotate_print(&s, &a, name, source.path, newer);
    annotation_drop(&a);
    source_text_drop(&source);
    source_search_drop(&s.search);
    free(functions);
    analysis_drop(&loaded);
    shared_options_drop(&s.shared);
    function_words_drop(&s.words);
    return finish_output();
}
