/* Sends the names of a session's functions and modules. */
#ifndef DWELL_FLEET_PUSH_NAMES_H
#define DWELL_FLEET_PUSH_NAMES_H

#include "fleet/session_sums.h"
#include "fleet/store.h"

/* Sends the names that the store lacks. Each name of a build travels once; a name that is sent twice does no harm. Sets
 * *sent to the number of functions. */
bool fleet_push_names(const struct fleet_store *store, const struct fleet_session *session, uint64_t *sent,
                      struct error *error);

#endif
