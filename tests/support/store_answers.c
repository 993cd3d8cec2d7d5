/* Prepares the answers of a fleet's store. */
#include "support/store_answers.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

void answers_start(struct answers *a, const struct binary_rows *rows, size_t count)
{
    cr_assert(le(sz, count, ANSWERS_MOST));
    *a = (struct answers){ .count = count };
    for (size_t i = 0; i < count; i++) {
        FILE *out = need_stream(&a->texts[i], &a->lengths[i]);
        fprintf(out, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", rows[i].length);
        if (rows[i].length)
            fwrite(rows[i].bytes, 1, rows[i].length, out);
        need_stream_end(out);
    }
    a->stub = http_stub_start_bytes((const char *const *)a->texts, a->lengths, count);
    a->store =
        (struct fleet_store){ .url = (char *)http_stub_url(a->stub), .database = (char *)"somewhere", .tries = 1 };
}

void answers_stop(struct answers *a)
{
    http_stub_stop(a->stub);
    for (size_t i = 0; i < a->count; i++)
        free(a->texts[i]);
}

void answers_check(bool good, struct error *error, const char *expected)
{
    cr_assert(eq(int, good, expected == NULL), "%s", error->text);
    cr_assert(eq(int, error->text == NULL, good), "%s", error->text);
    cr_assert(good || strstr(error->text, expected), "'%s' has no '%s'", error->text, expected);
    error_drop(error);
}

void answers_drop_rows(struct binary_rows *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        binary_drop(&rows[i]);
}

void answers_put_module(struct binary_rows *rows, uint64_t module)
{
    binary_put(rows, module, 8);
    binary_put_text(rows, "/bin/shop");
    binary_put_text(rows, "id");
}

void answers_put_function(struct binary_rows *rows, uint64_t module, uint64_t address, uint64_t function,
                          const char *name)
{
    binary_put(rows, module, 8);
    binary_put(rows, address, 8);
    binary_put(rows, function, 8);
    binary_put_text(rows, name);
    binary_put_text(rows, name);
    binary_put_text(rows, "main");
    binary_put(rows, 3, 4);
}

static void answers_put_numbers(struct binary_rows *rows, size_t count, uint64_t number)
{
    for (size_t i = 0; i < count; i++)
        binary_put(rows, number, 8);
    binary_put_double(rows, 0);
}

void answers_put_own(struct binary_rows *rows, uint64_t number)
{
    answers_put_numbers(rows, OWN_NUMBERS, number);
}

void answers_put_inclusive(struct binary_rows *rows, uint64_t number)
{
    answers_put_numbers(rows, INCLUSIVE_NUMBERS, number);
}
