/* Standard output if it is a terminal: starts its pager, and finds its colours and its size. */
#include "base/terminal.h"

#include <ctype.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_environment.h"

/* Standard output has one pager for the whole program. */
static pid_t pager;                      /* zero if there is none */
static struct winsize size_behind_pager; /* of the terminal */
static bool pager_allowed, pager_refused;
static enum terminal_colors colors;

static struct winsize terminal_query_size(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size : (struct winsize){ 0 };
}

static const char *terminal_choose_pager(void)
{
    const char *chosen = getenv("DWELL_PAGER");
    if (!chosen)
        chosen = getenv("PAGER");
    return chosen ? chosen : "if command -v less >/dev/null 2>&1; then exec less; else exec cat; fi";
}

static void terminal_end_pager(void)
{
    fflush(stdout);
    close(STDOUT_FILENO);
    while (waitpid(pager, NULL, 0) < 0)
        continue;
}

static void terminal_run_pager(const char *command, const struct child_environment *environment, const int ends[2])
{
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    execle("/bin/sh", "sh", "-c", command, (char *)NULL, environment->list);
    _exit(127);
}

void terminal_allow_pager(void)
{
    pager_allowed = true;
}

void terminal_refuse_pager(void)
{
    pager_refused = true;
}

void terminal_choose_colors(enum terminal_colors when)
{
    colors = when;
}

void terminal_page(void)
{
    if (pager || !pager_allowed || pager_refused)
        return;
    const char *command = terminal_choose_pager();
    int ends[2];
    if (!isatty(STDOUT_FILENO) || !*command || strcmp(command, "cat") == 0 || pipe(ends) < 0)
        return;
    size_behind_pager = terminal_query_size(STDOUT_FILENO);
    fflush(stdout);
    struct child_environment environment = child_environment_copy();
    /* Less ends by itself if all fits on one screen, shows colours, and leaves the text on the screen. */
    if (!getenv("LESS"))
        child_environment_set(&environment, "LESS", "FRX");
    pager = fork();
    if (pager == 0)
        terminal_run_pager(command, &environment, ends);
    child_environment_drop(&environment);
    if (pager > 0) {
        dup2(ends[1], STDOUT_FILENO);
        signal(SIGPIPE, SIG_IGN); /* it is not a failure if the user leaves the pager early */
        atexit(terminal_end_pager);
    }
    close(ends[0]);
    close(ends[1]);
}

bool terminal_is_paged(void)
{
    return pager > 0;
}

bool terminal_is_seen(FILE *out)
{
    return isatty(fileno(out)) || (pager > 0 && out == stdout);
}

bool terminal_has_colors(FILE *out)
{
    if (colors != COLORS_AUTO)
        return colors == COLORS_ALWAYS;
    const char *off = getenv("NO_COLOR"), *kind = getenv("TERM");
    return terminal_is_seen(out) && !(off && *off) && !(kind && strcmp(kind, "dumb") == 0);
}

static struct winsize terminal_size(FILE *out)
{
    if (pager > 0 && out == stdout)
        return size_behind_pager;
    return isatty(fileno(out)) ? terminal_query_size(fileno(out)) : (struct winsize){ 0 };
}

/* The width that the user wants of output that is no terminal, as $COLUMNS says; zero for any. */
static unsigned terminal_wanted_width(void)
{
    const char *text = getenv("COLUMNS");
    char *end;
    const unsigned long width = text && isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
    return width && !*end && width <= USHRT_MAX ? (unsigned)width : 0;
}

unsigned terminal_width(FILE *out)
{
    const unsigned width = terminal_size(out).ws_col;
    return width || out != stdout || terminal_is_seen(out) ? width : terminal_wanted_width();
}

unsigned terminal_height(FILE *out)
{
    return terminal_size(out).ws_row;
}
