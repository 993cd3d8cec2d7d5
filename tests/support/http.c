/* A small HTTP client, and a check for the addresses on which a server listens. */
#include "support/http.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <ifaddrs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int http_connect(const struct sockaddr *address, socklen_t length)
{
    const struct timeval patience = { 30, 0 };
    const int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    if (connect(fd, address, length) == 0)
        return fd;
    close(fd);
    return -1;
}

static char *http_read_answer(int fd, size_t *length)
{
    size_t room = 1 << 16;
    char *text = malloc(room + 1);
    *length = 0;
    for (ssize_t got; (got = read(fd, text + *length, room - *length)) > 0;) {
        *length += (size_t)got;
        if (*length == room)
            text = realloc(text, (room *= 2) + 1);
    }
    text[*length] = '\0';
    return text;
}

struct answer ask(const char *address, uint16_t port, const char *method, const char *target, const char *host)
{
    struct sockaddr_in place = { .sin_family = AF_INET, .sin_port = htons(port) };
    struct answer a = { 0 };
    char usual[64], request[2048];
    cr_assert(eq(int, inet_pton(AF_INET, address, &place.sin_addr), 1));
    const int fd = http_connect((const struct sockaddr *)&place, sizeof place);
    if (fd < 0)
        return a;
    snprintf(usual, sizeof usual, "%s:%u", address, port);
    const int length = snprintf(request, sizeof request, "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
                                method, target, host ? host : usual);
    cr_assert(eq(sz, (size_t)send(fd, request, (size_t)length, MSG_NOSIGNAL), (size_t)length));
    size_t all;
    a.head = http_read_answer(fd, &all);
    close(fd);
    char *end = strstr(a.head, "\r\n\r\n");
    cr_assert(end && sscanf(a.head, "HTTP/1.1 %d ", &a.status) == 1, "%s", a.head);
    end[2] = '\0';
    a.body = end + 4;
    a.length = all - (size_t)(a.body - a.head);
    return a;
}

static void http_check_header(const struct answer *a, const char *line)
{
    char whole[512];
    snprintf(whole, sizeof whole, "\r\n%s\r\n", line);
    cr_assert(strstr(a->head, whole) != NULL, "no '%s' in:\n%s", line, a->head);
}

void check_headers(const struct answer *a)
{
    static const char *const lines[] = {
        "Cache-Control: no-store",
        "X-Content-Type-Options: nosniff",
        "X-Frame-Options: DENY",
        "Referrer-Policy: no-referrer",
        "Cross-Origin-Resource-Policy: same-origin",
        "Cross-Origin-Opener-Policy: same-origin",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        http_check_header(a, lines[i]);
    const bool is_page = strstr(a->head, "\r\nContent-Type: text/html; charset=utf-8\r\n") != NULL;
    const bool is_text = strstr(a->head, "\r\nContent-Type: text/plain; charset=utf-8\r\n") != NULL;
    cr_assert(is_page || is_text || strstr(a->head, "\r\nContent-Type: application/octet-stream\r\n"), "%s", a->head);
    if (!is_page) {
        http_check_header(a, "Content-Security-Policy: default-src 'none'; base-uri 'none'; form-action 'none'; "
                             "frame-ancestors 'none'; sandbox");
        return;
    }
    const char *policy = strstr(a->head, "\r\nContent-Security-Policy: default-src 'none'; script-src 'sha256-");
    cr_assert(policy != NULL, "%s", a->head);
    char *line = strndup(policy + 2, strcspn(policy + 2, "\r"));
    const bool is_loose = strstr(line, "script-src 'unsafe-inline'") || strstr(line, "unsafe-eval");
    const char *rest =
        strstr(line, "; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    cr_assert(rest != NULL && !is_loose, "%s", line);
    free(line);
}

void answer_drop(struct answer *a)
{
    free(a->head);
}

static bool http_is_loopback(const struct sockaddr_in *in)
{
    return in->sin_addr.s_addr == htonl(INADDR_LOOPBACK);
}

static unsigned http_tries(const struct sockaddr *address, socklen_t length, unsigned *tried)
{
    const int fd = http_connect(address, length);
    ++*tried;
    if (fd < 0)
        return 0;
    close(fd);
    return 1;
}

unsigned reachable_elsewhere(uint16_t port, unsigned *tried)
{
    struct ifaddrs *all;
    unsigned reached = 0;
    *tried = 0;
    struct sockaddr_in second = { .sin_family = AF_INET, .sin_port = htons(port) };
    inet_pton(AF_INET, "127.0.0.2", &second.sin_addr); /* a loopback address that every machine has */
    reached += http_tries((const struct sockaddr *)&second, sizeof second, tried);
    cr_assert(eq(int, getifaddrs(&all), 0));
    for (const struct ifaddrs *i = all; i; i = i->ifa_next) {
        if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
            !http_is_loopback((const struct sockaddr_in *)i->ifa_addr)) {
            struct sockaddr_in in = *(const struct sockaddr_in *)i->ifa_addr;
            in.sin_port = htons(port);
            reached += http_tries((const struct sockaddr *)&in, sizeof in, tried);
        } else if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET6) {
            struct sockaddr_in6 in = *(const struct sockaddr_in6 *)i->ifa_addr;
            in.sin6_port = htons(port);
            reached += http_tries((const struct sockaddr *)&in, sizeof in, tried);
        }
    }
    freeifaddrs(all);
    return reached;
}
