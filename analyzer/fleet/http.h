/* Requests to a ClickHouse server over HTTP. */
#ifndef DWELL_FLEET_HTTP_H
#define DWELL_FLEET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"

/* How a request ended. After HTTP_UNSURE, the server may have done the whole of it, a part, or nothing. */
enum http_end { HTTP_DONE, HTTP_REFUSED, HTTP_UNSURE };

enum { HTTP_SLOWEST = 1000 }; /* bytes a second: servers that drip are not waited for */

struct http_request {
    const char *url;             /* with its parameters */
    const char *user, *password; /* NULL if there are none */
    const char *ca;              /* file of the certificates that may sign a server's; NULL: those of the system */
    const void *body;
    size_t length;
    bool compressed;       /* the body is in the format of gzip */
    unsigned seconds;      /* with less than HTTP_SLOWEST, after which the request fails */
    unsigned most_seconds; /* the same in all; zero: no limit */
    const bool *cancelled; /* the request fails once this is true, which another thread may set; NULL: never */
};

/* Posts the request and writes the answer to `answer`. The error of a refused request is the server's text. With https,
 * nothing of the request is sent before the server's certificate is verified. */
enum http_end http_post(const struct http_request *request, FILE *answer, struct error *error);

/* Returns NULL, or the reason why no request can be made. */
const char *http_missing(void);

#endif
