/* Lists a server's connections, and cuts those of strangers first when there are too many. */
#include "view/connections.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/memory.h"

struct connection {
    struct connection *next, **link; /* `link` points to this one in the list */
    int fd;
    uint64_t since; /* seconds: when it was opened, or its last request with the token */
    bool known;     /* it has sent the token */
    bool cut;
};

static void connection_cut(struct connections *all, struct connection *c)
{
    c->cut = true;
    all->count--;
    shutdown(c->fd, SHUT_RDWR);
}

/* Whether `a` has to go before `b`. */
static bool connection_goes_first(const struct connection *a, const struct connection *b)
{
    return a->known != b->known ? !a->known : a->since < b->since;
}

/* Lists are short. The newest connection is the first of the list, so that of equal ones the oldest is cut. */
static struct connection *connections_first_to_go(const struct connections *all)
{
    struct connection *found = NULL;
    for (struct connection *c = all->first; c; c = c->next)
        if (!c->cut && (!found || !connection_goes_first(found, c)))
            found = c;
    return found;
}

static void connections_cut_late(struct connections *all, uint64_t now)
{
    for (struct connection *c = all->first; c; c = c->next)
        if (!c->cut && !c->known && now - c->since > MAX_SECONDS_UNKNOWN)
            connection_cut(all, c);
}

struct connection *connections_add(struct connections *all, int fd, uint64_t now)
{
    connections_cut_late(all, now);
    if (all->count >= MAX_CONNECTIONS)
        connection_cut(all, connections_first_to_go(all));
    struct connection *c = need_memory(1, sizeof *c);
    *c = (struct connection){ .next = all->first, .link = &all->first, .fd = fd, .since = now };
    if (c->next)
        c->next->link = &c->next;
    all->first = c;
    all->count++;
    return c;
}

void connection_know(struct connection *c, uint64_t now)
{
    c->known = true;
    c->since = now;
}

void connections_remove(struct connections *all, struct connection *c)
{
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    all->count -= !c->cut;
    free(c);
}
