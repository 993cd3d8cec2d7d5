/*
 * server WORKERS REQUESTS: a server that forks its workers before requests come. Two clients make the requests, each
 * over a connection of its own. At the end, each worker gets one that ends it. An answer takes some thousand calls of
 * small functions. The numbers of requests and calls are the same in each run.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define BARE __attribute__((no_instrument_function))
#define KEPT __attribute__((noinline))

enum { CLIENTS = 2, WORDS = 2000, ROOM = 16384 };

struct answer {
    char text[ROOM];
    unsigned used;
    unsigned sum;
};

static BARE void need(int holds, const char *what)
{
    if (!holds) {
        perror(what);
        _exit(1);
    }
}

/* ---- the server ---- */

static KEPT void put(struct answer *a, char c)
{
    if (a->used < ROOM)
        a->text[a->used++] = c;
}

static KEPT void put_escaped(struct answer *a, char c)
{
    if (c == '<' || c == '&') {
        put(a, '&');
        put(a, '#');
    }
    put(a, c);
}

static KEPT unsigned mix(unsigned sum, unsigned with)
{
    return (sum ^ with) * 16777619u;
}

static KEPT void put_word(struct answer *a, unsigned number)
{
    for (unsigned left = number | 64; left; left /= 8)
        put_escaped(a, (char)('0' + left % 16));
    a->sum = mix(a->sum, number);
}

static KEPT void render(struct answer *a, unsigned page)
{
    for (unsigned i = 0; i < WORDS; i++)
        put_word(a, mix(page, i) % 4096);
    put(a, '\n');
}

static KEPT unsigned parse(const char *request)
{
    return (unsigned)strtoul(request, NULL, 10);
}

static KEPT void respond(int connection, const struct answer *a)
{
    need(write(connection, a->text, a->used) == (ssize_t)a->used, "write");
}

/* Returns zero if the request ends the worker. */
static KEPT int serve(int connection)
{
    char request[32] = "";
    struct answer a = { .sum = 2166136261u };
    need(read(connection, request, sizeof request - 1) > 0, "read");
    if (request[0] == 'q')
        return 0;
    render(&a, parse(request));
    respond(connection, &a);
    return 1;
}

static KEPT void work(int listener)
{
    for (int more = 1; more;) {
        const int connection = accept(listener, NULL, NULL);
        need(connection >= 0, "accept");
        more = serve(connection);
        close(connection);
    }
}

/* ---- its client ---- */

static KEPT unsigned ask(const struct sockaddr_in *address, const char *request)
{
    static char answer[ROOM];
    const int connection = socket(AF_INET, SOCK_STREAM, 0);
    unsigned got = 0;
    need(connect(connection, (const struct sockaddr *)address, sizeof *address) == 0, "connect");
    need(write(connection, request, strlen(request)) > 0, "write");
    for (ssize_t part; (part = read(connection, answer, sizeof answer)) > 0;)
        got += (unsigned)part;
    close(connection);
    return got;
}

static KEPT void request_all(const struct sockaddr_in *address, int requests)
{
    char request[32];
    for (int i = 0; i < requests; i++) {
        snprintf(request, sizeof request, "%d", i);
        need(ask(address, request) > WORDS, "an answer");
    }
}

static KEPT void wait_for(int children)
{
    for (int i = 0, status; i < children; i++)
        need(wait(&status) > 0 && status == 0, "wait");
}

int main(int argc, char **argv)
{
    const int workers = argc > 1 ? atoi(argv[1]) : 4, requests = argc > 2 ? atoi(argv[2]) : 10000;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    need(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 64) == 0, "listen");
    need(getsockname(listener, (struct sockaddr *)&address, &length) == 0, "getsockname");
    for (int i = 0; i < workers; i++)
        if (fork() == 0) {
            work(listener);
            exit(0);
        }
    for (int i = 0; i < CLIENTS; i++)
        if (fork() == 0) {
            request_all(&address, requests / CLIENTS);
            exit(0);
        }
    wait_for(CLIENTS);
    for (int i = 0; i < workers; i++)
        ask(&address, "quit");
    wait_for(workers);
    return 0;
}
