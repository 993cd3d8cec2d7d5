/* dwell replay: the calls one after the other, straight from the file: the whole of it is never read for a part. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/hints.h"
#include "analysis/selection_request.h"
#include "base/progress.h"
#include "commands/commands.h"
#include "commands/config.h"
#include "report/replay.h"

enum {
    OPTION_FORMAT = 256,
    OPTION_FROM,
    OPTION_TO,
    OPTION_THREAD,
    OPTION_PROCESS,
    OPTION_ROOT,
    OPTION_DEPTH,
    OPTION_MIN
};

static const struct argp_option options[] = {
    { "from", OPTION_FROM, "TIME", 0,
      "Not before TIME since the session began (500us, 2.5ms, 1s), or before the first mark of that number or text "
      "(mark:7, mark:frame*)",
      0 },
    { "to", OPTION_TO, "TIME", 0, "Before TIME, or before such a mark, the first one behind --from", 0 },
    { "thread", OPTION_THREAD, "THREAD", 0, "Only threads with this tid, or whose names match this glob", 0 },
    { "process", OPTION_PROCESS, "PID", 0, "Only this process", 0 },
    { "root", OPTION_ROOT, "FUNCTION", 0,
      "Only what happens inside calls of FUNCTION: its name, with or without parameters, or a glob", 0 },
    { "depth", OPTION_DEPTH, "N", 0, "Only the N outermost levels", 0 },
    { "min", OPTION_MIN, "TIME", 0, "Leave out calls and waits that took less than TIME", 0 },
    { "limit", 'n', "N", 0, "Stop after N lines, 0: never (default)", 0 },
    { "format", OPTION_FORMAT, "FORMAT", 0, "text (default), csv, or json: an object a line", 0 },
    { 0 },
};

struct replay_settings {
    const char *file, *format;
    struct selection_moment from, to;
    struct selection names; /* of threads and processes, to be checked */
    struct replay_options what;
    uint64_t shortest_ns;
    unsigned long limit;
};

static void replay_parse_moment(const char *option, const char *text, struct selection_moment *moment)
{
    struct error error = { NULL };
    if (!selection_moment_parse(option, text, moment, &error))
        die_of(&error);
}

static error_t replay_parse_option(int key, char *argument, struct argp_state *state)
{
    struct replay_settings *s = state->input;
    switch (key) {
    case OPTION_FROM:
        replay_parse_moment("--from", argument, &s->from);
        return 0;
    case OPTION_TO:
        replay_parse_moment("--to", argument, &s->to);
        return 0;
    case OPTION_THREAD:
        s->what.thread = argument;
        s->names.threads.count = 0; /* the last one holds */
        selection_add_name(&s->names.threads, argument);
        return 0;
    case OPTION_PROCESS:
        s->what.process = (uint32_t)option_number("--process", argument);
        s->names.processes.count = 0;
        selection_add_name(&s->names.processes, argument);
        return 0;
    case OPTION_ROOT:
        s->what.root = argument;
        return 0;
    case OPTION_DEPTH:
        s->what.depth = option_number("--depth", argument);
        if (!s->what.depth)
            die(STATUS_ERROR, "--depth: must be 1 or more");
        return 0;
    case OPTION_MIN:
        s->shortest_ns = option_time("--min", argument);
        return 0;
    case 'n':
        s->limit = option_number("--limit", argument);
        return 0;
    case OPTION_FORMAT:
        option_format(argument);
        s->format = argument;
        return 0;
    case ARGP_KEY_ARG:
        option_session(state, argument, &s->file);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void replay_find_part(struct replay_settings *s, const struct session_file *file)
{
    struct error error = { NULL };
    s->what.shortest = selection_ticks(s->shortest_ns, file);
    if (!selection_moments_find(&s->from, &s->to, file, &s->what.from, &s->what.to, &error) ||
        !selection_check_names(&s->names, file, &error))
        die_of(&error);
}

struct replay_count {
    struct replay_printer *printer;
    unsigned long left; /* lines; zero: no limit */
    bool any;
};

static bool replay_print_counted(void *context, const struct replay_line *line)
{
    struct replay_count *c = context;
    if (!c->any)
        progress_output();
    c->any = true;
    return replay_print(c->printer, line) && (!c->left || --c->left);
}

/* Whoever stops reading has seen enough. */
static int replay_finish_print(const struct replay_settings *s, const struct replay_result *result, bool any)
{
    fflush(stdout);
    if (ferror(stdout) && errno == EPIPE)
        return STATUS_OK;
    if (result->counts.damaged_chunks)
        say("%s: %llu damaged chunks were left out, wholly or in part", s->file,
            (unsigned long long)result->counts.damaged_chunks);
    if (s->what.root && !result->root_found) {
        struct analysis l;
        command_load(&l, s->file, &(struct analysis_options){ 0 });
        say("%s: --root: no call of '%s' in what was asked for%s dwell report -s name lists the functions", s->file,
            s->what.root, hint_function(&l, s->what.root, ";"));
        analysis_drop(&l);
        return STATUS_ERROR;
    }
    if (!any)
        say("%s: nothing was recorded in what was asked for", s->file);
    return finish_output();
}

int command_replay(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        replay_parse_option,
        "[FILE]",
        "Shows the calls as they happened, over all threads in the order of time.\v"
        "A call that nothing is shown of is one line; else one where it begins ({), and one where it ends (}), with "
        "how long it took. '>' is where the thread is another one than in the line above.\n\nExamples:\n"
        "  dwell replay --from 2.5ms --to 3ms\n"
        "  dwell replay --root handle_request --min 100us\n"
        "  dwell replay --from mark:1 --to mark:2 --thread 'worker*'",
        config_children,
        NULL,
        NULL,
    };
    struct replay_settings s = { .file = DEFAULT_SESSION, .format = "text" };
    parse_options_with_config(&argp, "replay", argc, argv, &s);
    signal(SIGPIPE, SIG_IGN);
    const char *error;
    struct session_file *file = session_file_open(s.file, &error);
    if (!file)
        die(STATUS_ERROR, "%s: %s", s.file, error);
    if (file->header.mode == DWELL_MODE_PROFILE || file->header.origin & DWELL_ORIGIN_IMPORTED)
        die(STATUS_ERROR, "%s: %s, which keeps no single calls", s.file,
            file->header.mode == DWELL_MODE_PROFILE ? "recorded in mode profile" : "imported from a report");
    replay_find_part(&s, file);
    struct replay_count counted = { .left = s.limit };
    counted.printer = replay_printer_new(s.format, file, &s.what, stdout);
    const struct replay_result result = replay(file, &s.what, replay_print_counted, &counted);
    replay_printer_free(counted.printer);
    session_file_close(file);
    selection_free(&s.names);
    return replay_finish_print(&s, &result, counted.any);
}
