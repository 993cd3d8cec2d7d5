/* An HTTP server on loopback that gives prepared answers, one a connection, and keeps the requests. */
#ifndef DWELL_TESTS_HTTP_STUB_H
#define DWELL_TESTS_HTTP_STUB_H

#include <stddef.h>

enum { STUB_REQUESTS = 16 };

struct stub_request {
    char *head; /* the line of the request, and all headers */
    unsigned char *body;
    size_t length;
};

struct http_stub;

/* Begins to listen. Each connection gets the next of the answers, which are whole: with the line of the status and the
 * headers. An empty answer closes the connection. Later connections are refused. */
struct http_stub *http_stub_start(const char *const *answers, size_t count);
/* The same for answers that hold any bytes. */
struct http_stub *http_stub_start_bytes(const char *const *answers, const size_t *lengths, size_t count);
/* One connection gets so many bytes of an answer ten times a second, until the other side closes it. */
struct http_stub *http_stub_start_dripping(size_t bytes);
const char *http_stub_url(const struct http_stub *stub);

/* Waits until all answers are given. Returns the requests. */
const struct stub_request *http_stub_wait(struct http_stub *stub);
void http_stub_stop(struct http_stub *stub);

#endif
