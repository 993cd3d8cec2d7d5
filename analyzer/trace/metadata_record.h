/* The records of a metadata chunk, one behind the other. */
#ifndef DWELL_TRACE_METADATA_RECORD_H
#define DWELL_TRACE_METADATA_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "dwell/format.h"

/* Reads the head of the record at `at`, the first one being behind the chunk's header. False after the last one, or if
 * the record is damaged: only then does *head have a type. */
static inline bool metadata_record_at(const uint8_t *chunk, uint32_t at, uint32_t end, struct dwell_record *head)
{
    *head = (struct dwell_record){ .type = 0 };
    if (at + sizeof *head > end)
        return false;
    memcpy(head, chunk + at, sizeof *head);
    return head->type != 0 && head->size >= sizeof *head && head->size % 8 == 0 && head->size <= end - at;
}

#endif
