/* Interposed calls on sockets, on memory, and waiting for descriptors. See oscalls.c. */
#include "oscalls.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>

/* ---- sockets ---- */

OS_CALL(int, socket, (int domain, int type, int protocol), (domain, type, protocol))
OS_CALL(int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends))
OS_CALL(int, bind, (int fd, __CONST_SOCKADDR_ARG address, socklen_t size), (fd, address, size))
OS_CALL(int, listen, (int fd, int backlog), (fd, backlog))
OS_CALL(int, accept, (int fd, __SOCKADDR_ARG address, socklen_t *size), (fd, address, size))
OS_CALL(int, accept4, (int fd, __SOCKADDR_ARG address, socklen_t *size, int flags), (fd, address, size, flags))
OS_CALL(int, connect, (int fd, __CONST_SOCKADDR_ARG address, socklen_t size), (fd, address, size))
OS_CALL(int, shutdown, (int fd, int how), (fd, how))
OS_CALL(ssize_t, recv, (int fd, void *buffer, size_t size, int flags), (fd, buffer, size, flags))
OS_CALL(ssize_t, recvfrom, (int fd, void *buffer, size_t size, int flags, __SOCKADDR_ARG from, socklen_t *from_size),
        (fd, buffer, size, flags, from, from_size))
OS_CALL(ssize_t, recvmsg, (int fd, struct msghdr *message, int flags), (fd, message, flags))
OS_CALL(int, recvmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags, struct timespec *time),
        (fd, messages, count, flags, time))
OS_CALL(ssize_t, send, (int fd, const void *buffer, size_t size, int flags), (fd, buffer, size, flags))
OS_CALL(ssize_t, sendto,
        (int fd, const void *buffer, size_t size, int flags, __CONST_SOCKADDR_ARG to, socklen_t to_size),
        (fd, buffer, size, flags, to, to_size))
OS_CALL(ssize_t, sendmsg, (int fd, const struct msghdr *message, int flags), (fd, message, flags))
OS_CALL(int, sendmmsg, (int fd, struct mmsghdr *messages, unsigned count, int flags), (fd, messages, count, flags))

/* ---- waiting for descriptors ---- */

OS_CALL(int, poll, (struct pollfd * fds, nfds_t count, int time), (fds, count, time))
OS_CALL(int, ppoll, (struct pollfd * fds, nfds_t count, const struct timespec *time, const sigset_t *mask),
        (fds, count, time, mask))
OS_CALL(int, select, (int count, fd_set *to_read, fd_set *to_write, fd_set *others, struct timeval *time),
        (count, to_read, to_write, others, time))
OS_CALL(int, pselect,
        (int count, fd_set *to_read, fd_set *to_write, fd_set *others, const struct timespec *time,
         const sigset_t *mask),
        (count, to_read, to_write, others, time, mask))
OS_CALL(int, epoll_create1, (int flags), (flags))
OS_CALL(int, epoll_ctl, (int epoll, int operation, int fd, struct epoll_event *event), (epoll, operation, fd, event))
OS_CALL(int, epoll_wait, (int epoll, struct epoll_event *events, int count, int time), (epoll, events, count, time))
OS_CALL(int, epoll_pwait, (int epoll, struct epoll_event *events, int count, int time, const sigset_t *mask),
        (epoll, events, count, time, mask))
OS_CALL(int, epoll_pwait2,
        (int epoll, struct epoll_event *events, int count, const struct timespec *time, const sigset_t *mask),
        (epoll, events, count, time, mask))
OS_CALL(int, eventfd_read, (int fd, eventfd_t *value), (fd, value))
OS_CALL(int, eventfd_write, (int fd, eventfd_t value), (fd, value))

/* ---- memory ---- */

OS_CALL(void *, mmap, (void *at, size_t size, int protection, int flags, int fd, off_t offset),
        (at, size, protection, flags, fd, offset))
OS_CALL(void *, mmap64, (void *at, size_t size, int protection, int flags, int fd, off64_t offset),
        (at, size, protection, flags, fd, offset))
OS_CALL(int, munmap, (void *at, size_t size), (at, size))
OS_CALL(int, mprotect, (void *at, size_t size, int protection), (at, size, protection))
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
    if (!os_call_begin(OS_mremap, __builtin_return_address(0)))
        return real(at, size, wanted, flags, to);
    void *result = real(at, size, wanted, flags, to);
    os_call_end(OS_mremap);
    return result;
}

/* ---- as _FORTIFY_SOURCE calls them ---- */

#define OS_CHECKED(row, result, name, parameters, arguments)                                                           \
    result name parameters;                                                                                            \
    OS_CALL_AS(row, result, name, parameters, arguments)

OS_CHECKED(recv, ssize_t, __recv_chk, (int fd, void *buffer, size_t size, size_t room, int flags),
           (fd, buffer, size, room, flags))
OS_CHECKED(recvfrom, ssize_t, __recvfrom_chk,
           (int fd, void *buffer, size_t size, size_t room, int flags, __SOCKADDR_ARG from, socklen_t *from_size),
           (fd, buffer, size, room, flags, from, from_size))
OS_CHECKED(poll, int, __poll_chk, (struct pollfd * fds, nfds_t count, int time, size_t room), (fds, count, time, room))
OS_CHECKED(ppoll, int, __ppoll_chk,
           (struct pollfd * fds, nfds_t count, const struct timespec *time, const sigset_t *mask, size_t room),
           (fds, count, time, mask, room))
