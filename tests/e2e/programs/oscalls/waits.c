/* The part of `every` that calls libc's functions that wait. */
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "every.h"

extern char **environ;

static const struct timespec moment = { 0, 1000 };

static void connecting(void)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    socklen_t size = sizeof address;
    int server = (int)CALL(socket, AF_UNIX, SOCK_STREAM, 0);
    CALL(bind, server, (struct sockaddr *)&address,
         offsetof(struct sockaddr_un, sun_path)); /* the kernel chooses a name */
    CALL(listen, server, 4);
    getsockname(server, (struct sockaddr *)&address, &size);
    int client = (int)CALL(socket, AF_UNIX, SOCK_STREAM, 0);
    CALL(connect, client, (struct sockaddr *)&address, size);
    int accepted = (int)CALL(accept, server, NULL, NULL);
    CALL(send, client, "hello", 5, 0);
    char buffer[16];
    CALL(recv, accepted, buffer, sizeof buffer, 0);
    CALL(shutdown, client, SHUT_RDWR);
    CALL(close, accepted);
    CALL(close, client);
    client = (int)CALL(socket, AF_UNIX, SOCK_STREAM, 0);
    CALL(connect, client, (struct sockaddr *)&address, size);
    accepted = (int)CALL(accept4, server, NULL, NULL, SOCK_CLOEXEC);
    CALL(close, accepted);
    CALL(close, client);
    CALL(close, server);
}

static void messages(const int ends[2])
{
    char buffer[16] = "";
    struct iovec part = { buffer, sizeof buffer };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    struct mmsghdr several = { .msg_hdr = message };
    CALL(sendto, ends[0], "to", 2, 0, NULL, 0);
    CALL(recvfrom, ends[1], buffer, sizeof buffer, 0, NULL, NULL);
    CALL(sendmsg, ends[0], &message, 0);
    CALL(recvmsg, ends[1], &message, 0);
    CALL(sendmmsg, ends[0], &several, 1, 0);
    CALL(recvmmsg, ends[1], &several, 1, 0, NULL);
    CALL(recv, ends[1], buffer, sizeof buffer, MSG_DONTWAIT);
}

static void descriptors(int fd)
{
    struct pollfd one = { .fd = fd, .events = POLLIN };
    struct timeval none = { 0, 0 };
    fd_set set;
    FD_ZERO(&set);
    FD_SET(fd, &set);
    CALL(poll, &one, 1, 1);
    CALL(ppoll, &one, 1, &moment, NULL);
    CALL(select, fd + 1, &set, NULL, NULL, &none);
    FD_SET(fd, &set);
    CALL(pselect, fd + 1, &set, NULL, NULL, &moment, NULL);
    struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };
    int epoll = (int)CALL(epoll_create1, 0);
    CALL(epoll_ctl, epoll, EPOLL_CTL_ADD, fd, &event);
    CALL(epoll_wait, epoll, &event, 1, 1);
    CALL(epoll_pwait, epoll, &event, 1, 1, NULL);
    CALL(epoll_pwait2, epoll, &event, 1, &moment, NULL);
    CALL(close, epoll);
    eventfd_t value = 0;
    int counter = eventfd(3, 0);
    CALL(eventfd_write, counter, 4);
    CALL(eventfd_read, counter, &value);
    told("counter", (long)value);
    CALL(close, counter);
}

/* What the system lacks fails, with the runtime and without. */
static void queues(void)
{
    struct mq_attr size = { .mq_maxmsg = 2, .mq_msgsize = 8 };
    struct {
        long type;
        char text[8];
    } message = { 1, "x" };
    char name[64], text[8];
    snprintf(name, sizeof name, "/dwell-every-%d", (int)getpid());
    const mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &size);
    mq_unlink(name);
    CALL(mq_send, queue, "x", 1, 0);
    CALL(mq_timedsend, queue, "x", 1, 0, &moment);
    CALL(mq_receive, queue, text, sizeof text, NULL);
    CALL(mq_timedreceive, queue, text, sizeof text, NULL, &moment);
    mq_close(queue);
    const int of_system = msgget(IPC_PRIVATE, 0600);
    CALL(msgsnd, of_system, &message, sizeof message.text, IPC_NOWAIT);
    CALL(msgrcv, of_system, &message, sizeof message.text, 0, IPC_NOWAIT);
    msgctl(of_system, IPC_RMID, NULL);
    const int set = semget(IPC_PRIVATE, 1, 0600);
    CALL(semop, set, &(struct sembuf){ .sem_op = 1 }, 1);
    CALL(semtimedop, set, &(struct sembuf){ .sem_op = -1 }, 1, &moment);
    semctl(set, 0, IPC_RMID);
}

void on_sockets(void)
{
    int ends[2];
    connecting();
    CALL(socketpair, AF_UNIX, SOCK_DGRAM, 0, ends);
    messages(ends);
    descriptors(ends[0]);
    queues();
    CALL(close, ends[0]);
    CALL(close, ends[1]);
}

void sleeping(void)
{
    CALL(sleep, 0);
    CALL(usleep, 1);
    CALL(nanosleep, &moment, NULL);
    CALL(nanosleep, NULL, NULL);
    CALL(clock_nanosleep, CLOCK_MONOTONIC, 0, &moment, NULL);
    CALL(thrd_sleep, &moment, NULL);
    CALL(sched_yield);
    SILENT(thrd_yield);
}

static volatile sig_atomic_t handled;

static NOT_INSTRUMENTED void handler(int number)
{
    (void)number;
    handled++;
}

void waiting_for_signals(void)
{
    sigset_t set, before, all_but;
    siginfo_t info;
    int number = 0;
    signal(SIGUSR1, handler);
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    raise(SIGUSR1);
    CALL(sigwait, &set, &number);
    raise(SIGUSR1);
    CALL(sigwaitinfo, &set, &info);
    CALL(sigtimedwait, &set, &info, &moment);
    raise(SIGUSR1);
    sigfillset(&all_but);
    sigdelset(&all_but, SIGUSR1);
    CALL(sigsuspend, &all_but);
    sigprocmask(SIG_SETMASK, &before, NULL);
    told("handled", handled);
    CALL(kill, getpid(), 0);
    CALL(tgkill, getpid(), gettid(), SIGUSR1);
    CALL(sigqueue, getpid(), 0, (union sigval){ 0 });
    CALL(pthread_kill, pthread_self(), 0);
    CALL(pthread_sigqueue, pthread_self(), 0, (union sigval){ 0 });
    told("handled", handled);
    /* If a signal comes before the pause, others follow. */
    signal(SIGALRM, handler);
    const struct itimerval often = { { 0, 20000 }, { 0, 20000 } }, never = { { 0, 0 }, { 0, 0 } };
    setitimer(ITIMER_REAL, &often, NULL);
    CALL(pause);
    setitimer(ITIMER_REAL, &never, NULL);
    handled = 0;
}

void with_processes(void)
{
    char *const arguments[] = { "sh", "-c", "exit 3", NULL };
    struct rusage usage;
    siginfo_t info;
    int status = 0;
    pid_t pid;
    for (int i = 0; i < 5; i++) {
        if (i % 2)
            CALL(posix_spawn, &pid, "/bin/sh", NULL, NULL, arguments, environ);
        else
            CALL(posix_spawnp, &pid, "sh", NULL, NULL, arguments, environ);
        if (i == 0)
            told("right child", SILENT(wait, &status) == pid);
        else if (i == 1)
            told("right child", SILENT(waitpid, pid, &status, 0) == pid);
        else if (i == 2)
            told("right child", SILENT(wait3, &status, 0, &usage) == pid);
        else if (i == 3)
            told("right child", SILENT(wait4, pid, &status, 0, &usage) == pid);
        else
            CALL(waitid, P_PID, (id_t)pid, &info, WEXITED);
        told("status", status);
        status = 0;
    }
    CALL(waitpid, -1, &status, 0);
    CALL(posix_spawn, &pid, "/no/such/program", NULL, NULL, arguments, environ);
    CALL(system, "exit 4");
}
