/* cut HOW [SESSION]: works, truncates or overwrites its own session, and works on in every way in which stores may
 * fault: in threads, in children, in a thread with a tiny stack, with all signals blocked, and in a handler that blocks
 * all signals. */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "work.h"

enum { STEPS = 200000, TINY_STACK = 24 << 10 };

static BARE void cut_overwrite(const char *session, const char *with, long bytes)
{
    static char piece[1 << 16];
    int from = open(with, O_RDONLY), to = open(session, O_WRONLY | O_TRUNC);
    need(from >= 0 && to >= 0, "open");
    for (long got; bytes > 0 && (got = read(from, piece, sizeof piece)) > 0; bytes -= got)
        need(write(to, piece, (size_t)got) == got, "write");
    close(from);
    close(to);
}

static BARE void cut_session(const char *how, const char *session)
{
    if (strcmp(how, "empty") == 0)
        need(truncate(session, 0) == 0, "truncate");
    else if (strcmp(how, "header") == 0)
        need(truncate(session, 4096) == 0, "truncate");
    else if (strcmp(how, "grown") == 0) { /* as when another thread makes it longer at the same moment */
        struct stat status;
        need(stat(session, &status) == 0 && truncate(session, 4096) == 0 && truncate(session, status.st_size) == 0,
             "truncate");
    } else if (strcmp(how, "middle") == 0)
        need(truncate(session, 300000) == 0, "truncate");
    else if (strcmp(how, "text") == 0)
        cut_overwrite(session, "/proc/self/maps", LONG_MAX);
    else if (strcmp(how, "program") == 0)
        cut_overwrite(session, "/proc/self/exe", LONG_MAX);
    else if (strcmp(how, "random") == 0)
        cut_overwrite(session, "/dev/urandom", 4 << 20);
    else if (strcmp(how, "earlier") == 0) /* a copy of this session */
        cut_overwrite(session, "copy", LONG_MAX);
}

static volatile sig_atomic_t ticks;

static void tick(int number)
{
    (void)number;
    step(1);
    ticks++;
}

static BARE void cut_work_in_handlers(void)
{
    struct sigaction action = { .sa_handler = tick };
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 100; i++)
        raise(SIGALRM);
    signal(SIGALRM, SIG_DFL);
}

static BARE void cut_work_blocked(void)
{
    sigset_t all, before, now;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    work(STEPS);
    run_thread(1000);
    sigprocmask(SIG_SETMASK, &before, &now);
    printf("blocked %d, before %d\n", sigismember(&now, SIGBUS), sigismember(&before, SIGBUS));
}

static BARE void cut_work_in_tiny_thread(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    need(pthread_attr_setstacksize(&attributes, TINY_STACK) == 0, "stack");
    need(pthread_create(&thread, &attributes, worker, (void *)(long)STEPS) == 0, "pthread_create");
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    begin();
    pthread_t thread;
    work(STEPS);
    need(pthread_create(&thread, NULL, worker, (void *)(3l * STEPS)) == 0, "pthread_create");
    if (argc > 2 && strcmp(argv[1], "earlier") == 0) {
        char command[4096];
        snprintf(command, sizeof command, "cp '%s' copy", argv[2]);
        need(system(command) == 0, "cp");
    }
    work(STEPS);
    if (argc > 2)
        cut_session(argv[1], argv[2]);
    work(STEPS);
    dive(10000);
    cut_work_in_handlers();
    cut_work_blocked();
    cut_work_in_tiny_thread();
    run_thread(STEPS);
    run_child(STEPS);
    pthread_join(thread, NULL);
    tell_counts();
    return 3;
}
