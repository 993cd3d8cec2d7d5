/* Serves a page and the session that it shows, as it is at the moment, to whoever knows the token, on 127.0.0.1 alone.
 */
#ifndef DWELL_VIEW_SERVER_H
#define DWELL_VIEW_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "view/session.h"

struct server;

/* Port zero: one that is free. The page asks for news every `interval` milliseconds. Ends the program where it cannot
 * be. */
struct server *server_start(uint16_t port, unsigned interval);

/* Where the page is, with the token. */
const char *server_address(const struct server *server);

/* Takes the session, and serves it instead of the one before. */
void server_show(struct server *server, struct view_session *session);

void server_stop(struct server *server);

#endif
