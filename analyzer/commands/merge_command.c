/* dwell merge: reads its options and writes several sessions into one session file. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/sessions.h"
#include "sums/sums.h"
#include "trace/session_merge.h"

static const struct shared_use shared[] = {
    { SHARED_OUTPUT, "(required); an older session of that name becomes FILE.old" },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

struct merge_settings {
    struct shared_options shared;
    struct session_list sessions;
    bool with_values;
};

static const struct option_row options[] = {
    { "with-values", NULL, "Also copy recorded values of arguments, which can be secrets (record --values)",
      STORE_FLAG(struct merge_settings, with_values) },
    { TAKE_SESSIONS(struct merge_settings, sessions) },
    { 0 },
};

static void merge_check_settings(struct merge_settings *s)
{
    struct stat out, in;
    const size_t given = s->sessions.count;
    session_list_unique(&s->sessions);
    if (given > 1 && s->sessions.count == 1)
        die(STATUS_ERROR, "merge: %s is given more than once; give another session", s->sessions.paths[0]);
    if (s->sessions.count < 2)
        die(STATUS_ERROR, "merge: give two sessions or more");
    if (!s->shared.output)
        die(STATUS_ERROR, "merge: say which session file to write, with -o FILE");
    for (size_t i = 0; i < s->sessions.count; i++)
        if (stat(s->shared.output, &out) == 0 && stat(s->sessions.paths[i], &in) == 0 && out.st_dev == in.st_dev &&
            out.st_ino == in.st_ino)
            die(STATUS_ERROR, "%s: is one of the sessions to merge; write to another file", s->shared.output);
}

static struct session_file *merge_open(const char *path)
{
    const char *error;
    struct session_file *file = session_file_open(path, &error);
    if (!file)
        die(STATUS_ERROR, "%s: %s", path, error);
    return file;
}

static bool merge_has_sums(const struct session_file *file)
{
    return file->header.origin & DWELL_ORIGIN_SUMS;
}

/* Sums are added one after another, so that memory holds the result and one of them. */
static void merge_sums(const struct merge_settings *s, struct session_file *file)
{
    struct sums *sums = sums_new();
    struct error wrong = { NULL };
    for (size_t i = 0; i < s->sessions.count; i++) {
        const char *path = s->sessions.paths[i];
        file = i ? merge_open(path) : file;
        if (!merge_has_sums(file))
            die(STATUS_ERROR, "%s: was recorded, and %s holds sums; make sums of both with dwell profile", path,
                s->sessions.paths[0]);
        damage_report(path, damage_of(file), s->shared.load.strict);
        if (!sums_add(sums, file, &wrong))
            die(STATUS_ERROR, "%s", wrong.text);
        session_file_close(file);
    }
    const char *error = sums_write(sums, s->shared.output);
    if (error)
        die(STATUS_ERROR, "%s: %s", s->shared.output, error);
    sums_free(sums);
}

static void merge_open_sessions(const struct session_list *list, struct session_file **files, bool strict)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *error;
        files[i] = i ? merge_open(list->paths[i]) : files[0];
        damage_report(list->paths[i], damage_of(files[i]), strict);
        if (merge_has_sums(files[i]))
            die(STATUS_ERROR, "%s: holds sums, and %s was recorded; make sums of both with dwell profile",
                list->paths[i], list->paths[0]);
        for (size_t j = 0; j < i; j++) {
            error = session_merge_check(files[j], files[i]);
            if (error)
                die(STATUS_ERROR, "%s: cannot be merged with %s: %s; report, tree and callers take both at once",
                    list->paths[i], list->paths[j], error);
        }
    }
}

static const struct command_line line = {
    .name = "merge",
    .arguments = "FILE FILE... -o OUT",
    .text = "Makes one session of several that were recorded on one machine by one clock, with all that they hold.\v"
            "Processes and threads get new serial numbers. Times stay as they are, so that the session shows what "
            "happened at the same time.\n\nExamples:\n"
            "  dwell merge server.data client.data -o both.data",
    .options = options,
    .shared = shared,
};

static void merge_recorded(const struct merge_settings *s, struct session_file *first)
{
    const size_t count = s->sessions.count;
    struct session_file **files = need_memory(count, sizeof *files);
    files[0] = first;
    merge_open_sessions(&s->sessions, files, s->shared.load.strict);
    const char *error = session_merge(files, count, s->with_values, s->shared.output);
    if (error)
        die(STATUS_ERROR, "%s: %s", s->shared.output, error);
    for (size_t i = 0; i < count; i++)
        session_file_close(files[i]);
    free(files);
}

int command_merge(int argc, char **argv)
{
    struct merge_settings s = { 0 };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    merge_check_settings(&s);
    struct session_file *first = merge_open(s.sessions.paths[0]);
    if (merge_has_sums(first) && s.with_values)
        die(STATUS_ERROR, "--with-values: %s holds sums, which have no values of arguments; leave it out",
            s.sessions.paths[0]);
    if (merge_has_sums(first))
        merge_sums(&s, first);
    else
        merge_recorded(&s, first);
    session_list_drop(&s.sessions);
    return finish_output();
}
