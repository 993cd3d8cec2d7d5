/* Requests to the store: what they hold, which are repeated, and how they fail. A prepared server answers. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/memory.h"
#include "fleet/store.h"
#include "support/http_stub.h"
#include "support/scenario.h"

#define OK "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"
#define FAILURE(status, text) "HTTP/1.1 " status " x\r\nConnection: close\r\n\r\n" text

static void store_begin(void)
{
    if (http_missing())
        cr_skip_test("%s", http_missing());
}

TestSuite(unit_fleet_store, .init = store_begin, .timeout = 300);

static struct fleet_store store_of(const struct http_stub *stub, unsigned tries)
{
    return (struct fleet_store){ .url = (char *)http_stub_url(stub),
                                 .user = "the user",
                                 .password = "a secret",
                                 .database = "somewhere",
                                 .tries = tries,
                                 .first_wait = 1 };
}

static void store_check_answer(FILE *answer, const char *expected)
{
    char text[64] = "";
    cr_assert(answer != NULL);
    text[fread(text, 1, sizeof text - 1, answer)] = 0;
    cr_assert(eq(str, text, (char *)expected));
    fclose(answer);
}

Test(unit_fleet_store, a_question_has_its_user_in_headers_and_its_text_in_the_body)
{
    const char *answers[] = { OK };
    struct http_stub *stub = http_stub_start(answers, 1);
    const struct fleet_store store = store_of(stub, 1);
    struct error error = { NULL };
    store_check_answer(fleet_ask(&store, &error, "SELECT %d", 7), "ok");
    const struct stub_request *r = http_stub_wait(stub);
    cr_assert(strncmp(r->head, "POST /?wait_end_of_query=1&", 27) == 0, "%s", r->head);
    cr_assert(strstr(r->head, "\r\nX-ClickHouse-User: the user\r\n") != NULL);
    cr_assert(strstr(r->head, "\r\nX-ClickHouse-Key: a secret\r\n") != NULL);
    cr_assert(strstr(r->head, "secret") == strstr(r->head, "Key: a secret") + 7, "only there");
    cr_assert(eq(str, (char *)r->body, "SELECT 7"));
    cr_assert(error.text == NULL);
    http_stub_stop(stub);
}

Test(unit_fleet_store, failures_that_pass_are_repeated)
{
    const char *answers[] = { FAILURE("503", "busy\n"), "", FAILURE("500", "Code: 279, all connections failed\n"),
                              "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok", OK };
    struct http_stub *stub = http_stub_start(answers, 5);
    const struct fleet_store store = store_of(stub, 5);
    struct error error = { NULL };
    store_check_answer(fleet_ask(&store, &error, "SELECT 1"), "ok");
    const struct stub_request *requests = http_stub_wait(stub);
    for (int i = 0; i < 5; i++)
        cr_assert(eq(str, (char *)requests[i].body, "SELECT 1"));
    cr_assert(error.text == NULL);
    http_stub_stop(stub);
}

Test(unit_fleet_store, other_failures_are_not_repeated)
{
    static const char *const refusals[] = { FAILURE("500", "Code: 62, e.displayText() = Syntax error\nmore\n"),
                                            FAILURE("401", "Code: 193, Wrong password\n"),
                                            FAILURE("404", "Code: 60, no table\n") };
    static const char *const messages[] = { "the server answered 500: Code: 62, e.displayText() = Syntax error",
                                            "the server answered 401: Code: 193, Wrong password",
                                            "the server answered 404: Code: 60, no table" };
    for (int i = 0; i < 3; i++) {
        struct http_stub *stub = http_stub_start(&refusals[i], 1);
        const struct fleet_store store = store_of(stub, 5);
        struct error error = { NULL };
        cr_assert(fleet_run(&store, &error, "CREATE") == false);
        char *expected = need_text("%s: %s", store.url, messages[i]);
        cr_assert(eq(str, error.text, expected));
        free(expected);
        error_drop(&error);
        http_stub_stop(stub);
    }
}

/* Users of the profile readonly have its limit, and nobody else meets one. */
Test(unit_fleet_store, a_question_that_is_too_long_for_the_profile_is_explained)
{
    const char *answers[] = { FAILURE("500", "Code: 62, Syntax error: 262145: ,1,1. Max query size exceeded\n") };
    struct http_stub *stub = http_stub_start(answers, 1);
    struct fleet_store store = store_of(stub, 5);
    struct error error = { NULL };
    store.plain = true;
    cr_assert(fleet_ask(&store, &error, "SELECT 1") == NULL);
    char *expected = need_text("%s: this user's profile is readonly and takes no question of 8 bytes: choose fewer "
                               "runs, or raise the profile's max_query_size",
                               store.url);
    cr_assert(eq(str, error.text, expected));
    free(expected);
    error_drop(&error);
    http_stub_stop(stub);
}

Test(unit_fleet_store, a_server_that_does_not_answer_is_an_error)
{
    const char *answers[] = { "", "" };
    struct http_stub *stub = http_stub_start(answers, 2);
    const struct fleet_store store = store_of(stub, 4);
    struct error error = { NULL };
    cr_assert(fleet_ask(&store, &error, "SELECT 1") == NULL);
    cr_assert(strncmp(error.text, store.url, strlen(store.url)) == 0, "%s", error.text);
    cr_assert(strchr(error.text, '\n') == NULL);
    error_drop(&error);
    http_stub_stop(stub);
}

struct tried {
    unsigned char rows[5];
    unsigned tries;
};

static void store_prepare(void *context, unsigned attempt)
{
    struct tried *t = context;
    t->rows[0] = (unsigned char)('a' + attempt);
    t->tries++;
}

/* The rows of a try differ from those of the one before, which may have arrived. */
Test(unit_fleet_store, each_try_of_an_insert_has_rows_of_its_own)
{
    const char *answers[] = { FAILURE("503", "busy\n"), "", OK };
    struct http_stub *stub = http_stub_start(answers, 3);
    const struct fleet_store store = store_of(stub, 5);
    struct tried t = { .rows = "_row" };
    struct error error = { NULL };
    cr_assert(fleet_insert(&store, "paths", t.rows, 4, store_prepare, &t, &error));
    const struct stub_request *requests = http_stub_wait(stub);
    for (int i = 0; i < 3; i++) {
        unsigned char rows[16] = "";
        z_stream z = { .next_in = requests[i].body,
                       .avail_in = (unsigned)requests[i].length,
                       .next_out = rows,
                       .avail_out = sizeof rows };
        cr_assert(inflateInit2(&z, 31) == Z_OK && inflate(&z, Z_FINISH) == Z_STREAM_END);
        inflateEnd(&z);
        cr_assert(eq(int, rows[0], 'a' + i));
        cr_assert(eq(str, (char *)rows + 1, "row"));
        cr_assert(strstr(requests[i].head, "Content-Encoding: gzip\r\n") != NULL);
        cr_assert(strstr(requests[i].head, "insert_distributed_sync=1&query=INSERT%20INTO%20somewhere.paths%20") !=
                  NULL);
    }
    cr_assert(eq(u32, t.tries, 3));
    http_stub_stop(stub);
}

static char *store_find_error(const char *url, const char *database)
{
    struct fleet_store store = { .url = need_copy(url, strlen(url)),
                                 .database = need_copy(database, strlen(database)) };
    struct error error = { NULL };
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    cr_assert(fleet_store_find(&store, &error) == (error.text == NULL));
    fleet_store_drop(&store);
    return error.text;
}

Test(unit_fleet_store, urls_and_databases_are_checked)
{
    static const char *const wrong[] = { "localhost", "ftp://host", "http://", "http://user:word@host",
                                         "http://h/?a=b" };
    for (int i = 0; i < 5; i++) {
        char *text = store_find_error(wrong[i], "dwell");
        cr_assert(text != NULL, "%s", wrong[i]);
        cr_assert(strstr(text, "word@") == NULL, "%s", text);
        free(text);
    }
    static const char *const databases[] = { "a.b", "a b", "a;b", "`", "" };
    for (int i = 0; i < 5; i++) {
        char *text = store_find_error("http://host:1", databases[i]);
        cr_assert(text != NULL, "%s", databases[i]);
        free(text);
    }
    cr_assert(store_find_error("https://host:1/path", "dwell_2") == NULL);
}

/* A file with the line ends of Windows. */
Test(unit_fleet_store, blanks_around_values_are_no_part_of_them)
{
    struct fleet_store store = { 0 };
    struct error error = { NULL };
    setenv("XDG_CONFIG_HOME", test_folder(), 1);
    cr_assert(mkdir(test_path("dwell"), 0700) == 0);
    FILE *file = fopen(test_path("dwell/fleet"), "w");
    fputs("url = http://host:1 \r\n\r\n user\t=  the user\t\r\npassword = a secret\r\n", file);
    fclose(file);
    cr_assert(fleet_store_find(&store, &error), "%s", error.text);
    cr_assert(eq(str, store.url, "http://host:1"));
    cr_assert(eq(str, store.user, "the user"));
    cr_assert(eq(str, store.password, "a secret"));
    fleet_store_drop(&store);
}

Test(unit_fleet_store, what_becomes_a_header_has_no_control_characters)
{
    static const char *const wrong[][2] = { { "DWELL_FLEET_USER", "me\r\nX-Other: 1" },
                                            { "DWELL_FLEET_PASSWORD", "a\rsecret" },
                                            { "DWELL_FLEET_URL", "http://host:1/\r" } };
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct fleet_store store = { 0 };
        struct error error = { NULL };
        setenv("DWELL_FLEET_URL", "http://host:1", 1);
        setenv(wrong[i][0], wrong[i][1], 1);
        cr_assert(fleet_store_find(&store, &error) == false, "%s", wrong[i][0]);
        cr_assert(strstr(error.text, "secret") == NULL, "%s", error.text);
        unsetenv(wrong[i][0]);
        error_drop(&error);
        fleet_store_drop(&store);
    }
}

static void store_write(const char *path, mode_t mode, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    cr_assert(fchmod(fileno(file), mode) == 0);
    fclose(file);
}

Test(unit_fleet_store, files_that_others_may_write_to_are_not_read)
{
    static const mode_t wrong[] = { 0666, 0620, 0602 }, right[] = { 0600, 0400, 0644 /* with a warning */ };
    setenv("XDG_CONFIG_HOME", test_folder(), 1);
    cr_assert(mkdir(test_path("dwell"), 0700) == 0);
    for (size_t i = 0; i < 3; i++) {
        struct fleet_store store = { 0 };
        struct error error = { NULL };
        store_write(test_path("dwell/fleet"), wrong[i], "url = http://host:1\npassword = a secret\n");
        store_write(test_path("secret"), wrong[i], "a secret\n");
        cr_assert(fleet_store_find(&store, &error) == false, "%o", wrong[i]);
        cr_assert(strstr(error.text, "dwell/fleet: others may write to it, so it is not read; chmod 600 it") != NULL);
        error_drop(&error);
        cr_assert(fleet_store_read_password(&store, test_path("secret"), &error) == false, "%o", wrong[i]);
        cr_assert(strstr(error.text, "secret: others may write to it, so it is not read; chmod 600 it") != NULL);
        cr_assert(store.password == NULL);
        error_drop(&error);
        fleet_store_drop(&store);
        unlink(test_path("dwell/fleet"));
        unlink(test_path("secret"));
        store_write(test_path("dwell/fleet"), right[i], "url = http://host:1\npassword = a secret\n");
        store_write(test_path("secret"), right[i], "another\n");
        cr_assert(fleet_store_find(&store, &error), "%s", error.text);
        cr_assert(eq(str, store.password, "a secret"));
        cr_assert(fleet_store_read_password(&store, test_path("secret"), &error), "%s", error.text);
        cr_assert(eq(str, store.password, "another"));
        fleet_store_drop(&store);
    }
}

/* Without an end of them, the test would not end either. */
static void store_check_drip(size_t bytes, struct http_request request)
{
    struct http_stub *stub = http_stub_start_dripping(bytes);
    struct error error = { NULL };
    FILE *answer = tmpfile();
    request.url = http_stub_url(stub);
    request.body = "";
    cr_assert(eq(int, http_post(&request, answer, &error), HTTP_UNSURE));
    cr_assert(error.text != NULL);
    error_drop(&error);
    fclose(answer);
    http_stub_stop(stub);
}

Test(unit_fleet_store, servers_that_drip_are_not_waited_for)
{
    store_check_drip(1, (struct http_request){ .seconds = 2 });
    store_check_drip(1000, (struct http_request){ .seconds = 200, .most_seconds = 3 });
}
