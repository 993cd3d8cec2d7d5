/* Reads pages of `dwell view` as docs/view-format.md describes them. The reader shares no code with the writer. */
#ifndef DWELL_TESTS_VIEWED_H
#define DWELL_TESTS_VIEWED_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct viewed {
    struct json_object *header;
    uint8_t *bytes; /* the whole container, uncompressed */
    size_t length;
    size_t columns; /* where the columns begin */
};

/* These fail the test if the container is invalid. */
struct viewed viewed_plain(const void *bytes, size_t length);
struct viewed viewed_packed(const void *bytes, size_t length); /* compressed by gzip */
void viewed_drop(struct viewed *v);

size_t viewed_rows(const struct viewed *v, const char *table);
const char *viewed_type(const struct viewed *v, const char *table, const char *column);
double viewed_number(const struct viewed *v, const char *table, const char *column, size_t row);

/* A member of the header or of an object. The test fails if it does not exist. */
struct json_object *viewed_get(struct json_object *object, const char *key);
const char *viewed_text(struct json_object *object, const char *key);

/* A part of a page: a session, or a block of a session. */
struct viewed_part {
    char kind[16];
    unsigned session, block;
    struct viewed content;
};

struct viewed_page {
    struct viewed_part *parts;
    size_t count;
};

struct viewed_page viewed_page(const char *path);
void viewed_page_drop(struct viewed_page *page);

/* The session's own part, and its block of that number. */
const struct viewed *viewed_session(const struct viewed_page *page, unsigned session);
const struct viewed *viewed_block(const struct viewed_page *page, unsigned session, unsigned block);

#endif
