/* A folder of sums that wait until the store takes them. Each is a file of its own, which is there as a whole or not.
 */
#ifndef DWELL_FLEET_SPOOL_H
#define DWELL_FLEET_SPOOL_H

#include "fleet/push.h"
#include "sums/sums.h"

/* The usual folder for deltas to this store: $XDG_STATE_HOME/dwell/spool/ and a number of its URL and database. The
 * caller frees it. */
char *fleet_spool_usual(const struct fleet_store *store);

/* Makes the folder and those above it. Only the user may read it. */
bool fleet_spool_make(const char *folder, struct error *error);

/* The path of a new file: a later `time` (ns since 1970) is later in the order. The caller frees it. */
char *fleet_spool_name(const char *folder, uint64_t time, const uint64_t session_id[2], uint32_t number);

/* Writes the sums to a file of that path, which is there when it is complete. Returns NULL or an error message. */
const char *fleet_spool_write(struct sums *sums, const char *path);

/* Removes the oldest files until the rest has at most `limit` bytes of the disk. Returns how many it removed. */
uint64_t fleet_spool_trim(const char *folder, uint64_t limit);

uint64_t fleet_spool_count(const char *folder);

/* Pushes the files, the oldest first, and removes those that the store has. Other processes may do so at the same time.
 * Stops at the first error of the store. A file that cannot be read stays, and is the error at the end. */
bool fleet_spool_push(const char *folder, const struct fleet_store *store, const struct fleet_labels *labels,
                      uint64_t *pushed, struct error *error);

#endif
