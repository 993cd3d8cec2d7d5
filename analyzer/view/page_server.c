/* Answers HTTP requests for the page, the latest session and the blocks of its timeline. */
#include "view/page_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/loaded_library.h"
#include "base/memory.h"
#include "view/connections.h"
#include "view/page.h"

#define MICROHTTPD_FUNCTIONS(X)                                                                                        \
    X(MHD_add_response_header)                                                                                         \
    X(MHD_create_response_from_buffer)                                                                                 \
    X(MHD_create_response_from_buffer_with_free_callback_cls)                                                          \
    X(MHD_destroy_response)                                                                                            \
    X(MHD_get_connection_info)                                                                                         \
    X(MHD_lookup_connection_value)                                                                                     \
    X(MHD_queue_response)                                                                                              \
    X(MHD_start_daemon)

static LOADED_LIBRARY(MICROHTTPD_FUNCTIONS) microhttpd;

enum {
    TOKEN_BYTES = 16,
    TOKEN_TEXT = 2 * TOKEN_BYTES + 1,
    MAX_SOCKETS = 4 * MAX_CONNECTIONS, /* with those that are cut and not closed yet */
    SECONDS_IDLE = 60,
};

/* A served session. An old one lives until the last answer with it has been sent. */
struct server_snapshot {
    struct view_session *session;
    uint64_t generation; /* counts up with each session */
    unsigned users;
};

struct server {
    struct MHD_Daemon *daemon;
    char token[TOKEN_TEXT];
    char address[128];
    char hosts[2][32]; /* accepted values of the header Host */
    char *page_policy; /* what the page may do */
    unsigned interval;
    struct connections connections; /* of the daemon's thread */
    /* Guarded by snapshot_lock: */
    struct server_snapshot *snapshot; /* NULL if there is none yet */
    char *wrong;                      /* why the last reading of the file failed; NULL if it succeeded */
    uint64_t generation;
};

/* ---- snapshots ---- */

/* Guards all snapshots' user counts. It is global because answers release snapshots without knowing the server. */
static pthread_mutex_t snapshot_lock = PTHREAD_MUTEX_INITIALIZER;

static void view_server_release_snapshot(void *context)
{
    struct server_snapshot *snapshot = context;
    pthread_mutex_lock(&snapshot_lock);
    const bool last = --snapshot->users == 0;
    pthread_mutex_unlock(&snapshot_lock);
    if (!last)
        return;
    view_session_free(snapshot->session);
    free(snapshot);
}

static struct server_snapshot *view_server_acquire_snapshot(struct server *s)
{
    pthread_mutex_lock(&snapshot_lock);
    struct server_snapshot *snapshot = s->snapshot;
    if (snapshot)
        snapshot->users++;
    pthread_mutex_unlock(&snapshot_lock);
    return snapshot;
}

void server_show(struct server *s, struct view_session *session)
{
    struct server_snapshot *snapshot = need_memory(1, sizeof *snapshot), *before;
    *snapshot = (struct server_snapshot){ session, ++s->generation, 1 };
    pthread_mutex_lock(&snapshot_lock);
    before = s->snapshot;
    s->snapshot = snapshot;
    free(s->wrong);
    s->wrong = NULL;
    pthread_mutex_unlock(&snapshot_lock);
    if (before)
        view_server_release_snapshot(before);
}

void server_fail(struct server *s, const char *why)
{
    char *line = need_text("%s\n", why);
    pthread_mutex_lock(&snapshot_lock);
    free(s->wrong);
    s->wrong = line;
    pthread_mutex_unlock(&snapshot_lock);
}

/* ---- answers ---- */

/* What an answer other than the page may do if it is opened as a page. */
static const char no_policy[] =
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

static void view_server_add_headers(struct MHD_Response *response, const char *type, const char *policy)
{
    const char *const headers[][2] = {
        { "Content-Type", type },
        { "Content-Security-Policy", policy },
        { "Cache-Control", "no-store" },
        { "X-Content-Type-Options", "nosniff" },
        { "X-Frame-Options", "DENY" },
        { "Referrer-Policy", "no-referrer" },
        { "Cross-Origin-Resource-Policy", "same-origin" },
        { "Cross-Origin-Opener-Policy", "same-origin" },
    };
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        microhttpd.MHD_add_response_header(response, headers[i][0], headers[i][1]);
}

static enum MHD_Result view_server_send(struct MHD_Connection *connection, unsigned status,
                                        struct MHD_Response *response, const char *type, const char *policy)
{
    if (!response)
        return MHD_NO;
    view_server_add_headers(response, type, policy);
    const enum MHD_Result result = microhttpd.MHD_queue_response(connection, status, response);
    microhttpd.MHD_destroy_response(response);
    return result;
}

static enum MHD_Result view_server_send_response(struct MHD_Connection *connection, unsigned status,
                                                 struct MHD_Response *response, const char *type)
{
    return view_server_send(connection, status, response, type, no_policy);
}

static enum MHD_Result view_server_send_text(struct MHD_Connection *connection, unsigned status, const char *text)
{
    return view_server_send_response(
        connection, status,
        microhttpd.MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT),
        "text/plain; charset=utf-8");
}

/* Answers that there is no new session, or why the last reading of the file failed. */
static enum MHD_Result view_server_send_no_session(struct server *s, struct MHD_Connection *connection)
{
    struct MHD_Response *response = NULL;
    pthread_mutex_lock(&snapshot_lock);
    if (s->wrong)
        response = microhttpd.MHD_create_response_from_buffer(strlen(s->wrong), s->wrong, MHD_RESPMEM_MUST_COPY);
    pthread_mutex_unlock(&snapshot_lock);
    if (response)
        return view_server_send_response(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, response,
                                         "text/plain; charset=utf-8");
    return view_server_send_text(connection, MHD_HTTP_NO_CONTENT, "");
}

static enum MHD_Result view_server_send_page(const struct server *s, struct MHD_Connection *connection)
{
    struct packed page = { NULL, 0 };
    FILE *out = open_memstream(&page.bytes, &page.length);
    if (!out)
        return MHD_NO;
    page_write_live(s->interval, out);
    if (fclose(out) != 0)
        return MHD_NO;
    return view_server_send(connection, MHD_HTTP_OK,
                            microhttpd.MHD_create_response_from_buffer(page.length, page.bytes, MHD_RESPMEM_MUST_FREE),
                            "text/html; charset=utf-8", s->page_policy);
}

/* Sends a part of a snapshot, and releases the snapshot when it has been sent. */
static enum MHD_Result view_server_send_packed(struct MHD_Connection *connection, struct server_snapshot *snapshot,
                                               const struct packed *packed)
{
    char generation[24];
    struct MHD_Response *response = microhttpd.MHD_create_response_from_buffer_with_free_callback_cls(
        packed->length, packed->bytes, view_server_release_snapshot, snapshot);
    if (!response) {
        view_server_release_snapshot(snapshot);
        return MHD_NO;
    }
    snprintf(generation, sizeof generation, "%" PRIu64, snapshot->generation);
    microhttpd.MHD_add_response_header(response, "X-Dwell-Generation", generation);
    return view_server_send_response(connection, MHD_HTTP_OK, response, "application/octet-stream");
}

static const char *view_server_argument(struct MHD_Connection *connection, const char *name)
{
    return microhttpd.MHD_lookup_connection_value(connection, MHD_GET_ARGUMENT_KIND, name);
}

static bool view_server_number_matches(const char *text, uint64_t number)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%" PRIu64, number);
    return text && strcmp(text, digits) == 0;
}

/* Sends the session unless the page already has it: `since` is the page's generation. */
static enum MHD_Result view_server_send_session(struct server *s, struct MHD_Connection *connection)
{
    struct server_snapshot *snapshot = view_server_acquire_snapshot(s);
    if (!snapshot)
        return view_server_send_text(connection, MHD_HTTP_ACCEPTED, "the session is being read\n");
    if (view_server_number_matches(view_server_argument(connection, "since"), snapshot->generation)) {
        view_server_release_snapshot(snapshot);
        return view_server_send_no_session(s, connection);
    }
    return view_server_send_packed(connection, snapshot, &snapshot->session->main);
}

/* Sends a block. Its number is only valid in the generation that the page has. A page that asks for one while a newer
 * generation comes has done nothing wrong: an error's status would appear in the browser's log. */
static enum MHD_Result view_server_send_block(struct server *s, struct MHD_Connection *connection, const char *number)
{
    struct server_snapshot *snapshot = view_server_acquire_snapshot(s);
    if (!snapshot)
        return view_server_send_text(connection, MHD_HTTP_ACCEPTED, "the session is being read\n");
    const char *generation = view_server_argument(connection, "generation");
    char *end;
    errno = 0;
    const unsigned long long block = strtoull(number, &end, 10);
    const bool bad = errno || *end || end == number || *number < '0' || *number > '9';
    const bool gone = generation && !view_server_number_matches(generation, snapshot->generation);
    if (gone || bad || block >= snapshot->session->block_count) {
        view_server_release_snapshot(snapshot);
        return gone ? view_server_send_text(connection, MHD_HTTP_NO_CONTENT, "")
                    : view_server_send_text(connection, MHD_HTTP_NOT_FOUND, "no such block\n");
    }
    return view_server_send_packed(connection, snapshot, &snapshot->session->blocks[block]);
}

/* ---- requests ---- */

/* Compares in constant time, so that the answer's time does not reveal the token. */
static bool view_server_token_matches(const struct server *s, const char *text)
{
    unsigned char differs = 0;
    if (!text || strlen(text) != strlen(s->token))
        return false;
    for (size_t i = 0; s->token[i]; i++)
        differs |= (unsigned char)(s->token[i] ^ text[i]);
    return differs == 0;
}

/* Rejects other host names that resolve to 127.0.0.1: DNS rebinding would let other web pages read the session. */
static bool view_server_host_matches(const struct server *s, const char *text)
{
    return text && (strcmp(text, s->hosts[0]) == 0 || strcmp(text, s->hosts[1]) == 0);
}

static uint64_t view_server_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec;
}

/* Lists a connection when it is opened, and forgets it when it is closed. */
static void view_server_follow_connection(void *context, struct MHD_Connection *connection, void **known,
                                          enum MHD_ConnectionNotificationCode event)
{
    struct server *s = context;
    const union MHD_ConnectionInfo *info =
        microhttpd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (event == MHD_CONNECTION_NOTIFY_STARTED && info)
        *known = connections_add(&s->connections, info->connect_fd, view_server_now());
    else if (event == MHD_CONNECTION_NOTIFY_CLOSED && *known)
        connections_remove(&s->connections, *known);
}

static void view_server_know_connection(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        microhttpd.MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    if (info && info->socket_context)
        connection_know(info->socket_context, view_server_now());
}

static enum MHD_Result view_server_send_target(struct server *s, struct MHD_Connection *connection, const char *url)
{
    static const char block[] = "/block/";
    if (strcmp(url, "/") == 0)
        return view_server_send_page(s, connection);
    if (strcmp(url, "/session") == 0)
        return view_server_send_session(s, connection);
    if (strncmp(url, block, strlen(block)) == 0)
        return view_server_send_block(s, connection, url + strlen(block));
    return view_server_send_text(connection, MHD_HTTP_NOT_FOUND, "no such page\n");
}

/* Called when the headers have arrived, for each part of a body, and at the end. A request that is refused is answered
 * at the headers, so that its body is not read. */
static enum MHD_Result view_server_answer(void *context, struct MHD_Connection *connection, const char *url,
                                          const char *method, const char *version, const char *data, size_t *length,
                                          void **state)
{
    static int known;
    struct server *s = context;
    (void)version;
    (void)data;
    if (*state == &known) {
        if (*length == 0)
            return view_server_send_target(s, connection, url);
        *length = 0;
        return MHD_YES;
    }
    if (!view_server_host_matches(
            s, microhttpd.MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST)) ||
        !view_server_token_matches(s, view_server_argument(connection, "token")))
        return view_server_send_text(connection, MHD_HTTP_FORBIDDEN,
                                     "missing or wrong token: open the address that dwell printed\n");
    view_server_know_connection(connection);
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return view_server_send_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are supported\n");
    *state = &known;
    return MHD_YES;
}

/* ---- start and stop ---- */

static bool view_server_load_library(struct error *error)
{
    static const char library[] = "libmicrohttpd.so.12";
    static const char *const functions[] = { LOADED_NAMES(MICROHTTPD_FUNCTIONS) };
    switch (loaded_library_find(library, functions, sizeof functions / sizeof *functions, &microhttpd)) {
    case LIBRARY_MISSING:
        return error_set(error, "%s is missing: install libmicrohttpd12", library);
    case LIBRARY_LACKS_FUNCTIONS:
        return error_set(error, "%s is too old: version 0.9.73 is needed", library);
    default:
        return true;
    }
}

static bool view_server_make_token(struct server *s, struct error *error)
{
    unsigned char bytes[TOKEN_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        return error_set(error, "cannot get random numbers for a token: %s", strerror(errno));
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(s->token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

static void view_server_ignore_log(void *context, const char *format, va_list arguments)
{
    (void)context;
    (void)format;
    (void)arguments;
}

/* Listens on 127.0.0.1. If *port is 0, the kernel chooses a port and *port is set to it. */
static bool view_server_listen(int fd, uint16_t *port)
{
    struct sockaddr_in here = { .sin_family = AF_INET, .sin_port = htons(*port) };
    socklen_t length = sizeof here;
    const int yes = 1;
    here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) < 0 ||
        bind(fd, (const struct sockaddr *)&here, sizeof here) < 0 || listen(fd, SOMAXCONN) < 0 ||
        getsockname(fd, (struct sockaddr *)&here, &length) < 0)
        return false;
    *port = ntohs(here.sin_port);
    return true;
}

/* A socket that listens on 127.0.0.1, or -1. */
static int view_server_open_socket(uint16_t *port, struct error *error)
{
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && view_server_listen(fd, port))
        return fd;
    error_set(error, "cannot listen on port %u of 127.0.0.1: %s", *port, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

static bool view_server_start_daemon(struct server *s, uint16_t port, int fd, struct error *error)
{
    s->daemon = microhttpd.MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ERROR_LOG, port, NULL, NULL, view_server_answer, s,
        MHD_OPTION_EXTERNAL_LOGGER, view_server_ignore_log, NULL, MHD_OPTION_LISTEN_SOCKET, fd,
        MHD_OPTION_CONNECTION_LIMIT, (unsigned)MAX_SOCKETS, MHD_OPTION_NOTIFY_CONNECTION, view_server_follow_connection,
        s, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SECONDS_IDLE, MHD_OPTION_END);
    return s->daemon ? true : error_set(error, "cannot start the HTTP server on %s", s->hosts[0]);
}

struct server *server_start(uint16_t port, unsigned interval, struct error *error)
{
    if (!view_server_load_library(error))
        return NULL;
    const int fd = view_server_open_socket(&port, error);
    if (fd < 0)
        return NULL;
    struct server *s = need_memory(1, sizeof *s);
    s->interval = interval;
    s->page_policy = page_policy();
    snprintf(s->hosts[0], sizeof s->hosts[0], "127.0.0.1:%u", port);
    snprintf(s->hosts[1], sizeof s->hosts[1], "localhost:%u", port);
    if (view_server_make_token(s, error) && view_server_start_daemon(s, port, fd, error)) {
        snprintf(s->address, sizeof s->address, "http://%s/?token=%s", s->hosts[0], s->token);
        return s;
    }
    close(fd);
    free(s->page_policy);
    free(s);
    return NULL;
}

const char *server_address(const struct server *s)
{
    return s->address;
}
