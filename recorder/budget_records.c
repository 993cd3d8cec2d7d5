/* Writes the decisions of an overhead budget into metadata chunks of the recorder's own. */
#include "recorder/budget_records.h"

#include <stddef.h>
#include <string.h>

enum { RECORDS_CHUNK = 4 * DWELL_UNIT };

void budget_records_end(struct budget_records *r)
{
    if (!r->chunk)
        return;
    __atomic_store_n(&r->chunk->used, r->used, __ATOMIC_RELEASE);
    session_unmap(r->chunk, RECORDS_CHUNK);
    r->chunk = NULL;
}

static bool budget_records_begin(struct budget_records *r, const struct session *session, int fd, uint32_t process)
{
    budget_records_end(r);
    if (session->header->limit_time)
        return false; /* recording has ended: see --max-size */
    const uint64_t offset = session_claim(session, fd, RECORDS_CHUNK);
    r->chunk = offset ? session_map(session, fd, offset, RECORDS_CHUNK) : NULL;
    if (!r->chunk)
        return false;
    r->used = sizeof *r->chunk;
    r->chunk->size = RECORDS_CHUNK;
    r->chunk->process = process;
    r->chunk->sequence = UINT32_MAX; /* read after the runtime's own */
    r->chunk->magic = DWELL_CHUNK_MAGIC;
    __atomic_store_n(&r->chunk->kind, DWELL_CHUNK_METADATA, __ATOMIC_RELEASE);
    return true;
}

void budget_records_add(struct budget_records *r, const struct session *session, int fd, uint32_t process,
                        struct dwell_rec_decision decision)
{
    const bool fits = r->chunk && r->chunk->process == process && r->used + sizeof decision <= RECORDS_CHUNK;
    if (!fits && !budget_records_begin(r, session, fd, process))
        return;
    struct dwell_rec_decision *at = (struct dwell_rec_decision *)((char *)r->chunk + r->used);
    *at = decision;
    at->record.size = sizeof decision;
    __atomic_store_n(&at->record.type, DWELL_REC_DECISION, __ATOMIC_RELEASE);
    r->used += sizeof decision;
}
