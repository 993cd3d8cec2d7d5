/* Where only windows of slow calls are kept: gives the space of processes that have ended to others. */
#ifndef DWELL_RECORDER_KEEP_RECLAIM_H
#define DWELL_RECORDER_KEEP_RECLAIM_H

#include <stddef.h>
#include <stdint.h>

#include "recorder/process_watch.h"
#include "session.h"

struct keep_reclaim {
    const struct session *session;
    int fd;
    const char *path;            /* of the session */
    struct process_watch *watch; /* owned by the caller */
    uint32_t *gone;              /* processes that have ended, and of which the session has chunks; sorted */
    size_t gone_count, gone_room;
    uint64_t crumbs; /* bytes of free chunks that are too small to be offered */
};

/*
 * Frees the chunks of ended processes that are outside of windows, and offers free chunks to all writers (offers.h). Of
 * a process without a window, nothing stays. If the newest windows are wanted and there is too little space left, the
 * oldest ones make room, whichever process they are of.
 *
 * A chunk is offered by the call after the one that freed it, of either function, as somebody may be reading it.
 */
void keep_reclaim(struct keep_reclaim *r);

/* Offers free chunks, and frees none. */
void keep_reclaim_offer(struct keep_reclaim *r);

/* Whether the session has so much that this is worthwhile. */
bool keep_reclaim_is_due(const struct session *session);

/* Frees what `r` holds. */
void keep_reclaim_end(struct keep_reclaim *r);

#endif
