/*
 * The fuzzer's target for the HTTP server of `dwell view --live`: bytes are sent to it as they are, but "TOKEN" becomes
 * its token and "HOST" its address. An input without the token gets no data.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/memory.h"
#include "fuzz/fuzz.h"
#include "view/page_server.h"

enum { MOST = 1 << 16, PATIENCE = 60000 /* milliseconds, for hangs */ };

static char request_token[64], request_host[64];
static uint16_t request_port;

static void request_start(void)
{
    struct error error = { NULL };
    struct server *s = server_start(0, 1000, &error);
    unsigned port = 0;
    fuzz_require(s && sscanf(server_address(s), "http://127.0.0.1:%u/?token=%63s", &port, request_token) == 2);
    request_port = (uint16_t)port;
    snprintf(request_host, sizeof request_host, "127.0.0.1:%u", port);
    struct view_session *session = need_memory(1, sizeof *session);
    *session = (struct view_session){ .blocks = need_memory(2, sizeof *session->blocks), .block_count = 2 };
    session->main = (struct packed){ need_copy("main", 4), 4 };
    for (int i = 0; i < 2; i++)
        session->blocks[i] = (struct packed){ need_copy("block", 5), 5 };
    server_show(s, session);
}

/* The input with its words replaced. The caller frees it. */
static char *request_text(const uint8_t *data, size_t size, size_t *length)
{
    char *text = need_memory(size * sizeof request_host + 1, 1);
    *length = 0;
    for (size_t i = 0; i < size;) {
        const bool token = size - i >= 5 && memcmp(data + i, "TOKEN", 5) == 0;
        const bool host = size - i >= 4 && memcmp(data + i, "HOST", 4) == 0;
        const char *put = token ? request_token : host ? request_host : NULL;
        if (put) {
            memcpy(text + *length, put, strlen(put));
            *length += strlen(put);
            i += token ? 5 : 4;
        } else {
            text[(*length)++] = (char)data[i++];
        }
    }
    return text;
}

static void request_send(int fd, const char *text, size_t length)
{
    for (size_t sent = 0; sent < length;) {
        const ssize_t more = send(fd, text + sent, length - sent, MSG_NOSIGNAL);
        if (more < 0 && errno == EINTR)
            continue;
        if (more <= 0)
            return; /* it was refused before its end */
        sent += (size_t)more;
    }
}

/* All answers until the connection's end. */
static size_t request_read(int fd, char *answer)
{
    size_t length = 0;
    struct pollfd wait = { .fd = fd, .events = POLLIN };
    char rest[4096];
    for (;;) {
        const int ready = poll(&wait, 1, PATIENCE);
        if (ready < 0 && errno == EINTR)
            continue; /* the fuzzer's own timer */
        fuzz_require(ready == 1);
        char *into = length < MOST ? answer + length : rest;
        const ssize_t got = recv(fd, into, length < MOST ? MOST - length : sizeof rest, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return length;
        length += length < MOST ? (size_t)got : 0;
    }
}

/* Each connection keeps a port of its address for a minute after its end. All of one address would not do. */
static int request_connect(void)
{
    static uint8_t last;
    const struct sockaddr_in here = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK + last++ % 128) };
    const struct sockaddr_in there = { .sin_family = AF_INET,
                                       .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                       .sin_port = htons(request_port) };
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    fuzz_require(fd >= 0 && bind(fd, (const struct sockaddr *)&here, sizeof here) == 0);
    fuzz_require(connect(fd, (const struct sockaddr *)&there, sizeof there) == 0);
    return fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char answer[MOST];
    if (!request_port)
        request_start();
    if (size > MOST)
        return 0;
    size_t length;
    char *text = request_text(data, size, &length);
    const int fd = request_connect();
    request_send(fd, text, length);
    shutdown(fd, SHUT_WR);
    const size_t got = request_read(fd, answer);
    if (!memmem(text, length, request_token, strlen(request_token)))
        fuzz_require(!memmem(answer, got, " 200 OK", 7) && !memmem(answer, got, request_token, strlen(request_token)));
    close(fd);
    free(text);
    return 0;
}
