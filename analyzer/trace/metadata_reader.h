/* Reads the parts of a record of metadata. For the files that read records. */
#ifndef DWELL_TRACE_METADATA_READER_H
#define DWELL_TRACE_METADATA_READER_H

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "trace/session_file.h"

struct metadata_tables;

/* A record being read: its fixed part, then strings one after another. */
struct metadata_reader {
    struct session_file *file;
    uint32_t process; /* of the chunk */
    const uint8_t *record;
    uint32_t size;
    uint32_t next; /* offset of the next string */
    bool bad;
    struct metadata_tables *tables;
};

struct metadata_string {
    const char *at;
    size_t length;
};

static inline struct metadata_string metadata_next_string(struct metadata_reader *r)
{
    struct metadata_string s = { "", 0 };
    uint16_t length;
    if (r->next + sizeof length > r->size) {
        r->bad = true;
        return s;
    }
    memcpy(&length, r->record + r->next, sizeof length);
    if (r->next + sizeof length + length > r->size) {
        r->bad = true;
        return s;
    }
    s = (struct metadata_string){ (const char *)r->record + r->next + sizeof length, length };
    r->next += (uint32_t)(sizeof length + length);
    return s;
}

static inline char *metadata_next_text(struct metadata_reader *r)
{
    struct metadata_string s = metadata_next_string(r);
    return need_copy(s.at, s.length);
}

/* Copies the fixed part. Returns false if the record is shorter. */
static inline bool metadata_read_fixed(struct metadata_reader *r, void *into, size_t size)
{
    if (r->size < size) {
        r->bad = true;
        return false;
    }
    memcpy(into, r->record, size);
    r->next = (uint32_t)size;
    return true;
}

#define TAKE(r, into) metadata_read_fixed((r), &(into), sizeof(into))

static inline void metadata_replace_text(char **text, char *by)
{
    free(*text);
    *text = by;
}

/* metadata_sums.c */
void metadata_read_host(struct metadata_reader *r);
void metadata_read_summed(struct metadata_reader *r);
void metadata_read_object_name(struct metadata_reader *r);
void metadata_read_label(struct metadata_reader *r);

#endif
