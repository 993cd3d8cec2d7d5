/* dwell view: reads its options, and writes sessions as an HTML page to a file or serves the page. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/visible.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/page_waits.h"
#include "commands/view_live.h"
#include "view/browser.h"
#include "view/page.h"

enum { OPTION_NO_OPEN = 256, OPTION_FORCE, OPTION_DETAIL, OPTION_LIVE, OPTION_PORT, OPTION_SOURCE };

#define DEFAULT_PAGE "dwell.html"
enum { MAX_SESSIONS = 2, USUAL_DETAIL = 8 << 20, MAX_DETAIL = 1 << 30 };

static const struct argp_option options[] = {
    { "force", OPTION_FORCE, NULL, 0, "Replace FILE even if it is not a page of dwell", 0 },
    { "no-open", OPTION_NO_OPEN, NULL, 0, "Do not open the page in a browser", 0 },
    { "detail", OPTION_DETAIL, "SIZE", 0,
      "Let the timeline add at most SIZE to the page (default: 8M; 0: no timeline); a larger one can be zoomed further",
      0 },
    { "source", OPTION_SOURCE, NULL, 0,
      "Put the text of the functions' source files into the page, as far as they can be read now", 0 },
    { "live", OPTION_LIVE, NULL, 0, "Serve the page on this machine until Ctrl-C, and update it while the program runs",
      0 },
    { "port", OPTION_PORT, "PORT", 0, "With --live: serve on this port (default: any free one)", 0 },
    { 0 },
};

static const struct shared_use shared[] = {
    { SHARED_PART, NULL },   { SHARED_CALLS, NULL },    { SHARED_OUTPUT, "(default: " DEFAULT_PAGE ")" },
    { SHARED_RAW, NULL },    { SHARED_NO_MERGE, NULL }, { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL }, { SHARED_END, NULL },
};

struct view_settings {
    struct shared_options shared;
    const char *files[MAX_SESSIONS];
    size_t count;
    bool force, no_open;
    unsigned long port; /* zero if not given */
    struct view_options options;
};

static error_t view_parse_option(int key, char *argument, struct argp_state *state)
{
    struct view_settings *s = state->input;
    switch (key) {
    case OPTION_FORCE:
        s->force = true;
        return 0;
    case OPTION_NO_OPEN:
        s->no_open = true;
        return 0;
    case OPTION_DETAIL:
        s->options.detail =
            (size_t)option_size("--detail", argument, 0, MAX_DETAIL, "a number of bytes up to 1G, such as 500K or 32M");
        return 0;
    case OPTION_SOURCE:
        s->options.sources = true;
        return 0;
    case OPTION_LIVE:
        s->options.live = true;
        return 0;
    case OPTION_PORT:
        s->port = option_number("--port", argument);
        if (s->port < 1 || s->port > UINT16_MAX)
            die(STATUS_ERROR, "--port: must be from 1 to 65535");
        return 0;
    case ARGP_KEY_ARG:
        if (s->count == MAX_SESSIONS)
            die(STATUS_ERROR, "a page compares two sessions at most; leave out '%s'", argument);
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

/* Ends the program if the page would replace a file that is not a page. */
static void view_check_output(const struct view_settings *s)
{
    for (size_t i = 0; i < s->count; i++)
        output_spare(s->shared.output, s->files[i]);
    struct stat status;
    if (stat(s->shared.output, &status) == 0 && S_ISDIR(status.st_mode))
        die(STATUS_ERROR, "%s: is a directory", s->shared.output);
    FILE *there = s->force || view_is_special_file(s->shared.output) ? NULL : fopen(s->shared.output, "r");
    if (!there)
        return;
    if (!page_is_ours(there))
        die(STATUS_ERROR, "%s: is not a page of dwell; give another name with -o, or replace it with --force",
            s->shared.output);
    fclose(there);
}

static int view_write_page(const char *path, const struct view_session *const *sessions, size_t count)
{
    FILE *out = output_open(path);
    page_write(sessions, count, out);
    return output_close(path, out);
}

/* ---- sessions ---- */

struct view_session *view_load(const char *file, const struct analysis_options *load,
                               const struct view_options *options, bool quiet, bool *ended, struct error *error)
{
    struct analysis loaded, lines;
    struct analysis_options with_limits = *load, with_lines = *load;
    with_limits.limits = with_lines.timed_only = true;
    with_lines.lines = LINES_NEEDED;
    if (!analysis_load(&loaded, file, &with_limits, error))
        return NULL;
    const bool has_lines = loaded.file->header.also & DWELL_ALSO_CALL_SITES;
    if (has_lines && !analysis_load(&lines, file, &with_lines, error)) {
        analysis_drop(&loaded);
        return NULL;
    }
    for (size_t i = 0; i < loaded.summary.loss_count && !quiet; i++)
        say("%s: %s", file, loaded.summary.remarks[i]);
    *ended = loaded.file->header.state == DWELL_COMPLETE;
    struct packed waits;
    const bool has_waits = (*ended || !options->live) && page_waits_make(&loaded, options->detail, &waits);
    struct view_session *view =
        view_session_new(&loaded, has_lines ? &lines : NULL, has_waits ? &waits : NULL, options, error);
    if (has_lines)
        analysis_drop(&lines);
    analysis_drop(&loaded);
    return view;
}

static void view_show(const struct view_settings *s)
{
    struct stat status;
    if (stat(s->shared.output, &status) < 0 || !S_ISREG(status.st_mode))
        return;
    const double size = (double)status.st_size;
    print_text(stdout, "%s: %.*f %s\n", s->shared.output, size < 1e6 ? 0 : 1, size < 1e6 ? size / 1e3 : size / 1e6,
               size < 1e6 ? "kB" : "MB");
    if (s->no_open || !browser_is_wanted())
        return;
    if (!browser_open(s->shared.output))
        say("%s: found no browser to open it; set BROWSER", s->shared.output);
}

static int view_serve(const struct view_settings *s)
{
    if (s->shared.output || s->force)
        die(STATUS_ERROR, "--live writes no file: leave out %s", s->shared.output ? "--output" : "--force");
    if (s->count > 1)
        die(STATUS_ERROR, "--live shows one session at a time; leave out '%s'", s->files[1]);
    return view_live(
        &(struct live_settings){ s->files[0], &s->shared.load, s->options, (uint16_t)s->port, s->no_open });
}

static int view_write_sessions(const struct view_settings *s)
{
    struct view_session *sessions[MAX_SESSIONS];
    struct error error = { NULL };
    bool ended;
    view_check_output(s);
    for (size_t i = 0; i < s->count; i++)
        if (!(sessions[i] = view_load(s->files[i], &s->shared.load, &s->options, false, &ended, &error)))
            die_of(&error);
    if (!call_filters_check(&s->shared.load.selection.filters, s->count > 1 ? "both sessions" : s->files[0], &error))
        die_of(&error);
    const int status = view_write_page(s->shared.output, (const struct view_session *const *)sessions, s->count);
    for (size_t i = 0; i < s->count; i++)
        view_session_free(sessions[i]);
    if (status != STATUS_OK)
        return status;
    view_show(s);
    return finish_output();
}

static const struct command_line line = {
    .name = "view",
    .daily = "output no-open live port source from to thread root",
    .arguments = "[FILE [FILE]]",
    .text = "Writes a session (default: dwell.data) as a page for a browser, and opens it. A page of two sessions "
            "compares them.\v"
            "The page is one file that holds everything and needs no network.\n\nExamples:\n"
            "  dwell view\n"
            "  dwell view --no-open -o run.html run.data\n"
            "  dwell view before.data after.data\n"
            "  dwell view --live",
    .options = options,
    .parse = view_parse_option,
    .shared = shared,
};

int command_view(int argc, char **argv)
{
    struct view_settings s = { .options = { .detail = USUAL_DETAIL } };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    if (s.port && !s.options.live)
        die(STATUS_ERROR, "--port: only with --live");
    if (s.count == 0)
        s.files[s.count++] = DEFAULT_SESSION;
    s.shared.load.selection.filters.several = true; /* a program that runs can still call the function */
    if (s.options.live)
        return view_serve(&s);
    if (!s.shared.output)
        s.shared.output = DEFAULT_PAGE;
    const int status = view_write_sessions(&s);
    shared_options_drop(&s.shared);
    return status;
}
