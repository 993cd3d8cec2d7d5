/* dwell merge: reads its options and writes several sessions into one session file. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/sessions.h"
#include "trace/session_merge.h"

static const struct shared_use shared[] = {
    { SHARED_OUTPUT, "(required); an older session of that name becomes FILE.old" },
    { SHARED_END, NULL },
};

struct merge_settings {
    struct shared_options shared;
    struct session_list sessions;
};

static error_t merge_parse_option(int key, char *argument, struct argp_state *state)
{
    struct merge_settings *s = state->input;
    if (key != ARGP_KEY_ARG)
        return ARGP_ERR_UNKNOWN;
    session_list_add(&s->sessions, argument);
    return 0;
}

static void merge_check_settings(struct merge_settings *s)
{
    struct stat out, in;
    session_list_unique(&s->sessions);
    if (s->sessions.count < 2)
        die(STATUS_ERROR, "merge: give two sessions or more");
    if (!s->shared.output)
        die(STATUS_ERROR, "merge: say which session file to write, with -o FILE");
    for (size_t i = 0; i < s->sessions.count; i++)
        if (stat(s->shared.output, &out) == 0 && stat(s->sessions.paths[i], &in) == 0 && out.st_dev == in.st_dev &&
            out.st_ino == in.st_ino)
            die(STATUS_ERROR, "%s: is one of the sessions to merge; write to another file", s->shared.output);
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

static const struct command_line line = {
    .name = "merge",
    .arguments = "FILE FILE... -o OUT",
    .text = "Makes one session of several that were recorded on one machine by one clock, with all that they hold.\v"
            "Processes and threads get new serial numbers. Times stay as they are, so that the session shows what "
            "happened at the same time.\n\nExamples:\n"
            "  dwell merge server.data client.data -o both.data",
    .parse = merge_parse_option,
    .shared = shared,
};

int command_merge(int argc, char **argv)
{
    struct merge_settings s = { 0 };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    merge_check_settings(&s);
    struct session_file **files = need_memory(s.sessions.count, sizeof *files);
    merge_open_sessions(&s.sessions, files);
    const char *error = session_merge(files, s.sessions.count, s.shared.output);
    if (error)
        die(STATUS_ERROR, "%s: %s", s.shared.output, error);
    for (size_t i = 0; i < s.sessions.count; i++) {
        merge_report_losses(files[i]);
        session_file_close(files[i]);
    }
    free(files);
    session_list_drop(&s.sessions);
    return finish_output();
}
