/* Asks the kernel which object a descriptor refers to. */
#ifndef DWELL_DESCRIPTOR_IDENTITY_H
#define DWELL_DESCRIPTOR_IDENTITY_H

#include <stddef.h>

#include "common.h"
#include "dwell/format.h"

#pragma GCC visibility push(hidden)

struct identity {
    enum dwell_object kind; /* zero: unknown */
    uint32_t check;         /* of device and inode: another number is another object */
    uint64_t id;
    uint64_t peer; /* as in struct dwell_rec_descriptor */
    bool later;    /* the peer is not known yet */
};

enum { MAX_IDENTITY_NAME = 256 };

struct identity identity_find(int fd);

/* Only the check; zero if there is no such descriptor. */
uint32_t identity_check(int fd);

/* Writes the name, and returns its length. */
size_t identity_name(int fd, const struct identity *of, char name[MAX_IDENTITY_NAME]);

/* The object that sockets have which wait at this address of this machine. Unknown if it is another machine's. `fd`:
 * a socket of the same type, connected if `connects`. */
struct identity identity_of_address(int fd, const void *address, size_t size, bool connects);

#pragma GCC visibility pop

#endif
