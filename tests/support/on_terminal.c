/* Runs programs on a pseudo-terminal, and puts one in place of stderr. */
#include "support/on_terminal.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "support/scenario.h"

static void __attribute__((noreturn)) terminal_run_shell(const char *command, const char *folder)
{
    setenv("DWELL", DWELL_EXE, 1);
    setenv("XDG_CONFIG_HOME", "/proc/none", 1);
    setenv("RUNTIME", DWELL_RUNTIME, 1);
    setenv("SAMPLES", DWELL_SAMPLES, 1);
    setenv("PROGRAMS", DWELL_PROGRAMS, 1);
    setenv("TERM", "xterm", 1);
    if (chdir(folder) < 0)
        _exit(99);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(99);
}

/* Reads until no process has the other side open. */
static char *terminal_read(int fd)
{
    size_t length = 0, room = 4096;
    char *text = malloc(room);
    for (;;) {
        const ssize_t got = read(fd, text + length, room - length - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        length += (size_t)got;
        if (room - length < 2)
            text = realloc(text, room *= 2);
    }
    text[length] = '\0';
    return text;
}

struct ran run_on_terminal(unsigned columns, const char *format, ...)
{
    char *command = NULL;
    va_list arguments;
    va_start(arguments, format);
    cr_assert(ge(int, vasprintf(&command, format, arguments), 0));
    va_end(arguments);
    const char *folder = test_folder();
    const struct winsize size = { .ws_row = 24, .ws_col = (unsigned short)columns };
    int fd;
    const pid_t pid = forkpty(&fd, NULL, NULL, &size);
    cr_assert(ge(int, pid, 0));
    if (pid == 0)
        terminal_run_shell(command, folder);
    struct ran r = { .out = terminal_read(fd), .err = calloc(1, 1) };
    int status;
    while (waitpid(pid, &status, 0) < 0)
        cr_assert(eq(int, errno, EINTR));
    close(fd);
    free(command);
    r.status = WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
    return r;
}

struct terminal {
    int fd, before;
};

struct terminal *terminal_for_errors(unsigned columns)
{
    const struct winsize size = { .ws_row = 24, .ws_col = (unsigned short)columns };
    struct terminal *t = malloc(sizeof *t);
    int other;
    cr_assert(eq(int, openpty(&t->fd, &other, NULL, NULL, &size), 0));
    cr_assert(eq(int, fcntl(t->fd, F_SETFL, O_NONBLOCK), 0));
    t->before = dup(STDERR_FILENO);
    cr_assert(eq(int, dup2(other, STDERR_FILENO), STDERR_FILENO));
    close(other);
    return t;
}

/* Bytes that were written to the other side can be read at once. */
char *terminal_take(struct terminal *t)
{
    return terminal_read(t->fd);
}

void terminal_drop(struct terminal *t)
{
    dup2(t->before, STDERR_FILENO);
    close(t->before);
    close(t->fd);
    free(t);
}
