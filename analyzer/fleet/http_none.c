/* In place of http.c where dwell is built without libcurl. */
#include "fleet/http.h"

const char *http_missing(void)
{
    return "this dwell was built without libcurl: install libcurl4-gnutls-dev and build it again";
}

enum http_end http_post(const struct http_request *request, FILE *answer, struct error *error)
{
    (void)request, (void)answer;
    error_set(error, "%s", http_missing());
    return HTTP_REFUSED;
}
