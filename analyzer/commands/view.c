#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/commands.h"
#include "commands/config.h"
#include "commands/selection_options.h"
#include "commands/view_live.h"
#include "view/browser.h"
#include "view/page.h"

enum { OPTION_NO_OPEN = 256, OPTION_FORCE, OPTION_DETAIL, OPTION_LIVE, OPTION_PORT };

#define DEFAULT_PAGE "dwell.html"
enum { MAX_SESSIONS = 2, USUAL_DETAIL = 8 << 20, MAX_DETAIL = 1 << 30 };

static const struct argp_option options[] = {
    { "output", 'o', "FILE", 0, "Write the page to this file (default: " DEFAULT_PAGE ")", 0 },
    { "force", OPTION_FORCE, NULL, 0, "Replace that file even if it is no page of dwell's", 0 },
    { "no-open", OPTION_NO_OPEN, NULL, 0, "Do not open the page in a browser", 0 },
    { "detail", OPTION_DETAIL, "SIZE", 0,
      "What the timeline may add to the page's size (default: 8M; 0: no timeline): with more, it can be zoomed further",
      0 },
    { "live", OPTION_LIVE, NULL, 0,
      "Serve the page on this machine instead, up to date while the program runs, until Ctrl-C", 0 },
    { "port", OPTION_PORT, "PORT", 0, "With --live: serve it there (default: any free port)", 0 },
    { 0 },
};

struct view_settings {
    const char *files[MAX_SESSIONS];
    size_t count;
    const char *output;
    bool force, no_open, live;
    unsigned long port; /* zero: not given */
    struct view_options options;
    struct analysis_options load;
    struct row_filters filters;
};

static size_t view_parse_detail(const char *text)
{
    static const char units[] = "KMG";
    char *end;
    errno = 0;
    unsigned long long size = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, *end) : NULL;
    if (unit && size <= MAX_DETAIL) {
        size <<= 10 * (unit - units + 1);
        end++;
    }
    if (errno || end == text || *end || *text == '-' || size > MAX_DETAIL)
        die(STATUS_ERROR, "--detail: '%s' is no number of bytes up to 1G, such as 500K or 32M", text);
    return (size_t)size;
}

static error_t view_parse_option(int key, char *argument, struct argp_state *state)
{
    struct view_settings *s = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        return selection_options_begin(state, &s->load, &s->filters);
    case 'o':
        s->output = argument;
        return 0;
    case OPTION_FORCE:
        s->force = true;
        return 0;
    case OPTION_NO_OPEN:
        s->no_open = true;
        return 0;
    case OPTION_DETAIL:
        s->options.detail = view_parse_detail(argument);
        return 0;
    case OPTION_LIVE:
        s->live = true;
        return 0;
    case OPTION_PORT:
        s->port = option_number("--port", argument);
        if (s->port < 1 || s->port > UINT16_MAX)
            die(STATUS_ERROR, "--port: must be from 1 to 65535");
        return 0;
    case ARGP_KEY_ARG:
        if (s->count == MAX_SESSIONS)
            die(STATUS_ERROR, "a page compares two sessions at most: '%s' is a third one", argument);
        s->files[s->count++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the file ---- */

static bool view_is_special_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

/* Ends the program if the page would replace what somebody may want to keep. */
static void view_check_output(const struct view_settings *s)
{
    for (size_t i = 0; i < s->count; i++)
        output_spare(s->output, s->files[i]);
    struct stat status;
    if (stat(s->output, &status) == 0 && S_ISDIR(status.st_mode))
        die(STATUS_ERROR, "%s: is a folder", s->output);
    FILE *there = s->force || view_is_special_file(s->output) ? NULL : fopen(s->output, "r");
    if (!there)
        return;
    if (!page_is_ours(there))
        die(STATUS_ERROR, "%s: is no page of dwell's; give another name by -o, or --force to replace it", s->output);
    fclose(there);
}

/* A file beside it that takes its place when it is whole; to be freed. */
static char *view_begin_file(const char *path, FILE **out)
{
    char *unfinished = need_text("%s.XXXXXX", path);
    const int fd = mkstemp(unfinished);
    *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!*out)
        die(STATUS_ERROR, "%s: %s", path, strerror(errno));
    const mode_t mask = umask(0);
    umask(mask);
    fchmod(fd, 0666 & ~mask);
    return unfinished;
}

static void view_end_file(const char *path, char *unfinished, FILE *out)
{
    const bool failed = ferror(out);
    if (fclose(out) != 0 || failed || rename(unfinished, path) < 0) {
        const int error = errno;
        unlink(unfinished);
        die(STATUS_ERROR, "%s: %s", path, strerror(error));
    }
    free(unfinished);
}

static int view_write_page(const char *path, const struct view_session *const *sessions, size_t count)
{
    FILE *out;
    if (view_is_special_file(path)) {
        out = output_open(path);
        page_write(sessions, count, out);
        return output_close(path, out);
    }
    char *unfinished = view_begin_file(path, &out);
    page_write(sessions, count, out);
    view_end_file(path, unfinished, out);
    return STATUS_OK;
}

/* ---- sessions ---- */

struct view_session *view_load(const char *file, const struct analysis_options *load,
                               const struct view_options *options, bool quiet, bool *ended, struct error *error)
{
    struct analysis loaded;
    if (!analysis_load(&loaded, file, load, error))
        return NULL;
    for (size_t i = 0; i < loaded.summary.loss_count && !quiet; i++)
        say("%s: %s", file, loaded.summary.remarks[i]);
    *ended = loaded.file->header.state == DWELL_COMPLETE;
    struct view_session *view = view_session_new(&loaded, options, error);
    analysis_drop(&loaded);
    return view;
}

static void view_show(const struct view_settings *s)
{
    struct stat status;
    if (stat(s->output, &status) < 0 || !S_ISREG(status.st_mode))
        return;
    const double size = (double)status.st_size;
    printf("%s: %.*f %s\n", s->output, size < 1e6 ? 0 : 1, size < 1e6 ? size / 1e3 : size / 1e6,
           size < 1e6 ? "kB" : "MB");
    if (s->no_open || !browser_is_wanted())
        return;
    if (!browser_open(s->output))
        say("%s: no browser was found to open it with: set BROWSER", s->output);
}

static int view_serve(const struct view_settings *s)
{
    if (s->output || s->force)
        die(STATUS_ERROR, "--live writes no file: leave out %s", s->output ? "--output" : "--force");
    if (s->count > 1)
        die(STATUS_ERROR, "--live shows one session at a time: '%s' is a second one", s->files[1]);
    return view_live(&(struct live_settings){ s->files[0], &s->load, s->options, (uint16_t)s->port, s->no_open });
}

static int view_write_sessions(const struct view_settings *s)
{
    struct view_session *sessions[MAX_SESSIONS];
    struct error error = { NULL };
    bool ended;
    view_check_output(s);
    for (size_t i = 0; i < s->count; i++)
        if (!(sessions[i] = view_load(s->files[i], &s->load, &s->options, false, &ended, &error)))
            die_of(&error);
    const int status = view_write_page(s->output, (const struct view_session *const *)sessions, s->count);
    for (size_t i = 0; i < s->count; i++)
        view_session_free(sessions[i]);
    if (status != STATUS_OK)
        return status;
    view_show(s);
    return finish_output();
}

int command_view(int argc, char **argv)
{
    static const struct argp argp = {
        options,
        view_parse_option,
        "[FILE [FILE]]",
        "Writes a session (dwell.data) as a page for a browser, and opens it; of two sessions, one that compares "
        "them.\v"
        "The page is one file that holds everything and needs no network.\n\nExamples:\n"
        "  dwell view\n"
        "  dwell view --no-open -o run.html run.data\n"
        "  dwell view before.data after.data\n"
        "  dwell view --live",
        selection_children,
        NULL,
        NULL,
    };
    struct view_settings s = { .options = { .detail = USUAL_DETAIL } };
    parse_options_with_config(&argp, "view", argc, argv, &s);
    if (s.filters.count)
        die(STATUS_ERROR, "--filter means nothing to view: the page has filters of its own");
    if (s.port && !s.live)
        die(STATUS_ERROR, "--port is for --live");
    if (s.count == 0)
        s.files[s.count++] = DEFAULT_SESSION;
    if (s.live)
        return view_serve(&s);
    if (!s.output)
        s.output = DEFAULT_PAGE;
    const int status = view_write_sessions(&s);
    selection_request_drop(&s.load.selection);
    row_filters_drop(&s.filters);
    return status;
}
