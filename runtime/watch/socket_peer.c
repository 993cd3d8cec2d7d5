/*
 * A local socket's other end has no name that the socket could be asked for. But the kernel's sockets for diagnosis say
 * its inode, to every user. One is made for each question, as the program may close what it does not know.
 */
#include "socket_peer.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>

#include "sys.h"

struct peer_question {
    struct nlmsghdr head;
    struct unix_diag_req of;
};

/* The inode in the attribute; false if there is none. */
static bool peer_read(const char *answer, size_t length, uint32_t *peer)
{
    struct nlmsghdr head;
    if (length < sizeof head)
        return false;
    memcpy(&head, answer, sizeof head);
    if (head.nlmsg_type != SOCK_DIAG_BY_FAMILY || head.nlmsg_len > length)
        return false;
    for (size_t at = NLMSG_HDRLEN + sizeof(struct unix_diag_msg); at + sizeof(struct rtattr) <= head.nlmsg_len;) {
        struct rtattr attribute;
        memcpy(&attribute, answer + at, sizeof attribute);
        if (attribute.rta_len < sizeof attribute || attribute.rta_len > head.nlmsg_len - at)
            return false;
        if (attribute.rta_type == UNIX_DIAG_PEER && attribute.rta_len >= RTA_LENGTH(sizeof *peer)) {
            memcpy(peer, answer + at + RTA_LENGTH(0), sizeof *peer);
            return true;
        }
        at += RTA_ALIGN(attribute.rta_len);
    }
    return false;
}

enum socket_peer socket_peer_find(uint32_t inode, uint32_t *peer)
{
    const struct peer_question question = {
        .head = { .nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_flags = NLM_F_REQUEST },
        .of = { .sdiag_family = AF_UNIX,
                .udiag_states = UINT32_MAX,
                .udiag_ino = inode,
                .udiag_show = UDIAG_SHOW_PEER,
                .udiag_cookie = { UINT32_MAX, UINT32_MAX } },
    };
    char answer[512];
    const long fd = SYS3(socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
    if (fd < 0)
        return SOCKET_PEER_UNKNOWN;
    long length = SYS3(write, fd, &question, sizeof question);
    if (length > 0)
        length = SYS3(read, fd, answer, sizeof answer);
    SYS1(close, fd);
    if (length <= 0 || !peer_read(answer, (size_t)length, peer))
        return SOCKET_PEER_UNKNOWN;
    return *peer ? SOCKET_PEER_FOUND : SOCKET_PEER_LATER;
}
