/* Asks the kernel which local socket is the other end of another one. */
#ifndef DWELL_SOCKET_PEER_H
#define DWELL_SOCKET_PEER_H

#include "common.h"

#pragma GCC visibility push(hidden)

enum socket_peer {
    SOCKET_PEER_UNKNOWN, /* the kernel does not say */
    SOCKET_PEER_LATER,   /* the other end has not been accepted yet */
    SOCKET_PEER_FOUND,
};

/* Sets *peer to the inode of the other end of the connected local socket with this inode. */
enum socket_peer socket_peer_find(uint32_t inode, uint32_t *peer);

#pragma GCC visibility pop

#endif
