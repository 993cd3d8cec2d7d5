/* The server of dwell view --live: where it cannot start, what each answer's headers are, and that strangers cannot
 * keep the owner out. */
#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "support/http.h"
#include "support/success.h"
#include "view/connections.h"
#include "view/page_server.h"

TestSuite(unit_view_server, .timeout = 300);

Test(unit_view_server, a_port_that_is_in_use)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof here;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(eq(int, bind(fd, (const struct sockaddr *)&here, sizeof here), 0));
    cr_assert(eq(int, listen(fd, 1), 0));
    cr_assert(eq(int, getsockname(fd, (struct sockaddr *)&here, &length), 0));
    char *wanted = need_text("cannot listen on port %u of 127.0.0.1: Address already in use", ntohs(here.sin_port));
    EXPECT_ERROR(server_start(ntohs(here.sin_port), 1000, &error), wanted);
    free(wanted);
    close(fd);
}

static uint16_t served_port;
static char served_token[64];

static struct server *view_server_begin(void)
{
    struct error error = { NULL };
    struct server *s = server_start(0, 1000, &error);
    unsigned port;
    cr_assert(s != NULL, "%s", error.text);
    cr_assert(eq(int, sscanf(server_address(s), "http://127.0.0.1:%u/?token=%63s", &port, served_token), 2));
    served_port = (uint16_t)port;
    return s;
}

static struct answer view_server_ask(const char *method, const char *path, const char *token)
{
    char target[128];
    snprintf(target, sizeof target, "%s?token=%s", path, token);
    return ask("127.0.0.1", served_port, method, target, NULL);
}

static void view_server_expect(const char *method, const char *path, const char *token, int status)
{
    struct answer a = view_server_ask(method, path, token);
    cr_assert(eq(int, a.status, status), "%s %s", method, path);
    check_headers(&a);
    answer_drop(&a);
}

Test(unit_view_server, every_answer_has_the_headers)
{
    view_server_begin();
    view_server_expect("GET", "/", served_token, 200);
    view_server_expect("HEAD", "/", served_token, 200);
    view_server_expect("GET", "/session", served_token, 202);
    view_server_expect("GET", "/block/0", served_token, 202);
    view_server_expect("GET", "/nothing", served_token, 404);
    view_server_expect("POST", "/", served_token, 405);
    view_server_expect("GET", "/", "0", 403);
    view_server_expect("POST", "/", "0", 403);
}

static int view_server_connect(void)
{
    const struct sockaddr_in there = { .sin_family = AF_INET,
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                       .sin_port = htons(served_port) };
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(ge(int, fd, 0));
    cr_assert(eq(int, connect(fd, (const struct sockaddr *)&there, sizeof there), 0));
    return fd;
}

static void view_server_send(int fd, const char *text)
{
    cr_assert(eq(sz, (size_t)send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text)));
}

/* Reads an answer with a short body from a connection that stays open. Returns its status; zero if there is none. */
static int view_server_read_status(int fd)
{
    char text[4096] = "";
    int status = 0;
    const ssize_t got = recv(fd, text, sizeof text - 1, 0);
    if (got > 0)
        sscanf(text, "HTTP/1.1 %d", &status);
    return status;
}

/* Strangers that send nothing, half a request, whole ones without the token, and bodies without end. */
Test(unit_view_server, strangers_do_not_keep_the_owner_out)
{
    enum { STRANGERS = 300 };
    static const char *const sent[] = { "", "GET / HTTP/1.1\r\nHost: x", "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
                                        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\nx" };
    view_server_begin();
    char request[256];
    snprintf(request, sizeof request, "GET /nothing?token=%s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n", served_token,
             served_port);
    const int owner = view_server_connect();
    view_server_send(owner, request);
    cr_assert(eq(int, view_server_read_status(owner), 404));
    for (int i = 0; i < STRANGERS; i++)
        view_server_send(view_server_connect(), sent[i % 4]);
    view_server_expect("GET", "/", served_token, 200);
    view_server_send(owner, request); /* the open connection was not cut */
    cr_assert(eq(int, view_server_read_status(owner), 404));
    for (int i = 0; i < STRANGERS; i++)
        view_server_send(view_server_connect(), sent[i % 4]);
    view_server_expect("GET", "/", served_token, 200);
}

/* ---- the list of connections ---- */

/* The other end of a connection that is added to the list. */
static int connections_add_one(struct connections *all, uint64_t now, struct connection **added)
{
    int ends[2];
    cr_assert(eq(int, socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0));
    *added = connections_add(all, ends[0], now);
    return ends[1];
}

static bool connections_is_cut(int other)
{
    char byte;
    return recv(other, &byte, 1, MSG_DONTWAIT) == 0;
}

Test(unit_view_server, the_oldest_stranger_is_cut_first)
{
    struct connections all = { NULL, 0 };
    struct connection *list[MAX_CONNECTIONS + 3];
    int others[MAX_CONNECTIONS + 3];
    for (int i = 0; i < MAX_CONNECTIONS; i++)
        others[i] = connections_add_one(&all, 100, &list[i]);
    connection_know(list[0], 101);
    others[MAX_CONNECTIONS] = connections_add_one(&all, 101, &list[MAX_CONNECTIONS]);
    others[MAX_CONNECTIONS + 1] = connections_add_one(&all, 101, &list[MAX_CONNECTIONS + 1]);
    for (int i = 0; i < MAX_CONNECTIONS + 2; i++)
        cr_assert(eq(int, connections_is_cut(others[i]), i == 1 || i == 2), "%d", i);
    cr_assert(eq(sz, all.count, (size_t)MAX_CONNECTIONS));
    connections_remove(&all, list[1]); /* those that are cut do not count */
    cr_assert(eq(sz, all.count, (size_t)MAX_CONNECTIONS));
    connections_remove(&all, list[0]);
    cr_assert(eq(sz, all.count, (size_t)MAX_CONNECTIONS - 1));
    others[MAX_CONNECTIONS + 2] = connections_add_one(&all, 102, &list[MAX_CONNECTIONS + 2]);
    cr_assert(not(connections_is_cut(others[3])));
}

Test(unit_view_server, then_the_owners_that_was_idle_longest)
{
    struct connections all = { NULL, 0 };
    struct connection *list[MAX_CONNECTIONS + 1];
    int others[MAX_CONNECTIONS + 1];
    for (int i = 0; i < MAX_CONNECTIONS; i++) {
        others[i] = connections_add_one(&all, 100, &list[i]);
        connection_know(list[i], i == 5 ? 100 : 101);
    }
    others[MAX_CONNECTIONS] = connections_add_one(&all, 102, &list[MAX_CONNECTIONS]);
    for (int i = 0; i <= MAX_CONNECTIONS; i++)
        cr_assert(eq(int, connections_is_cut(others[i]), i == 5), "%d", i);
}

Test(unit_view_server, strangers_that_take_too_long)
{
    struct connections all = { NULL, 0 };
    struct connection *slow, *owner, *other;
    const int slow_end = connections_add_one(&all, 100, &slow), owner_end = connections_add_one(&all, 100, &owner);
    connection_know(owner, 100);
    connections_add_one(&all, 100 + MAX_SECONDS_UNKNOWN, &other);
    cr_assert(not(connections_is_cut(slow_end)));
    connections_add_one(&all, 101 + MAX_SECONDS_UNKNOWN, &other);
    cr_assert(connections_is_cut(slow_end));
    cr_assert(not(connections_is_cut(owner_end)));
    connections_remove(&all, slow);
    connections_remove(&all, owner);
    cr_assert(eq(sz, all.count, 2));
}
