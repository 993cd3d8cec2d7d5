/*
 * Asks the kernel which object a descriptor refers to. Files, pipes and local sockets are known by their inode, sockets
 * of the internet by their addresses: so both ends of a connection know each other, in different processes, too. An
 * eventfd has a number of its own in /proc. All calls are bare system calls.
 */
#include "descriptor_identity.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "socket_peer.h"
#include "sys.h"

/* ---- numbers ---- */

static uint64_t identity_mix(uint64_t seed, uint64_t value)
{
    uint64_t mixed = (seed ^ value) * 0x9e3779b97f4a7c15;
    mixed ^= mixed >> 32;
    return mixed * 0xd6e8feb86659fd93;
}

static uint64_t identity_mix_bytes(uint64_t seed, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        seed = identity_mix(seed, at[i]);
    return seed;
}

/* ---- text ---- */

struct name {
    char *at;
    size_t length;
};

static void name_put(struct name *n, const char *text, size_t length)
{
    for (size_t i = 0; i < length && n->length < MAX_IDENTITY_NAME; i++)
        n->at[n->length++] = text[i];
}

static void name_put_text(struct name *n, const char *text)
{
    name_put(n, text, strlen(text));
}

static void name_put_number(struct name *n, uint64_t value, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits;
    do
        digits[--at] = "0123456789abcdef"[value % base];
    while (value /= base);
    name_put(n, digits + at, sizeof digits - at);
}

/* "/proc/self/fd/7" */
static void name_put_proc(struct name *n, const char *folder, int fd)
{
    name_put_text(n, "/proc/self/");
    name_put_text(n, folder);
    name_put_text(n, "/");
    name_put_number(n, (uint64_t)fd, 10);
    n->at[n->length] = 0;
}

/* What /proc says of the descriptor: a path, or "pipe:[5]". */
static size_t identity_read_link(int fd, char *target, size_t room)
{
    char path[64];
    struct name n = { path, 0 };
    name_put_proc(&n, "fd", fd);
    const long length = SYS4(readlinkat, AT_FDCWD, path, target, room);
    return length > 0 ? (size_t)length : 0;
}

/* ---- addresses ---- */

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un local;
    struct sockaddr_storage storage;
};

struct socket_address {
    union address at;
    socklen_t size;
};

static struct socket_address address_local(int fd)
{
    struct socket_address a = { .size = sizeof a.at };
    if (SYS3(getsockname, fd, &a.at, &a.size) < 0)
        a.size = 0;
    return a;
}

static struct socket_address address_peer(int fd)
{
    struct socket_address a = { .size = sizeof a.at };
    if (SYS3(getpeername, fd, &a.at, &a.size) < 0)
        a.size = 0;
    return a;
}

static bool address_is_internet(const struct socket_address *a)
{
    return (a->size >= sizeof a->at.v4 && a->at.any.sa_family == AF_INET) ||
           (a->size >= sizeof a->at.v6 && a->at.any.sa_family == AF_INET6);
}

/* In network order. */
static uint16_t address_port(const struct socket_address *a)
{
    return a->at.any.sa_family == AF_INET ? a->at.v4.sin_port : a->at.v6.sin6_port;
}

/* The 16 bytes of the host, whose first 12 are those of a mapped address for version 4. */
static struct in6_addr address_host(const struct socket_address *a)
{
    struct in6_addr host = { .s6_addr = { [10] = 0xff, [11] = 0xff } };
    if (a->at.any.sa_family == AF_INET6)
        return a->at.v6.sin6_addr;
    memcpy(host.s6_addr + 12, &a->at.v4.sin_addr, 4);
    return host;
}

static bool address_is_version_4(const struct in6_addr *host)
{
    static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
    return memcmp(host, mapped, sizeof mapped) == 0;
}

static bool address_same_host(const struct socket_address *a, const struct socket_address *b)
{
    const struct in6_addr x = address_host(a), y = address_host(b);
    return memcmp(&x, &y, sizeof x) == 0;
}

static bool address_is_loopback(const struct socket_address *a)
{
    static const struct in6_addr loopback = IN6ADDR_LOOPBACK_INIT;
    const struct in6_addr host = address_host(a);
    return address_is_version_4(&host) ? host.s6_addr[12] == 127 : memcmp(&host, &loopback, sizeof host) == 0;
}

static uint64_t identity_mix_address(uint64_t seed, const struct socket_address *a)
{
    const struct in6_addr host = address_host(a);
    return identity_mix_bytes(identity_mix(seed, address_port(a)), &host, sizeof host);
}

static void name_put_host(struct name *n, const struct in6_addr *host)
{
    if (address_is_version_4(host)) {
        for (int i = 12; i < 16; i++) {
            name_put_text(n, i > 12 ? "." : "");
            name_put_number(n, host->s6_addr[i], 10);
        }
        return;
    }
    name_put_text(n, "[");
    for (int i = 0; i < 16; i += 2) {
        name_put_text(n, i ? ":" : "");
        name_put_number(n, (uint64_t)host->s6_addr[i] << 8 | host->s6_addr[i + 1], 16);
    }
    name_put_text(n, "]");
}

static void name_put_address(struct name *n, const struct socket_address *a)
{
    if (address_is_internet(a)) {
        const struct in6_addr host = address_host(a);
        const uint16_t port = address_port(a);
        name_put_host(n, &host);
        name_put_text(n, ":");
        name_put_number(n, (uint64_t)(port & 0xff) << 8 | port >> 8, 10);
    } else if (a->size > offsetof(struct sockaddr_un, sun_path)) {
        const bool is_abstract = a->at.local.sun_path[0] == 0;
        const size_t length = a->size - offsetof(struct sockaddr_un, sun_path);
        name_put_text(n, is_abstract ? "@" : "");
        name_put(n, a->at.local.sun_path + is_abstract,
                 strnlen(a->at.local.sun_path + is_abstract, length - is_abstract));
    }
}

/* ---- sockets ---- */

static int socket_option(int fd, int option)
{
    int value = 0;
    socklen_t size = sizeof value;
    return SYS5(getsockopt, fd, SOL_SOCKET, option, &value, &size) < 0 ? 0 : value;
}

/* Where others connect or send to. For the internet this is the port: a socket may wait at all of its machine's
 * addresses. */
static uint64_t identity_of_place(int type, const struct socket_address *a)
{
    const uint64_t seed = identity_mix(a->at.any.sa_family == AF_UNIX, (uint64_t)type);
    if (a->at.any.sa_family != AF_UNIX)
        return identity_mix(seed, address_port(a));
    const size_t length = a->size - offsetof(struct sockaddr_un, sun_path);
    const char *path = a->at.local.sun_path;
    return identity_mix_bytes(seed, path, *path ? strnlen(path, length) : length);
}

static bool address_is_named(const struct socket_address *a)
{
    return address_is_internet(a) ||
           (a->size > offsetof(struct sockaddr_un, sun_path) && a->at.any.sa_family == AF_UNIX);
}

/* A local socket that is connected. One that takes datagrams from all is known by its name. */
static void identity_find_local_peer(const struct stat *status, int type, const struct socket_address *peer,
                                     struct identity *of)
{
    uint32_t inode;
    if (type != SOCK_STREAM && address_is_named(peer)) {
        of->peer = identity_of_place(type, peer);
        return;
    }
    const enum socket_peer found = socket_peer_find((uint32_t)status->st_ino, &inode);
    if (found == SOCKET_PEER_FOUND)
        of->peer = identity_mix(status->st_dev, inode);
    of->later = found == SOCKET_PEER_LATER;
}

static void identity_find_socket(int fd, const struct stat *status, struct identity *of)
{
    const struct socket_address local = address_local(fd), peer = address_peer(fd);
    const int type = socket_option(fd, SO_TYPE);
    of->kind = DWELL_OBJECT_SOCKET;
    if (address_is_internet(&local) && address_is_internet(&peer)) {
        of->id = identity_mix_address(identity_mix_address((uint64_t)type, &local), &peer);
        of->peer = identity_mix_address(identity_mix_address((uint64_t)type, &peer), &local);
    } else if (!peer.size && address_is_named(&local) && (type != SOCK_STREAM || socket_option(fd, SO_ACCEPTCONN))) {
        of->id = of->peer = identity_of_place(type, &local);
    } else if (peer.size && peer.at.any.sa_family == AF_UNIX) {
        identity_find_local_peer(status, type, &peer, of);
    }
}

struct identity identity_of_address(int fd, const void *address, size_t size, bool connects)
{
    struct identity of = { 0 };
    struct socket_address to = { .size = (socklen_t)size };
    if (!address || size > sizeof to.at)
        return of;
    memcpy(&to.at, address, size);
    const int type = socket_option(fd, SO_TYPE);
    if (!address_is_named(&to) || (connects && type == SOCK_DGRAM)) /* such a connection only sets an address */
        return of;
    if (to.at.any.sa_family != AF_UNIX && !address_is_loopback(&to)) {
        const struct socket_address local = address_local(fd);
        if (!connects || !address_is_internet(&local) || !address_same_host(&local, &to))
            return of;
    }
    of.kind = DWELL_OBJECT_SOCKET;
    of.id = of.peer = identity_of_place(type, &to);
    return of;
}

/* ---- what has no inode ---- */

/* The number of an eventfd in the system; zero if the kernel does not say it. */
static uint64_t identity_read_eventfd(int fd)
{
    static const char wanted[] = "eventfd-id:";
    char path[64], text[512];
    struct name n = { path, 0 };
    name_put_proc(&n, "fdinfo", fd);
    if (sys_read_file(path, text, sizeof text) <= 0)
        return 0;
    const char *at = strstr(text, wanted);
    uint64_t number = 0;
    for (at = at ? at + strlen(wanted) : ""; *at && *at != '\n'; at++)
        if (*at >= '0' && *at <= '9')
            number = number * 10 + (uint64_t)(*at - '0');
    return at[0] == '\n' ? number + 1 : 0;
}

static void identity_find_anonymous(int fd, struct identity *of)
{
    static const struct {
        const char *name;
        enum dwell_object kind;
    } kinds[] = {
        { "anon_inode:[eventfd]", DWELL_OBJECT_EVENTFD },
        { "anon_inode:[timerfd]", DWELL_OBJECT_TIMERFD },
        { "anon_inode:[signalfd]", DWELL_OBJECT_SIGNALFD },
        { "anon_inode:[eventpoll]", DWELL_OBJECT_EPOLL },
    };
    char target[64];
    const size_t length = identity_read_link(fd, target, sizeof target);
    of->kind = DWELL_OBJECT_DESCRIPTOR;
    of->id = identity_mix((uint64_t)SYS0(getpid), (uint64_t)fd);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (length == strlen(kinds[i].name) && memcmp(target, kinds[i].name, length) == 0)
            of->kind = kinds[i].kind;
    const uint64_t number = of->kind == DWELL_OBJECT_EVENTFD ? identity_read_eventfd(fd) : 0;
    if (number)
        of->id = of->peer = number;
}

/* ---- all ---- */

static bool identity_is_terminal(dev_t device)
{
    enum { TTY = 4, CONSOLE = 5, FIRST_PTS = 136, LAST_PTS = 143 };
    const unsigned major = (unsigned)(device >> 8 & 0xfff);
    return major == TTY || major == CONSOLE || (major >= FIRST_PTS && major <= LAST_PTS);
}

static uint64_t identity_of_inode(const struct stat *status)
{
    return identity_mix(status->st_dev, status->st_ino);
}

static uint32_t identity_check_of(const struct stat *status)
{
    return (uint32_t)(identity_of_inode(status) >> 32) | 1;
}

uint32_t identity_check(int fd)
{
    struct stat status = { 0 };
    return SYS2(fstat, fd, &status) < 0 ? 0 : identity_check_of(&status);
}

struct identity identity_find(int fd)
{
    struct identity of = { 0 };
    struct stat status = { 0 };
    if (fd < 0 || SYS2(fstat, fd, &status) < 0)
        return of;
    of.check = identity_check_of(&status);
    of.id = identity_of_inode(&status);
    switch (status.st_mode & S_IFMT) {
    case S_IFIFO:
        of.kind = DWELL_OBJECT_PIPE;
        of.peer = of.id;
        break;
    case S_IFSOCK:
        identity_find_socket(fd, &status, &of);
        break;
    case S_IFCHR:
        of.kind = identity_is_terminal(status.st_rdev) ? DWELL_OBJECT_TERMINAL : DWELL_OBJECT_FILE;
        break;
    case 0:
        identity_find_anonymous(fd, &of);
        break;
    default:
        of.kind = DWELL_OBJECT_FILE;
    }
    return of;
}

/* A connected socket has the peer's address as its name, any other one its own. Without one, it is "socket:[5]". */
static bool identity_name_socket(int fd, struct name *n)
{
    const struct socket_address local = address_local(fd), peer = address_peer(fd);
    const struct socket_address *named = address_is_named(&peer) ? &peer : &local;
    if (!address_is_named(named))
        return false;
    name_put_text(n, socket_option(fd, SO_TYPE) == SOCK_STREAM ? "stream " : "datagram ");
    name_put_address(n, named);
    return true;
}

size_t identity_name(int fd, const struct identity *of, char name[MAX_IDENTITY_NAME])
{
    struct name n = { name, 0 };
    switch (of->kind) {
    case DWELL_OBJECT_EVENTFD:
    case DWELL_OBJECT_TIMERFD:
    case DWELL_OBJECT_SIGNALFD:
    case DWELL_OBJECT_EPOLL:
        name_put_text(&n, "descriptor ");
        name_put_number(&n, (uint64_t)fd, 10);
        return n.length;
    case DWELL_OBJECT_SOCKET:
        if (identity_name_socket(fd, &n))
            return n.length;
        /* fall through */
    default:
        return identity_read_link(fd, name, MAX_IDENTITY_NAME);
    }
}
