/*
 * A parser of PerfLog's grammar (docs/perflog.md). It reads a log and returns its lines as records, one after the
 * other. It keeps nothing between lines: perflog_log.h finds the header and the marker that a record belongs to.
 */
#ifndef DWELL_PERFLOG_PERFLOG_PARSER_H
#define DWELL_PERFLOG_PERFLOG_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/wide.h"

enum perflog_kind {
    PERFLOG_FIELD,       /* of a header: `name` and `text` */
    PERFLOG_APP,         /* REGISTERED APP: `app`, and `number` is the process' id if `known` */
    PERFLOG_RESOLUTION,  /* `number` ticks per second, never zero */
    PERFLOG_MARKER,      /* `text` as `id` by `app` */
    PERFLOG_DURATION,    /* of `id`: `number` ticks */
    PERFLOG_NAMED,       /* a duration of the marker `text`, which has no id: `number` ticks */
    PERFLOG_CPU,         /* `value` millionths of a percent */
    PERFLOG_MEMORY,      /* `value` millionths of a byte */
    PERFLOG_ERROR,       /* of `id`: its activation has failed */
    PERFLOG_ATTRIBUTE,   /* of `id`: `name` and `text` */
    PERFLOG_OTHER,       /* an event of the unknown kind `name` */
    PERFLOG_CALIBRATION, /* only for the library */
    PERFLOG_BAD,         /* cannot be parsed because of `problem`, at `text` */
};

enum { PERFLOG_ID_CALIBRATION = 101, PERFLOG_ID_MEMORY, PERFLOG_ID_CPU };

/* Bytes of the line, not ended by a zero byte. */
struct perflog_text {
    const char *at;
    size_t length;
};

struct perflog_record {
    enum perflog_kind kind;
    uint64_t line; /* from 1 */
    struct perflog_text app, name, text;
    uint32_t id;
    bool known;
    uint64_t number;
    int128 value;
    const char *problem;
};

typedef void perflog_taker(const struct perflog_record *record, void *context);

/* Passes all records of the log to `take`, in their order. Texts are valid only during that call. Returns false and
 * sets errno if the log cannot be read to its end. */
bool perflog_read(FILE *in, perflog_taker *take, void *context);

#endif
