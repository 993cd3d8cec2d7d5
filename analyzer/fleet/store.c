/* Finds the server, and makes requests with retries. */
#include "fleet/store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/gzip.h"
#include "base/memory.h"
#include "base/message.h"

enum { SLOW_SECONDS = 120, MOST_SECONDS = 3600 };

/* ---- settings ---- */

static char *store_copy(const char *text)
{
    return need_copy(text, strlen(text));
}

static void store_set_missing(char **member, const char *text)
{
    if (!*member && text && *text)
        *member = store_copy(text);
}

static bool store_read_line(struct fleet_store *store, char *line, const char *path, unsigned number,
                            struct error *error)
{
    static const char blanks[] = " \t\r\n";
    char *name = line + strspn(line, blanks), *value = strchr(line, '=');
    if (!*name || *name == '#')
        return true;
    if (!value)
        return error_set(error, "%s:%u: not NAME = VALUE", path, number);
    *value++ = 0;
    value += strspn(value, blanks);
    for (size_t length = strlen(value); length && strchr(blanks, value[length - 1]);)
        value[--length] = 0;
    name[strcspn(name, blanks)] = 0;
    char **members[] = { &store->url, &store->user, &store->password, &store->database, &store->ca };
    static const char *const names[] = { "url", "user", "password", "database", "ca" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) {
            store_set_missing(members[i], value);
            return true;
        }
    return error_set(error, "%s:%u: no setting '%s'; there are url, user, password, database and ca", path, number,
                     name);
}

/* Who may write to the file may send the password to a server of their own. A file that others may read is usual where
 * containers get their secrets. */
static bool store_check_mode(FILE *file, const char *path, struct error *error)
{
    struct stat status;
    if (fstat(fileno(file), &status) < 0 || !S_ISREG(status.st_mode))
        return true;
    if (status.st_mode & (S_IWGRP | S_IWOTH))
        return error_set(error, "%s: others may write to it, so it is not read; chmod 600 it", path);
    return true;
}

static void store_warn_of_readers(FILE *file, const char *path)
{
    struct stat status;
    if (fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) && status.st_mode & (S_IRGRP | S_IROTH))
        say("%s: others may read the password in it; chmod 600 it", path);
}

static bool store_read_file(struct fleet_store *store, const char *path, struct error *error)
{
    FILE *file = fopen(path, "re");
    if (!file && errno == EACCES) { /* HOME may be another user's */
        say("%s: %s, so its settings are not used", path, strerror(errno));
        return true;
    }
    if (!file)
        return errno == ENOENT || errno == ENOTDIR || error_set(error, "%s: %s", path, strerror(errno));
    if (!store_check_mode(file, path, error)) {
        fclose(file);
        return false;
    }
    const char *before = store->password;
    char *line = NULL;
    size_t room = 0;
    bool good = true;
    for (unsigned number = 1; good && getline(&line, &room, file) >= 0; number++)
        good = store_read_line(store, line, path, number, error);
    free(line);
    if (store->password != before)
        store_warn_of_readers(file, path);
    fclose(file);
    return good;
}

static bool store_read_config(struct fleet_store *store, struct error *error)
{
    const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    const bool own = folder && *folder == '/';
    if (!own && (!home || !*home))
        return true;
    char *path = need_text("%s%s/dwell/fleet", own ? folder : home, own ? "" : "/.config");
    const bool good = store_read_file(store, path, error);
    free(path);
    return good;
}

static bool store_check_database(const char *name, struct error *error)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (*name && strspn(name, allowed) == strlen(name))
        return true;
    return error_set(error, "'%s' is no name of a database: use letters, digits and _", name);
}

static bool store_is_printable(const char *text)
{
    while ((unsigned char)*text >= ' ' && *text != 0x7f)
        text++;
    return !*text;
}

static bool store_check_url(const char *url, struct error *error)
{
    const char *host = strstr(url, "://");
    const size_t length = host ? strcspn(host + 3, "/") : 0;
    const bool http = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    if (!host || !http || !length || strpbrk(url, "?# ") || !store_is_printable(url))
        return error_set(error, "'%s' is not a URL such as http://HOST:8123", url);
    if (memchr(host + 3, '@', length))
        return error_set(error, "the URL holds a user or a password: give them by DWELL_FLEET_USER and "
                                "DWELL_FLEET_PASSWORD, or in ~/.config/dwell/fleet");
    return true;
}

static bool store_check_ca(const char *path, struct error *error)
{
    FILE *file = path ? fopen(path, "re") : NULL;
    if (path && !file)
        return error_set(error, "%s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    return true;
}

/* User and password become headers of requests, where a control character would begin another header. */
static bool store_check_header(const char *what, const char *text, struct error *error)
{
    return !text || store_is_printable(text) || error_set(error, "the store's %s has a control character", what);
}

bool fleet_store_find(struct fleet_store *store, struct error *error)
{
    store_set_missing(&store->url, getenv("DWELL_FLEET_URL"));
    store_set_missing(&store->user, getenv("DWELL_FLEET_USER"));
    store_set_missing(&store->password, getenv("DWELL_FLEET_PASSWORD"));
    store_set_missing(&store->database, getenv("DWELL_FLEET_DATABASE"));
    store_set_missing(&store->ca, getenv("DWELL_FLEET_CA"));
    if (!store_read_config(store, error))
        return false;
    store_set_missing(&store->database, "dwell");
    store->tries = store->tries ? store->tries : 6;
    store->first_wait = store->first_wait ? store->first_wait : 250;
    if (!store->url)
        return error_set(error, "no server is known: give --url http://HOST:8123, DWELL_FLEET_URL, or a line "
                                "'url = ...' in ~/.config/dwell/fleet");
    return store_check_url(store->url, error) && store_check_database(store->database, error) &&
           store_check_ca(store->ca, error) && store_check_header("user", store->user, error) &&
           store_check_header("password", store->password, error);
}

bool fleet_store_read_password(struct fleet_store *store, const char *path, struct error *error)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    if (!file || !store_check_mode(file, path, error) || getline(&line, &room, file) < 0) {
        if (!error->text)
            error_set(error, "%s: %s", path, file ? "holds no password" : strerror(errno));
        free(line);
        if (file)
            fclose(file);
        return false;
    }
    store_warn_of_readers(file, path);
    fclose(file);
    line[strcspn(line, "\r\n")] = 0;
    free(store->password);
    store->password = line;
    return true;
}

void fleet_store_drop(struct fleet_store *store)
{
    free(store->url);
    free(store->user);
    free(store->password);
    free(store->database);
    free(store->ca);
}

/* ---- requests ---- */

static void store_wait(const struct fleet_store *store, unsigned attempt)
{
    const unsigned long ms = store->first_wait << (attempt < 8 ? attempt : 8);
    const struct timespec time = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 };
    nanosleep(&time, NULL);
}

static FILE *store_open_answer(struct error *error)
{
    FILE *answer = tmpfile();
    if (!answer)
        error_set(error, "a temporary file: %s", strerror(errno));
    return answer;
}

/* A try: returns the answer if the request was done, and sets *ended. */
static FILE *store_try(const struct fleet_store *store, const struct http_request *request, enum http_end *ended,
                       struct error *error)
{
    struct error reason = { NULL };
    FILE *answer = store_open_answer(error);
    *ended = HTTP_REFUSED;
    if (!answer)
        return NULL;
    *ended = http_post(request, answer, &reason);
    if (*ended == HTTP_DONE) {
        rewind(answer);
        return answer;
    }
    fclose(answer);
    error_drop(error);
    error_set(error, "%s: %s", store->url, reason.text);
    error_drop(&reason);
    return NULL;
}

/* The address of requests, whose answers come when they are complete: an error is never behind a part of an answer. */
static char *store_url(const struct fleet_store *store, const char *settings)
{
    return need_text("%s/?wait_end_of_query=1%s", store->url, settings);
}

static struct http_request store_request(const struct fleet_store *store, const char *url)
{
    return (struct http_request){
        .url = url,
        .user = store->user,
        .password = store->password,
        .ca = store->ca,
        .seconds = SLOW_SECONDS,
        .most_seconds = MOST_SECONDS,
        .cancelled = store->cancelled,
    };
}

/* ClickHouse's limit is on the part that it parses. A user who may set nothing has the limit of the profile. */
static void store_explain_size(const struct fleet_store *store, const char *text, struct error *error)
{
    if (!store->plain || !error->text || !strstr(error->text, "query size exceeded"))
        return;
    error_drop(error);
    error_set(error,
              "%s: this user's profile is readonly and takes no question of %zu bytes: choose fewer runs, or raise the "
              "profile's max_query_size",
              store->url, strlen(text));
}

static FILE *store_ask_text(const struct fleet_store *store, char *text, struct error *error)
{
    char *url = store_url(store, store->plain ? "" : "&max_query_size=1000000000&enable_http_compression=1&readonly=2");
    struct http_request request = store_request(store, url);
    request.body = text;
    request.length = strlen(text);
    enum http_end ended = HTTP_UNSURE;
    FILE *answer = NULL;
    for (unsigned i = 0; !answer && i < store->tries && ended == HTTP_UNSURE; i++) {
        if (i)
            store_wait(store, i - 1);
        answer = store_try(store, &request, &ended, error);
    }
    if (answer)
        error_drop(error);
    else
        store_explain_size(store, text, error);
    free(url);
    free(text);
    return answer;
}

FILE *fleet_ask(const struct fleet_store *store, struct error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = need_vtext(format, arguments);
    va_end(arguments);
    return store_ask_text(store, text, error);
}

bool fleet_end_answer(const struct fleet_store *store, struct binary_reader *r, struct error *error)
{
    fclose(r->in);
    return !r->broken || error_set(error, "%s: its answer is incomplete or wrong", store->url);
}

static bool store_post(const struct fleet_store *store, const struct http_request *request, fleet_prepare *prepare,
                       void *context, struct error *error)
{
    enum http_end ended = HTTP_UNSURE;
    for (unsigned i = 0; i < store->tries && ended == HTTP_UNSURE; i++) {
        if (i)
            store_wait(store, i - 1);
        if (prepare)
            prepare(context, i);
        FILE *answer = store_try(store, request, &ended, error);
        if (answer)
            fclose(answer);
    }
    if (ended != HTTP_DONE)
        return false;
    error_drop(error);
    return true;
}

bool fleet_run(const struct fleet_store *store, struct error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = need_vtext(format, arguments), *url = store_url(store, "");
    va_end(arguments);
    struct http_request request = store_request(store, url);
    request.body = text;
    request.length = strlen(text);
    const bool good = store_post(store, &request, NULL, NULL, error);
    free(url);
    free(text);
    return good;
}

/* The rows of an insert, compressed anew for each try. */
struct store_rows {
    const void *rows;
    size_t length;
    struct http_request *request;
    char *compressed;
    fleet_prepare *prepare;
    void *context;
};

static void store_compress(void *context, unsigned attempt)
{
    struct store_rows *r = context;
    size_t length;
    if (r->prepare)
        r->prepare(r->context, attempt);
    free(r->compressed);
    FILE *out = need_stream(&r->compressed, &length);
    struct gzip *gzip = gzip_begin(out);
    gzip_write(gzip, r->rows, r->length);
    gzip_end(gzip);
    need_stream_end(out);
    r->request->body = r->compressed;
    r->request->length = length;
}

bool fleet_insert(const struct fleet_store *store, const char *table, const void *rows, size_t length,
                  fleet_prepare *prepare, void *context, struct error *error)
{
    char *settings = need_text("&insert_distributed_sync=1&query=INSERT%%20INTO%%20%s.%s%%20FORMAT%%20RowBinary",
                               store->database, table);
    char *url = store_url(store, settings);
    struct http_request request = store_request(store, url);
    request.compressed = true;
    struct store_rows r = {
        .rows = rows, .length = length, .request = &request, .prepare = prepare, .context = context
    };
    const bool good = store_post(store, &request, store_compress, &r, error);
    free(r.compressed);
    free(settings);
    free(url);
    return good;
}

char *fleet_sql_text(const char *text)
{
    char *digits = need_hex(text, strlen(text)), *expression = need_text("unhex('%s')", digits);
    free(digits);
    return expression;
}
