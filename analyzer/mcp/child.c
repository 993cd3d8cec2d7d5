/* Starts a command of dwell in a process of its own, without a shell, so that nothing that it does ends the server. */
#include "mcp/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/source_file.h"
#include "base/child_environment.h"
#include "base/exit_status.h"
#include "base/memory.h"
#include "trace/recorded_values.h"

enum { MOST_OUTPUT = 4 << 20, PIECE = 64 << 10 };

/* ---- output ---- */

/* Keeps a piece, or counts its lines. */
static void output_add(struct mcp_output *o, const char *piece, size_t length)
{
    const size_t left = MOST_OUTPUT - o->length, kept = length < left ? length : left;
    GROW_BY(o->text, o->length, kept + 1, o->room);
    for (size_t i = 0; i < kept; i++)
        o->text[o->length++] = piece[i] ? piece[i] : ' ';
    o->text[o->length] = '\0';
    for (size_t i = kept; i < length; i++)
        o->lines_left_out += piece[i] == '\n';
}

static void output_close(struct mcp_output *o)
{
    if (o->fd >= 0)
        close(o->fd);
    o->fd = -1;
}

void mcp_child_read(struct mcp_output *o)
{
    static char piece[PIECE];
    const ssize_t length = read(o->fd, piece, sizeof piece);
    if (length > 0)
        output_add(o, piece, (size_t)length);
    else if (length == 0 || (errno != EAGAIN && errno != EINTR))
        output_close(o);
}

/* Takes what is there. Processes that the command has left behind may write for ever. */
static void output_take_rest(struct mcp_output *o)
{
    enum { MOST_PIECES = 64 };
    size_t before = (size_t)-1;
    for (int i = 0; i < MOST_PIECES && o->fd >= 0 && o->length != before; i++) {
        before = o->length;
        mcp_child_read(o);
    }
    output_close(o);
}

/* ---- the process ---- */

/* The variables of a view: its text has all characters, and it asks no server. */
static struct child_environment child_environment_of(const struct mcp_child *c, const char *source_folders)
{
    struct child_environment e = child_environment_copy();
    if (c->runs_program)
        return e;
    child_environment_set(&e, RECORDED_VALUES_WITHHELD, c->with_values ? "" : "1");
    child_environment_set(&e, SOURCE_FOLDERS, source_folders);
    child_environment_set(&e, "LC_ALL", "C.UTF-8");
    child_environment_set(&e, "DEBUGINFOD_URLS", "");
    return e;
}

/* What the child does before it becomes the command. */
static void child_run(char **words, const char *folder, bool runs_program, const int out[2], const int err[2],
                      pid_t server, char **environment) __attribute__((noreturn));
static void child_run(char **words, const char *folder, bool runs_program, const int out[2], const int err[2],
                      pid_t server, char **environment)
{
    sigset_t none;
    const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, runs_program ? SIGTERM : SIGKILL);
    if (getppid() != server)
        _exit(STATUS_OWN_FAILURE);
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (nothing >= 0 && dup2(nothing, STDIN_FILENO) >= 0 && dup2(out[1], STDOUT_FILENO) >= 0 &&
        dup2(err[1], STDERR_FILENO) >= 0 && chdir(folder) == 0)
        execve("/proc/self/exe", words, environment);
    dprintf(err[1], "dwell: %s: %s\n", folder, strerror(errno));
    _exit(STATUS_OWN_FAILURE);
}

static void child_close_pipe(int pipe[2])
{
    for (int i = 0; i < 2; i++)
        if (pipe[i] >= 0)
            close(pipe[i]);
}

bool mcp_child_start(struct mcp_child *c, char **words, const char *folder, const char *source_folders,
                     struct error *error)
{
    int out[2] = { -1, -1 }, err[2] = { -1, -1 };
    const pid_t server = getpid();
    *c = (struct mcp_child){
        .pid = -1, .runs_program = c->runs_program, .with_values = c->with_values, .out.fd = -1, .err.fd = -1
    };
    output_add(&c->out, "", 0);
    output_add(&c->err, "", 0);
    if (pipe2(out, O_CLOEXEC) == 0 && pipe2(err, O_CLOEXEC) == 0) {
        struct child_environment e = child_environment_of(c, source_folders);
        c->pid = fork();
        if (c->pid == 0)
            child_run(words, folder, c->runs_program, out, err, server, e.list);
        child_environment_drop(&e);
    }
    if (c->pid < 0) {
        error_set(error, "%s: it could not be started: %s", words[1], strerror(errno));
        child_close_pipe(out);
        child_close_pipe(err);
        mcp_child_drop(c);
        return false;
    }
    setpgid(c->pid, c->pid);
    close(out[1]);
    close(err[1]);
    c->out.fd = out[0];
    c->err.fd = err[0];
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    fcntl(err[0], F_SETFL, O_NONBLOCK);
    return true;
}

bool mcp_child_has_ended(struct mcp_child *c)
{
    const pid_t ended = waitpid(c->pid, &c->status, WNOHANG);
    if (ended == 0 || (ended < 0 && errno == EINTR))
        return false;
    output_take_rest(&c->out);
    output_take_rest(&c->err);
    return true;
}

void mcp_child_end(const struct mcp_child *c, bool softly)
{
    kill(-c->pid, softly ? SIGTERM : SIGKILL);
}

void mcp_child_drop(struct mcp_child *c)
{
    output_close(&c->out);
    output_close(&c->err);
    free(c->out.text);
    free(c->err.text);
    c->out.text = c->err.text = NULL;
}
