/*
 * The open connections of a server, so that connections of strangers cannot keep its owner out. Every user of the
 * machine can connect to a port of 127.0.0.1, and then send nothing, or a byte now and then.
 *
 * A connection counts as the owner's once it has sent a request with the token. When too many are open, the oldest one
 * of the others is cut; if all are the owner's, the one that was idle longest. A stranger's is also cut when it has
 * sent no request in time and another connection arrives. Not thread-safe.
 */
#ifndef DWELL_VIEW_CONNECTIONS_H
#define DWELL_VIEW_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_CONNECTIONS = 48, MAX_SECONDS_UNKNOWN = 10 };

struct connection;

struct connections {
    struct connection *first; /* the order does not matter */
    size_t count;             /* of those that are not cut */
};

/* Adds a connection with this socket, at a time in seconds, after it has cut those that have to go. The socket stays
 * the caller's: a cut one is shut down, so that reading ends. */
struct connection *connections_add(struct connections *all, int fd, uint64_t now);

/* The connection has sent a request with the token. */
void connection_know(struct connection *c, uint64_t now);

/* Frees the connection when its socket is closed. */
void connections_remove(struct connections *all, struct connection *c);

#endif
