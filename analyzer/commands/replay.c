/* dwell replay: the calls one after the other, straight from the file: the whole of it is never read for a part. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "base/progress.h"
#include "base/wide.h"
#include "commands/commands.h"
#include "report/replay.h"
#include "trace/mark_search.h"

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

struct settings {
    const char *file, *format, *from, *to;
    struct replay_options what;
    uint64_t shortest_ns;
    unsigned long limit;
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct settings *s = state->input;
    switch (key) {
    case OPTION_FROM:
        s->from = argument;
        return 0;
    case OPTION_TO:
        s->to = argument;
        return 0;
    case OPTION_THREAD:
        s->what.thread = argument;
        return 0;
    case OPTION_PROCESS:
        s->what.process = (uint32_t)option_number("--process", argument);
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

static uint64_t to_ticks(const struct session_file *file, uint64_t ns)
{
    return (uint64_t)((uint128)ns * file->header.ticks_per_second / 1000000000u);
}

/* A time since the session's start, or a mark's, in the session's ticks. */
static uint64_t find_time(const struct session_file *file, const char *option, const char *text, uint64_t begin)
{
    static const char mark[] = "mark:";
    uint64_t time;
    if (strncmp(text, mark, sizeof mark - 1) != 0)
        return file->header.start_ticks + to_ticks(file, option_time(option, text));
    if (!mark_search(file, text + sizeof mark - 1, begin, &time))
        die(STATUS_ERROR, "%s: %s: there is no mark '%s'%s; dwell marks lists them", file->path, option,
            text + sizeof mark - 1, begin ? " behind --from" : "");
    return time;
}

static void find_part(struct settings *s, const struct session_file *file)
{
    s->what.shortest = to_ticks(file, s->shortest_ns);
    s->what.from = s->from ? find_time(file, "--from", s->from, 0) : 0;
    s->what.to = s->to ? find_time(file, "--to", s->to, s->what.from ? s->what.from + 1 : 0) : UINT64_MAX;
    if (s->what.to <= s->what.from)
        die(STATUS_ERROR, "--to: is not behind --from");
}

struct counted {
    struct replay_printer *printer;
    unsigned long left; /* lines; zero: no limit */
    bool any;
};

static bool print_some(void *context, const struct replay_line *line)
{
    struct counted *c = context;
    if (!c->any)
        progress_output();
    c->any = true;
    return replay_print(c->printer, line) && (!c->left || --c->left);
}

/* Whoever stops reading has seen enough. */
static int finish(const struct settings *s, const struct replay_result *result, bool any)
{
    fflush(stdout);
    if (ferror(stdout) && errno == EPIPE)
        return STATUS_OK;
    if (result->counts.damaged_chunks)
        say("%s: %llu damaged chunks were left out, wholly or in part", s->file,
            (unsigned long long)result->counts.damaged_chunks);
    if (s->what.root && !result->root_found) {
        say("%s: --root: no call of '%s' in what was asked for; dwell report -s name lists the functions", s->file,
            s->what.root);
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
        parse,
        "[FILE]",
        "Shows the calls as they happened, over all threads in the order of time.\v"
        "A call that nothing is shown of is one line; else one where it begins ({), and one where it ends (}), with "
        "how long it took. '>' is where the thread is another one than in the line above. Examples:\n\n"
        "  dwell replay --from 2.5ms --to 3ms\n"
        "  dwell replay --root handle_request --min 100us\n"
        "  dwell replay --from mark:1 --to mark:2 --thread 'worker*'",
        NULL,
        NULL,
        NULL,
    };
    struct settings s = { .file = DEFAULT_SESSION, .format = "text" };
    parse_options(&argp, "replay", argc, argv, &s);
    signal(SIGPIPE, SIG_IGN);
    const char *error;
    struct session_file *file = session_file_open(s.file, &error);
    if (!file)
        die(STATUS_ERROR, "%s: %s", s.file, error);
    if (file->header.mode == DWELL_MODE_PROFILE || file->header.origin & DWELL_ORIGIN_IMPORTED)
        die(STATUS_ERROR, "%s: %s, which keeps no single calls", s.file,
            file->header.mode == DWELL_MODE_PROFILE ? "recorded in mode profile" : "imported from a report");
    find_part(&s, file);
    struct counted counted = { .left = s.limit };
    counted.printer = replay_printer_new(s.format, file, &s.what, stdout);
    const struct replay_result result = replay(file, &s.what, print_some, &counted);
    replay_printer_free(counted.printer);
    session_file_close(file);
    return finish(&s, &result, counted.any);
}
