/*
 * The HTTP server of `dwell view --live`. It serves the page and the latest session to clients that know the token, on
 * 127.0.0.1 only.
 */
#ifndef DWELL_VIEW_PAGE_PAGE_SERVER_H
#define DWELL_VIEW_PAGE_PAGE_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "view/page_session.h"

struct server;

/* Starts a thread that serves until the program ends. Port 0 means any free port. The page requests the session every
 * `interval` milliseconds. Returns NULL and sets the error if the port cannot be used. */
struct server *server_start(uint16_t port, unsigned interval, struct error *error);

/* The page's URL with the token. */
const char *server_address(const struct server *server);

/* Serves this session from now on, and takes ownership of it. */
void server_show(struct server *server, struct view_session *session);

/* Sends this error to pages that already have the latest session, until server_show serves another session. */
void server_fail(struct server *server, const char *why);

#endif
