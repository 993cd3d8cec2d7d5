/* descriptors WHAT: waits for descriptors whose names, numbers and causes are known. Each wait begins well before what
 * ends it. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "resting.h"

enum { ROUNDS = 3, BIG = 1 << 16 };

static int in, out; /* the ends of what the program waits for */

UNSEEN static void must(int ok)
{
    if (!ok)
        abort();
}

static void give(void)
{
    must(write(out, "12345678", 8) == 8);
}

static void *give_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        give();
    }
    return unused;
}

static void take(void)
{
    char text[8];
    must(read(in, text, sizeof text) == sizeof text);
}

static void fill(void)
{
    static char text[BIG];
    must(write(out, text, sizeof text) == BIG);
}

static void drain(void)
{
    static char text[BIG];
    for (int left = BIG; left > 0;)
        left -= (int)read(in, text, (size_t)left);
}

static void *drain_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        drain();
    }
    return unused;
}

static void hang_up(void)
{
    must(close(out) == 0);
}

static void *hang_up_late(void *unused)
{
    rest();
    hang_up();
    return unused;
}

static void await_end(void)
{
    char text[8];
    must(read(in, text, sizeof text) == 0);
}

static void take_by_poll(void)
{
    struct pollfd fds[] = { { .fd = 0, .events = 0 }, { .fd = in, .events = POLLIN } };
    must(poll(fds, 2, -1) == 1);
    take();
}

static void take_by_select(void)
{
    fd_set fds;
    FD_ZERO(&fds);
    FD_SET(in, &fds);
    must(select(in + 1, &fds, NULL, NULL, NULL) == 1);
    take();
}

static int epoll;

static void take_by_epoll(void)
{
    struct epoll_event event;
    must(epoll_wait(epoll, &event, 1, -1) == 1);
    take();
}

static void take_line(void)
{
    static FILE *stream;
    char text[16];
    stream = stream ? stream : fdopen(in, "r");
    must(fgets(text, sizeof text, stream) != NULL);
}

static void *give_lines(void *unused)
{
    FILE *stream = fdopen(out, "w");
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        fputs("line\n", stream);
        fflush(stream);
    }
    return unused;
}

/* Runs `other` on a thread of its own, and `own` as often as said. */
UNSEEN static void run_both(void *(*other)(void *), void (*own)(void), int rounds)
{
    pthread_t thread;
    pthread_create(&thread, NULL, other, NULL);
    pthread_setname_np(thread, "other");
    for (int i = 0; i < rounds; i++)
        own();
    pthread_join(thread, NULL);
}

UNSEEN static void make_pipe(void)
{
    int ends[2];
    must(pipe(ends) == 0);
    in = ends[0];
    out = ends[1];
}

UNSEEN static void make_pair(void)
{
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    in = ends[0];
    out = ends[1];
}

UNSEEN static void make_fifo(void)
{
    unlink("fifo");
    must(mkfifo("fifo", 0600) == 0);
    in = open("fifo", O_RDWR);
    out = open("fifo", O_WRONLY);
}

static struct sockaddr_in address = { .sin_family = AF_INET };
static int listener;

UNSEEN static void make_listener(void)
{
    socklen_t size = sizeof address;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    must(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 1) == 0);
    must(getsockname(listener, (struct sockaddr *)&address, &size) == 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

static void call_in(void)
{
    out = socket(AF_INET, SOCK_STREAM, 0);
    must(connect(out, (struct sockaddr *)&address, sizeof address) == 0);
}

static void *call_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        call_in();
    }
    return unused;
}

static void answer(void)
{
    in = accept(listener, NULL, NULL);
    must(in >= 0);
}

UNSEEN static void make_connection(void)
{
    make_listener();
    out = socket(AF_INET, SOCK_STREAM, 0);
    must(connect(out, (struct sockaddr *)&address, sizeof address) == 0);
    in = accept(listener, NULL, NULL);
    must(in >= 0);
}

static void send_datagram(void)
{
    must(sendto(out, "12345678", 8, 0, (struct sockaddr *)&address, sizeof address) == 8);
}

static void *send_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        send_datagram();
    }
    return unused;
}

UNSEEN static void make_datagram(void)
{
    socklen_t size = sizeof address;
    in = socket(AF_INET, SOCK_DGRAM, 0);
    out = socket(AF_INET, SOCK_DGRAM, 0);
    must(bind(in, (struct sockaddr *)&address, sizeof address) == 0);
    must(getsockname(in, (struct sockaddr *)&address, &size) == 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

UNSEEN static void make_timer(void)
{
    in = timerfd_create(CLOCK_MONOTONIC, 0);
}

/* Only when the other thread waits: on a busy machine, the timer might be up before. */
static void *set_often(void *unused)
{
    const struct itimerspec soon = { .it_value.tv_nsec = MS };
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        timerfd_settime(in, 0, &soon, NULL);
    }
    return unused;
}

UNSEEN static void make_epoll(void)
{
    struct epoll_event event = { EPOLLIN, { .ptr = &epoll } };
    make_pipe();
    epoll = epoll_create1(0);
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, in, &event) == 0);
}

/* The parent asks, and the child answers. */
static void reply(void)
{
    rest();
    give();
}

UNSEEN static void run_child(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        for (int i = 0; i < ROUNDS; i++)
            reply();
        _exit(0);
    }
    for (int i = 0; i < ROUNDS; i++)
        take();
    waitpid(pid, NULL, 0);
}

static void sleep_in_poll(void)
{
    poll(NULL, 0, 10);
}

/* The number that a closed pipe had belongs to another one. */
static void take_from_new_pipe(void)
{
    static int rounds;
    take();
    if (++rounds == ROUNDS)
        return;
    const int ends[] = { in, out };
    close(in);
    close(out);
    make_pipe();
    must(in == ends[0] && out == ends[1]);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *what;
        void (*make)(void);
        void *(*other)(void *);
        void (*own)(void);
        int rounds;
    } list[] = {
        { "pipe", make_pipe, give_often, take, ROUNDS },
        { "full", make_pipe, drain_often, fill, ROUNDS + 1 },
        { "end", make_pipe, hang_up_late, await_end, 1 },
        { "again", make_pipe, give_often, take_from_new_pipe, ROUNDS },
        { "fifo", make_fifo, give_often, take, ROUNDS },
        { "stream", make_pipe, give_lines, take_line, ROUNDS },
        { "pair", make_pair, give_often, take, ROUNDS },
        { "accept", make_listener, call_often, answer, ROUNDS },
        { "connection", make_connection, give_often, take, ROUNDS },
        { "datagram", make_datagram, send_often, take, ROUNDS },
        { "poll", make_pipe, give_often, take_by_poll, ROUNDS },
        { "select", make_pipe, give_often, take_by_select, ROUNDS },
        { "epoll", make_epoll, give_often, take_by_epoll, ROUNDS },
        { "timer", make_timer, set_often, take, ROUNDS },
    };
    const char *what = argc > 1 ? argv[1] : "";
    for (size_t i = 0; i < sizeof list / sizeof *list; i++)
        if (strcmp(what, list[i].what) == 0) {
            list[i].make();
            run_both(list[i].other, list[i].own, list[i].rounds);
            return 0;
        }
    if (strcmp(what, "child") == 0) {
        make_pipe();
        run_child();
    } else if (strcmp(what, "eventfd") == 0) {
        in = out = eventfd(0, 0);
        run_both(give_often, take, ROUNDS);
    } else if (strcmp(what, "timeout") == 0) {
        for (int i = 0; i < ROUNDS; i++)
            sleep_in_poll();
    } else {
        return 1;
    }
    return 0;
}
