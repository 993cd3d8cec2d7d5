/* What a call of the operating system waits for, or acts on so that waits of others end. docs/format.md describes the
 * record. */
#ifndef DWELL_OBJECTS_H
#define DWELL_OBJECTS_H

#include <errno.h>

#include "extensions.h"

enum { OBJECT_ACTED = 1, OBJECT_MAKES_ROOM = 2, OBJECT_ACTED_ON_ALL = 4, OBJECT_TOOK = 8 };

#define OBJECT_NOT_WAITED ((enum dwell_object_role)0xff) /* the role of a call that only acted */

struct object {
    enum dwell_object kind; /* zero: unknown, not recorded */
    enum dwell_object_role role;
    unsigned acts; /* what a call on a descriptor does besides waiting: bits OBJECT_... */
    uint64_t id;
    uint32_t holder;                     /* tid of the thread that held it at the call's begin; zero: none or unknown */
    uint32_t holder_thread, holder_node; /* in mode profile: what wait_rows_find_holder has found */
    uint64_t released;                   /* what the call acts on besides: a mutex that it unlocks while it waits, or a
                                          * file's lock; zero: nothing */
    enum dwell_object released_kind;
};

/* The call has failed with that errno value, or has not if it is zero. No act ended a wait that came to the end of its
 * time, or was interrupted. */
static inline void object_settle(struct object *object, long error)
{
    const bool waited = object->role == DWELL_ROLE_WAITED || object->role == DWELL_ROLE_WAITED_FOR_ROOM;
    if (waited && object->kind != DWELL_OBJECT_BARRIER && (error == ETIMEDOUT || error == EINTR || error == EAGAIN))
        object->role = DWELL_ROLE_GAVE_UP;
}

static inline void object_put_record(struct extensions *e, unsigned kind, unsigned role, uint64_t id, uint32_t holder)
{
    extensions_put_head(e, DWELL_EXT_OBJECT, holder ? 7 : 5);
    extensions_put(e, (uint16_t)(role << DWELL_OBJECT_ROLE_SHIFT | kind));
    extensions_put_number(e, id, 4);
    if (holder)
        extensions_put_number(e, holder, 2);
}

/* The times off the CPU that belong to the object come before it. */
static inline void object_put(struct extensions *e, const struct object *object)
{
    if (!object->kind)
        return;
    if (object->role != OBJECT_NOT_WAITED)
        object_put_record(e, object->kind, object->role, object->id, object->holder);
    if (object->acts & OBJECT_ACTED)
        object_put_record(e, object->kind, DWELL_ROLE_ACTED, object->id, 0);
    if (object->acts & OBJECT_ACTED_ON_ALL)
        object_put_record(e, object->kind, DWELL_ROLE_ACTED_ON_ALL, object->id, 0);
    if (object->acts & OBJECT_TOOK)
        object_put_record(e, object->kind, DWELL_ROLE_TOOK, object->id, 0);
    if (object->acts & OBJECT_MAKES_ROOM)
        object_put_record(e, object->kind, DWELL_ROLE_MADE_ROOM, object->id, 0);
    if (object->released)
        object_put_record(e, object->released_kind,
                          object->released_kind == DWELL_OBJECT_MUTEX ? DWELL_ROLE_ACTED : DWELL_ROLE_ACTED_ON_ALL,
                          object->released, 0);
}

#endif
