/* The prepared server: one thread, one connection after the other. */
#include "support/http_stub.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct http_stub {
    int socket;
    char url[64];
    const char *const *answers;
    const size_t *lengths; /* NULL for texts */
    size_t count;
    size_t drip; /* bytes at a time; zero: the answers */
    struct stub_request requests[STUB_REQUESTS];
    pthread_t thread;
    int joined;
};

/* Reads the head and as much body as it announces. */
static void stub_read(int connection, struct stub_request *request)
{
    char *all = calloc(1, 1 << 20);
    size_t length = 0, wanted = (size_t)-1, head = 0;
    while (length < wanted) {
        const ssize_t count = read(connection, all + length, (1 << 20) - 1 - length);
        if (count <= 0)
            break;
        length += (size_t)count;
        const char *end = head ? NULL : strstr(all, "\r\n\r\n");
        if (end) {
            const char *announced = strcasestr(all, "content-length:");
            head = (size_t)(end + 4 - all);
            wanted = head + (announced ? strtoul(announced + 15, NULL, 10) : 0);
        }
    }
    request->head = strndup(all, head);
    request->length = length - head;
    request->body = malloc(request->length + 1);
    memcpy(request->body, all + head, request->length);
    request->body[request->length] = 0;
    free(all);
}

static void *stub_drip(void *data)
{
    static const char head[] = "HTTP/1.1 200 OK\r\n\r\n";
    struct http_stub *stub = data;
    const int connection = accept(stub->socket, NULL, NULL);
    char *drop = calloc(1, stub->drip);
    stub_read(connection, &stub->requests[0]);
    ssize_t sent = send(connection, head, sizeof head - 1, MSG_NOSIGNAL);
    while (sent > 0) {
        usleep(100000);
        sent = send(connection, drop, stub->drip, MSG_NOSIGNAL);
    }
    free(drop);
    close(connection);
    close(stub->socket);
    return NULL;
}

static void *stub_serve(void *data)
{
    struct http_stub *stub = data;
    for (size_t i = 0; i < stub->count; i++) {
        const int connection = accept(stub->socket, NULL, NULL);
        if (connection < 0)
            break;
        stub_read(connection, &stub->requests[i]);
        const size_t length = stub->lengths ? stub->lengths[i] : strlen(stub->answers[i]);
        if (write(connection, stub->answers[i], length) != (ssize_t)length)
            fputs("the stub could not answer\n", stderr);
        close(connection);
    }
    close(stub->socket);
    return NULL;
}

struct http_stub *http_stub_start(const char *const *answers, size_t count)
{
    return http_stub_start_bytes(answers, NULL, count);
}

static struct http_stub *stub_start(const char *const *answers, const size_t *lengths, size_t count, size_t drip)
{
    struct http_stub *stub = calloc(1, sizeof *stub);
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    cr_assert(count <= STUB_REQUESTS);
    stub->answers = answers;
    stub->lengths = lengths;
    stub->count = count;
    stub->drip = drip;
    stub->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(bind(stub->socket, (struct sockaddr *)&address, sizeof address) == 0);
    cr_assert(listen(stub->socket, 1) == 0);
    cr_assert(getsockname(stub->socket, (struct sockaddr *)&address, &size) == 0);
    snprintf(stub->url, sizeof stub->url, "http://127.0.0.1:%u", ntohs(address.sin_port));
    cr_assert(pthread_create(&stub->thread, NULL, drip ? stub_drip : stub_serve, stub) == 0);
    return stub;
}

struct http_stub *http_stub_start_bytes(const char *const *answers, const size_t *lengths, size_t count)
{
    return stub_start(answers, lengths, count, 0);
}

struct http_stub *http_stub_start_dripping(size_t bytes)
{
    return stub_start(NULL, NULL, 1, bytes);
}

const char *http_stub_url(const struct http_stub *stub)
{
    return stub->url;
}

const struct stub_request *http_stub_wait(struct http_stub *stub)
{
    if (!stub->joined)
        pthread_join(stub->thread, NULL);
    stub->joined = 1;
    return stub->requests;
}

void http_stub_stop(struct http_stub *stub)
{
    http_stub_wait(stub);
    for (size_t i = 0; i < stub->count; i++) {
        free(stub->requests[i].head);
        free(stub->requests[i].body);
    }
    free(stub);
}
