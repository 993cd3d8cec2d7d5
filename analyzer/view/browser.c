/* Runs $BROWSER or xdg-open as a detached process. */
#include "view/browser.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupted.h"

/* Returns NULL if the variable is not set or empty. */
static const char *browser_setting(const char *variable)
{
    const char *value = getenv(variable);
    return value && *value ? value : NULL;
}

bool browser_is_wanted(void)
{
    return isatty(STDOUT_FILENO) && (browser_setting("DISPLAY") || browser_setting("WAYLAND_DISPLAY"));
}

static void browser_try_command(const char *command, const char *url)
{
    execlp(command, command, url, (char *)NULL);
}

/* Runs in the child process. Executes the first command that exists; returns if there is none. */
static void browser_exec_command(const char *url)
{
    const int null = open("/dev/null", O_RDWR);
    const char *wanted = browser_setting("BROWSER");
    sigset_t none;
    setsid();
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int fd = 0; null >= 0 && fd <= STDERR_FILENO; fd++)
        dup2(null, fd);
    char *commands = wanted ? strdup(wanted) : NULL;
    for (char *next, *command = commands; command; command = next) {
        next = strchr(command, ':');
        if (next)
            *next++ = '\0';
        if (*command)
            browser_try_command(command, url);
    }
    browser_try_command("xdg-open", url);
}

/* A successful exec closes the pipe. A byte in the pipe means that no command could be executed. */
bool browser_open(const char *url)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) < 0)
        return false;
    const pid_t child = fork();
    if (child == 0) {
        if (fork() == 0) { /* init reaps the grandchild */
            browser_exec_command(url);
            const char failed = 1;
            (void)!write(report[1], &failed, 1);
        }
        _exit(0);
    }
    close(report[1]);
    char failed;
    ssize_t length = 0;
    if (child > 0) {
        waitpid(child, NULL, 0);
        struct interruptions interruptions = { 0 };
        do
            length = read(report[0], &failed, 1);
        while (length < 0 && interrupted(&interruptions));
    }
    close(report[0]);
    return child > 0 && length == 0;
}

bool browser_open_secret(const char *url, char **file)
{
    static const char ending[] = ".html";
    const char *runtime = browser_setting("XDG_RUNTIME_DIR"), *folder = runtime ? runtime : "/tmp";
    *file = NULL;
    if (asprintf(file, "%s/dwell-XXXXXX%s", folder, ending) < 0)
        return false;
    const int fd = mkstemps(*file, (int)strlen(ending)); /* mode 0600 */
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out) {
        free(*file);
        *file = NULL;
        return false;
    }
    fprintf(out,
            "<!doctype html><meta charset=\"utf-8\"><title>dwell</title>"
            "<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n",
            url);
    return fclose(out) == 0 && browser_open(*file);
}
