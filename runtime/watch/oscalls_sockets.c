/* Interposed calls on sockets, on memory, and waiting for descriptors. See oscalls.c. */
#include "oscalls.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>

#include "levels/code_lock.h"
#include "shared_memory.h"

/* ---- sockets ---- */

/* The parameter is a union of pointers. */
#define SOCKET_ADDRESS(address) ((address).__sockaddr__)

OS_MADE(socket, (int domain, int type, int protocol), (domain, type, protocol))

INTERPOSED(socketpair);
DWELL_EXPORT OS_CALL_CODE int socketpair(int domain, int type, int protocol, int ends[2])
{
    typeof(socketpair) *real = os_call_next(&next_socketpair, "socketpair");
    const bool row = os_call_begin(OS_socketpair, __builtin_return_address(0));
    const int result = real(domain, type, protocol, ends);
    if (result == 0)
        descriptor_pair(ends);
    if (row)
        os_call_end(OS_socketpair);
    return result;
}

/* The socket's address, and so its object, changes. */
#define OS_ADDRESS(name, parameters, arguments)                                                                        \
    OS_CALL_ON_DESCRIPTOR(true, fd, (struct object){ 0 }, descriptor_change(fd), descriptor_change(fd), false, name,   \
                          int, name, parameters, arguments)

OS_ADDRESS(bind, (int fd, __CONST_SOCKADDR_ARG address, socklen_t size), (fd, address, size))
OS_ADDRESS(listen, (int fd, int backlog), (fd, backlog))

#define OS_ACCEPT(name, parameters, arguments)                                                                         \
    OS_CALL_ON_DESCRIPTOR(true, fd, descriptor_waited(fd), NOTHING, descriptor_made(value_), value_ >= 0, name, int,   \
                          name, parameters, arguments)

OS_ACCEPT(accept, (int fd, __SOCKADDR_ARG address, socklen_t *size), (fd, address, size))
OS_ACCEPT(accept4, (int fd, __SOCKADDR_ARG address, socklen_t *size, int flags), (fd, address, size, flags))

/* It acts on the socket that listens at the address. Which address the own socket has is known only afterwards. */
INTERPOSED(connect);
DWELL_EXPORT OS_CALL_CODE int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t size)
{
    typeof(connect) *real = os_call_next(&next_connect, "connect");
    descriptor_change(fd);
    if (!os_call_begin(OS_connect, __builtin_return_address(0)))
        return real(fd, address, size);
    const int result = real(fd, address, size);
    const int error = errno;
    descriptor_change(fd);
    struct object object = descriptor_at_address(fd, SOCKET_ADDRESS(address), size, true);
    if (!object.kind)
        object = descriptor_waited(fd);
    os_call_end_descriptor(OS_connect, object.acts ? -1 : fd, &object, result == 0 || error == EINPROGRESS);
    return result;
}

OS_CALL_ON_DESCRIPTOR(true, fd, descriptor_closed(fd), NOTHING, NOTHING, value_ == 0, shutdown, int, shutdown,
                      (int fd, int how), (fd, how))
OS_READ(ssize_t, recv, (int fd, void *buffer, size_t size, int flags), (fd, buffer, size, flags))
OS_READ(ssize_t, recvfrom, (int fd, void *buffer, size_t size, int flags, __SOCKADDR_ARG from, socklen_t *from_size),
        (fd, buffer, size, flags, from, from_size))
OS_READ(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
OS_READ(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *time),
        (fd, messages, count, flags, time))
OS_WRITE(ssize_t, send, (int fd, const void *buffer, size_t size, int flags), (fd, buffer, size, flags))

/* Where a socket sends to: to the given address, or else to the other end. */
static struct object socket_target(int fd, const void *address, size_t size)
{
    return address && size ? descriptor_at_address(fd, address, size, false) : descriptor_written(fd);
}

#define OS_SEND(name, address, size, parameters, arguments)                                                            \
    OS_CALL_ON_DESCRIPTOR(true, (address) && (size) ? -1 : fd, socket_target(fd, address, size), NOTHING, NOTHING,     \
                          value_ >= 0, name, ssize_t, name, parameters, arguments)

OS_SEND(sendto, SOCKET_ADDRESS(to), to_size,
        (int fd, const void *buffer, size_t size, int flags, __CONST_SOCKADDR_ARG to, socklen_t to_size),
        (fd, buffer, size, flags, to, to_size))
OS_SEND(sendmsg, message->msg_name, message->msg_namelen, (int fd, const struct msghdr *message, int flags),
        (fd, message, flags))
OS_WRITE(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags), (fd, messages, count, flags))

/* ---- waiting for descriptors ---- */

/* What such a call has waited for: the descriptor that is ready, if there is only one. */
struct ready {
    int fd, count;
    bool to_write;
};

static void ready_add(struct ready *r, int fd, bool to_read, bool to_write)
{
    if (!to_read && !to_write)
        return;
    r->fd = fd;
    r->to_write = to_write && !to_read;
    r->count++;
}

static void ready_end(enum os_call call, const struct ready *r)
{
    struct object object = { .kind = DWELL_OBJECT_SET };
    const bool one = r->count == 1 && r->fd >= 0;
    if (one && os_call_may_have_waited())
        object = descriptor_waited(r->fd);
    if (r->to_write)
        object.role = DWELL_ROLE_WAITED_FOR_ROOM;
    os_call_end_descriptor(call, one ? r->fd : -1, &object, true);
}

static struct ready ready_of_poll(const struct pollfd *fds, nfds_t count, int value)
{
    struct ready r = { -1, 0, false };
    for (nfds_t i = 0; value == 1 && i < count; i++)
        ready_add(&r, fds[i].fd, fds[i].revents & ~POLLOUT, fds[i].revents & POLLOUT);
    return r;
}

static struct ready ready_of_select(int count, const fd_set *to_read, const fd_set *to_write, const fd_set *others,
                                    int value)
{
    struct ready r = { -1, 0, false };
    for (int fd = 0; value == 1 && fd < count; fd++)
        ready_add(&r, fd, (to_read && FD_ISSET(fd, to_read)) || (others && FD_ISSET(fd, others)),
                  to_write && FD_ISSET(fd, to_write));
    return r;
}

static struct ready ready_of_epoll(int epoll, const struct epoll_event *events, int value)
{
    struct ready r = { -1, 0, false };
    if (value == 1)
        ready_add(&r, descriptor_find_member(epoll, events->data.u64), events->events & ~(uint32_t)EPOLLOUT,
                  events->events & EPOLLOUT);
    return r;
}

/* Looks at the descriptors only if the call may have waited. */
#define OS_WAITS_FOR_ANY(found, row, name, parameters, arguments)                                                      \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE int name parameters                                                                      \
    {                                                                                                                  \
        int(*real) parameters = (int(*) parameters)os_call_next(&next_##name, #name);                                  \
        if (!os_call_begin(OS_##row, __builtin_return_address(0)))                                                     \
            return real arguments;                                                                                     \
        const int value_ = real arguments;                                                                             \
        struct ready ready_ = { -1, 0, false };                                                                        \
        if (os_call_may_have_waited())                                                                                 \
            ready_ = found;                                                                                            \
        ready_end(OS_##row, &ready_);                                                                                  \
        return value_;                                                                                                 \
    }

#define OS_POLL(name, parameters, arguments)                                                                           \
    OS_WAITS_FOR_ANY(ready_of_poll(fds, count, value_), name, name, parameters, arguments)
#define OS_SELECT(name, parameters, arguments)                                                                         \
    OS_WAITS_FOR_ANY(ready_of_select(count, to_read, to_write, others, value_), name, name, parameters, arguments)
#define OS_EPOLL(name, parameters, arguments)                                                                          \
    OS_WAITS_FOR_ANY(ready_of_epoll(epoll, events, value_), name, name, parameters, arguments)

OS_POLL(poll, (struct pollfd * fds, nfds_t count, int time), (fds, count, time))
OS_POLL(ppoll, (struct pollfd * fds, nfds_t count, const struct timespec *time, const sigset_t *mask),
        (fds, count, time, mask))
OS_SELECT(select, (int count, fd_set *to_read, fd_set *to_write, fd_set *others, struct timeval *time),
          (count, to_read, to_write, others, time))
OS_SELECT(pselect,
          (int count, fd_set *to_read, fd_set *to_write, fd_set *others, const struct timespec *time,
           const sigset_t *mask),
          (count, to_read, to_write, others, time, mask))
OS_EPOLL(epoll_wait, (int epoll, struct epoll_event *events, int count, int time), (epoll, events, count, time))
OS_EPOLL(epoll_pwait, (int epoll, struct epoll_event *events, int count, int time, const sigset_t *mask),
         (epoll, events, count, time, mask))
OS_EPOLL(epoll_pwait2,
         (int epoll, struct epoll_event *events, int count, const struct timespec *time, const sigset_t *mask),
         (epoll, events, count, time, mask))
OS_MADE(epoll_create1, (int flags), (flags))

/* The members are kept even if the call is no row. */
INTERPOSED(epoll_ctl);
DWELL_EXPORT OS_CALL_CODE int epoll_ctl(int epoll, int operation, int fd, struct epoll_event *event)
{
    typeof(epoll_ctl) *real = os_call_next(&next_epoll_ctl, "epoll_ctl");
    const bool row = os_call_begin(OS_epoll_ctl, __builtin_return_address(0));
    const int result = real(epoll, operation, fd, event);
    if (result == 0 && operation != EPOLL_CTL_DEL)
        descriptor_add_member(epoll, fd, event->data.u64);
    if (row)
        os_call_end(OS_epoll_ctl);
    return result;
}

OS_READ(int, eventfd_read, (int fd, eventfd_t *value), (fd, value))
OS_WRITE(int, eventfd_write, (int fd, eventfd_t value), (fd, value))

/* ---- memory ---- */

/* What is mapped is known even if the call is no row. A private mapping may take the place of a shared one. */
static void memory_mapped(const void *at, size_t size, int flags, int fd, uint64_t offset)
{
    if (flags & MAP_SHARED)
        shared_memory_add(at, size, flags & MAP_ANONYMOUS ? -1 : fd, offset);
    else if (flags & MAP_FIXED && at != MAP_FAILED)
        shared_memory_remove(at, size);
}

#define OS_MAP(name, type)                                                                                             \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE void *name(void *at, size_t size, int protection, int flags, int fd, type offset)        \
    {                                                                                                                  \
        typeof(name) *real = os_call_next(&next_##name, #name);                                                        \
        const bool row = os_call_begin(OS_##name, __builtin_return_address(0));                                        \
        void *result = real(at, size, protection, flags, fd, offset);                                                  \
        memory_mapped(result, size, flags, fd, (uint64_t)offset);                                                      \
        if (row)                                                                                                       \
            os_call_end(OS_##name);                                                                                    \
        return result;                                                                                                 \
    }

OS_MAP(mmap, off_t)
OS_MAP(mmap64, off64_t)

INTERPOSED(munmap);
DWELL_EXPORT OS_CALL_CODE int munmap(void *at, size_t size)
{
    typeof(munmap) *real = os_call_next(&next_munmap, "munmap");
    const bool row = os_call_begin(OS_munmap, __builtin_return_address(0));
    shared_memory_remove(at, size);
    const int result = real(at, size);
    if (row)
        os_call_end(OS_munmap);
    return result;
}

/* Calls of the probes in these pages may be rewritten at the same time. */
INTERPOSED(mprotect);
DWELL_EXPORT OS_CALL_CODE int mprotect(void *at, size_t size, int protection)
{
    typeof(mprotect) *real = os_call_next(&next_mprotect, "mprotect");
    const bool row = os_call_begin(OS_mprotect, __builtin_return_address(0));
    const uint64_t held = code_lock_begin_call((uint64_t)at, size);
    const int result = real(at, size, protection);
    code_lock_end_call(held);
    if (row)
        os_call_end(OS_mprotect);
    return result;
}

INTERPOSED(pkey_mprotect);
DWELL_EXPORT int pkey_mprotect(void *at, size_t size, int protection, int key)
{
    typeof(pkey_mprotect) *real = os_call_next(&next_pkey_mprotect, "pkey_mprotect");
    const uint64_t held = code_lock_begin_call((uint64_t)at, size);
    const int result = real(at, size, protection, key);
    code_lock_end_call(held);
    return result;
}

OS_CALL(int, madvise, (void *at, size_t size, int advice), (at, size, advice))
OS_CALL(int, msync, (void *at, size_t size, int flags), (at, size, flags))
OS_CALL(int, mlock, (const void *at, size_t size), (at, size))
OS_CALL(int, munlock, (const void *at, size_t size), (at, size))

INTERPOSED(mremap);
DWELL_EXPORT OS_CALL_CODE void *mremap(void *at, size_t size, size_t wanted, int flags, ...)
{
    va_list rest;
    va_start(rest, flags);
    void *to = va_arg(rest, void *);
    va_end(rest);
    void *(*real)(void *, size_t, size_t, int, ...) =
        (void *(*)(void *, size_t, size_t, int, ...))os_call_next(&next_mremap, "mremap");
    const bool row = os_call_begin(OS_mremap, __builtin_return_address(0));
    void *result = real(at, size, wanted, flags, to);
    if (result != MAP_FAILED && result != at)
        shared_memory_remove(at, size);
    if (row)
        os_call_end(OS_mremap);
    return result;
}

/* ---- as _FORTIFY_SOURCE calls them ---- */

#define OS_CHECKED_READ(row, result, name, parameters, arguments)                                                      \
    result name parameters;                                                                                            \
    OS_READ_AS(row, result, name, parameters, arguments)
#define OS_CHECKED_POLL(row, name, parameters, arguments)                                                              \
    int name parameters;                                                                                               \
    OS_WAITS_FOR_ANY(ready_of_poll(fds, count, value_), row, name, parameters, arguments)

OS_CHECKED_READ(recv, ssize_t, __recv_chk, (int fd, void *buffer, size_t size, size_t room, int flags),
                (fd, buffer, size, room, flags))
OS_CHECKED_READ(recvfrom, ssize_t, __recvfrom_chk,
                (int fd, void *buffer, size_t size, size_t room, int flags, __SOCKADDR_ARG from, socklen_t *from_size),
                (fd, buffer, size, room, flags, from, from_size))
OS_CHECKED_POLL(poll, __poll_chk, (struct pollfd * fds, nfds_t count, int time, size_t room), (fds, count, time, room))
OS_CHECKED_POLL(ppoll, __ppoll_chk,
                (struct pollfd * fds, nfds_t count, const struct timespec *time, const sigset_t *mask, size_t room),
                (fds, count, time, mask, room))
