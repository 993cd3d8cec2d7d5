/* Decisions of an overhead budget, as records of the session. */
#ifndef DWELL_RECORDER_BUDGET_RECORDS_H
#define DWELL_RECORDER_BUDGET_RECORDS_H

#include "dwell/format_levels.h"
#include "session.h"

/* A chunk that is being written. Zero at first. */
struct budget_records {
    struct dwell_chunk_header *chunk;
    uint32_t used;
};

/* Adds a decision about a function of that process. It is not recorded if the session has no room. */
void budget_records_add(struct budget_records *r, const struct session *session, int fd, uint32_t process,
                        struct dwell_rec_decision decision);

/* Ends the chunk. */
void budget_records_end(struct budget_records *r);

#endif
