#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "commands/commands.h"
#include "commands/sessions.h"
#include "trace/session_merge.h"

static const struct argp_option options[] = {
    { "output", 'o', "OUT", 0, "The session file to write; an older session of that name becomes OUT.old", 0 },
    { 0 },
};

struct merge_settings {
    struct session_list sessions;
    const char *output;
};

static error_t merge_parse_option(int key, char *argument, struct argp_state *state)
{
    struct merge_settings *s = state->input;
    switch (key) {
    case 'o':
        s->output = argument;
        return 0;
    case ARGP_KEY_ARG:
        session_list_add(&s->sessions, argument);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void merge_check_settings(struct merge_settings *s)
{
    struct stat out, in;
    session_list_unique(&s->sessions);
    if (s->sessions.count < 2)
        die(STATUS_ERROR, "merge: needs two sessions or more");
    if (!s->output)
        die(STATUS_ERROR, "merge: say which session file to write, with -o OUT");
    for (size_t i = 0; i < s->sessions.count; i++)
        if (stat(s->output, &out) == 0 && stat(s->sessions.paths[i], &in) == 0 && out.st_dev == in.st_dev &&
            out.st_ino == in.st_ino)
            die(STATUS_ERROR, "%s: is one of the sessions to be merged", s->output);
}

static void merge_open_sessions(const struct session_list *list, struct session_file **files)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *error;
        files[i] = session_file_open(list->paths[i], &error);
        if (!files[i])
            die(STATUS_ERROR, "%s: %s", list->paths[i], error);
        for (size_t j = 0; j < i; j++) {
            error = session_merge_check(files[j], files[i]);
            if (error)
                die(STATUS_ERROR, "%s: cannot be merged with %s: %s; report, tree and callers take both at once",
                    list->paths[i], list->paths[j], error);
        }
    }
}

static void merge_report_losses(const struct session_file *f)
{
    if (f->damaged_chunks || f->damaged_bytes || f->damaged_records)
        say("%s: is damaged: %" PRIu64 " chunks, %" PRIu64 " records and %" PRIu64
            " bytes were left out, wholly or in part",
            f->path, f->damaged_chunks, f->damaged_records, f->damaged_bytes);
}

int command_merge(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        merge_parse_option,
        "FILE FILE... -o OUT",
        "Makes one session of several that were recorded on one machine by one clock, with all that they hold.\v"
        "Processes and threads get new serial numbers; times stay as they are, so that it shows what happened at the "
        "same "
        "time.\n\nExamples:\n"
        "  dwell merge server.data client.data -o both.data",
        NULL,
        NULL,
        NULL,
    };
    struct merge_settings s = { 0 };
    parse_options(&argp, "merge", argc, argv, &s);
    merge_check_settings(&s);
    struct session_file **files = need_memory(s.sessions.count, sizeof *files);
    merge_open_sessions(&s.sessions, files);
    const char *error = session_merge(files, s.sessions.count, s.output);
    if (error)
        die(STATUS_ERROR, "%s: %s", s.output, error);
    for (size_t i = 0; i < s.sessions.count; i++) {
        merge_report_losses(files[i]);
        session_file_close(files[i]);
    }
    free(files);
    session_list_drop(&s.sessions);
    return finish_output();
}
