/*
 * The objects that descriptors refer to: what a read waits for, and whose waits a write ends. An object is looked up
 * once for each number of a descriptor, until a call gives the number to another one.
 */
#ifndef DWELL_DESCRIPTORS_H
#define DWELL_DESCRIPTORS_H

#include <stddef.h>

#include "objects.h"

#pragma GCC visibility push(hidden)

/* The object of a call, before the call: it waits on the descriptor only; it reads; it writes; it closes. Unknown if
 * nothing of the kind is recorded. */
struct object descriptor_waited(int fd);
struct object descriptor_read(int fd);
struct object descriptor_written(int fd);
struct object descriptor_closed(int fd);

/* The object at an address to which a call connects, or sends. Unknown if it may be on another machine. */
struct object descriptor_at_address(int fd, const void *address, size_t size, bool connects);

/* The locks of the descriptor's file, after a call that has taken one, or released one. `of`: which part of the
 * file; zero: all of it. DESCRIPTOR_FLOCK: its lock of flock, which has nothing to do with the others. */
enum { DESCRIPTOR_FLOCK = 2 };
struct object descriptor_locked(int fd, uint64_t of, bool released);

/* The queue of messages that a descriptor means, for a call that sends, or receives. */
struct object descriptor_queue(int fd, bool sends);

/* The call has waited: brings the object up to date, and has its name recorded. */
void descriptor_check(int fd, struct object *object);

/* The descriptor has another name from now on. Does nothing for negative ones. */
void descriptor_change(int fd);

/* The number means no known object from now on: it is closed, or another descriptor's. */
void descriptor_forget(int fd);

/* The calling function has made the descriptor. */
void descriptor_made(int fd);

/* `to` means what `from` does, so who has made that has made both. */
void descriptor_copied(int from, int to);

/* The calling function has made a pipe, or two sockets that are connected. */
void descriptor_pipe(const int ends[2]);
void descriptor_pair(const int ends[2]);

/* The epoll descriptor reports `fd` by these data; which one that is, or -1. */
void descriptor_add_member(int epoll, int fd, uint64_t data);
int descriptor_find_member(int epoll, uint64_t data);

#pragma GCC visibility pop

#endif
