/* Requests by libcurl. It is loaded with the first request: with the libraries that it needs, it takes longer to load
 * than all of dwell. */
#include "fleet/http.h"

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/loaded_library.h"
#include "base/memory.h"

#define HTTP_FUNCTIONS(X)                                                                                              \
    X(curl_version_info)                                                                                               \
    X(curl_easy_init)                                                                                                  \
    X(curl_easy_setopt)                                                                                                \
    X(curl_easy_perform)                                                                                               \
    X(curl_easy_getinfo)                                                                                               \
    X(curl_easy_cleanup)                                                                                               \
    X(curl_easy_strerror)                                                                                              \
    X(curl_slist_append)                                                                                               \
    X(curl_slist_free_all)

static LOADED_LIBRARY(HTTP_FUNCTIONS) libcurl;

static const char *http_wrong; /* why libcurl cannot be used */

/* Both have the same interface. */
static void http_load(void)
{
    static const char *const names[] = { "libcurl-gnutls.so.4", "libcurl.so.4" };
    static const char *const functions[] = { LOADED_NAMES(HTTP_FUNCTIONS) };
    const unsigned least = 0x075500; /* 7.85 knows CURLOPT_PROTOCOLS_STR */
    http_wrong = "libcurl is missing: install libcurl3-gnutls or libcurl4";
    for (size_t i = 0; http_wrong && i < sizeof names / sizeof *names; i++) {
        const enum loaded end =
            loaded_library_find(names[i], functions, sizeof functions / sizeof *functions, &libcurl);
        if (end == LIBRARY_LOADED && libcurl.curl_version_info(CURLVERSION_NOW)->version_num >= least)
            http_wrong = NULL;
        else if (end != LIBRARY_MISSING)
            http_wrong = "libcurl is too old: version 7.85 is needed";
    }
}

const char *http_missing(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, http_load);
    return http_wrong;
}

static bool http_is_cancelled(const struct http_request *request)
{
    return request->cancelled && __atomic_load_n(request->cancelled, __ATOMIC_ACQUIRE);
}

/* A header that holds a secret is in no message and in no process' arguments. */
static struct curl_slist *http_add_header(struct curl_slist *list, const char *name, const char *value)
{
    if (!value)
        return list;
    char *line = need_text("%s: %s", name, value);
    list = libcurl.curl_slist_append(list, line);
    free(line);
    return list;
}

static struct curl_slist *http_list_headers(const struct http_request *request)
{
    struct curl_slist *list = http_add_header(NULL, "X-ClickHouse-User", request->user);
    list = http_add_header(list, "X-ClickHouse-Key", request->password);
    list = http_add_header(list, "Content-Type", "application/octet-stream");
    list = http_add_header(list, "Content-Encoding", request->compressed ? "gzip" : NULL);
    return http_add_header(list, "Expect", ""); /* servers answer such requests late */
}

static int http_look_around(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct http_request *request = context;
    (void)a, (void)b, (void)c, (void)d;
    return http_is_cancelled(request);
}

/* The request is sent only when libcurl has verified the server's certificate. */
static void http_verify(CURL *curl, const struct http_request *request)
{
    libcurl.curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    libcurl.curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    if (!request->ca)
        return;
    libcurl.curl_easy_setopt(curl, CURLOPT_CAINFO, request->ca);
    libcurl.curl_easy_setopt(curl, CURLOPT_CAPATH, NULL);
}

static void http_set_options(CURL *curl, const struct http_request *request, struct curl_slist *headers, FILE *answer)
{
    libcurl.curl_easy_setopt(curl, CURLOPT_URL, request->url);
    libcurl.curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    libcurl.curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    libcurl.curl_easy_setopt(curl, CURLOPT_POST, 1L);
    libcurl.curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
    libcurl.curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
    libcurl.curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "gzip");
    libcurl.curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
    libcurl.curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    libcurl.curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
    libcurl.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)HTTP_SLOWEST);
    libcurl.curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)request->seconds);
    libcurl.curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)request->most_seconds);
    libcurl.curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, http_look_around);
    libcurl.curl_easy_setopt(curl, CURLOPT_XFERINFODATA, request);
    libcurl.curl_easy_setopt(curl, CURLOPT_NOPROGRESS, request->cancelled ? 0L : 1L);
    http_verify(curl, request);
}

/* The first line of the server's answer, which is its message. */
static char *http_read_message(FILE *answer)
{
    char line[1000];
    rewind(answer);
    if (!fgets(line, sizeof line, answer))
        *line = 0;
    line[strcspn(line, "\n")] = 0;
    return need_copy(line, strlen(line));
}

/* ClickHouse's numbers of errors that pass: of the network, of time limits, of too much work at once. */
static bool http_may_pass(const char *message)
{
    static const int codes[] = { 3, 32, 159, 198, 202, 203, 209, 210, 225, 241, 242, 252, 279, 285, 319, 425 };
    int code = 0;
    if (sscanf(message, "Code: %d", &code) != 1)
        return true;
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (codes[i] == code)
            return true;
    return false;
}

static enum http_end http_judge(long status, FILE *answer, struct error *error)
{
    if (status == 200)
        return HTTP_DONE;
    char *message = http_read_message(answer);
    const bool passes =
        status == 429 || status == 502 || status == 503 || status == 504 || (status >= 500 && http_may_pass(message));
    error_set(error, "the server answered %ld%s%s", status, *message ? ": " : "", message);
    free(message);
    return passes ? HTTP_UNSURE : HTTP_REFUSED;
}

/* Why no answer came. `detail` is libcurl's text about this request. */
static void http_explain(CURL *curl, const struct http_request *request, CURLcode code, const char *detail,
                         struct error *error)
{
    long refused = 0;
    libcurl.curl_easy_getinfo(curl, CURLINFO_SSL_VERIFYRESULT, &refused);
    if (http_is_cancelled(request))
        error_set(error, "it took too long");
    else if (code == CURLE_PEER_FAILED_VERIFICATION && refused)
        error_set(error, "the server's certificate is of an unknown authority or out of date: give the authority's "
                         "certificate by --ca FILE, DWELL_FLEET_CA, or a line 'ca = FILE' in ~/.config/dwell/fleet");
    else if (code == CURLE_PEER_FAILED_VERIFICATION)
        error_set(error, "the server's certificate is refused: %s", detail);
    else if (code == CURLE_SSL_CACERT_BADFILE)
        error_set(error, "%s: holds no certificate", request->ca ? request->ca : "the system's certificates");
    else
        error_set(error, "%s", libcurl.curl_easy_strerror(code));
}

enum http_end http_post(const struct http_request *request, FILE *answer, struct error *error)
{
    if (http_missing()) {
        error_set(error, "%s", http_missing());
        return HTTP_REFUSED;
    }
    CURL *curl = libcurl.curl_easy_init();
    if (!curl)
        out_of_memory();
    struct curl_slist *headers = http_list_headers(request);
    char detail[CURL_ERROR_SIZE] = "";
    http_set_options(curl, request, headers, answer);
    libcurl.curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, detail);
    const CURLcode code = libcurl.curl_easy_perform(curl);
    long status = 0;
    libcurl.curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK)
        http_explain(curl, request, code, detail, error);
    libcurl.curl_slist_free_all(headers);
    libcurl.curl_easy_cleanup(curl);
    if (code == CURLE_OK)
        return http_judge(status, answer, error);
    const bool never = http_is_cancelled(request) || code == CURLE_UNSUPPORTED_PROTOCOL ||
                       code == CURLE_URL_MALFORMAT || code == CURLE_WRITE_ERROR ||
                       code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
    return never ? HTTP_REFUSED : HTTP_UNSURE;
}
