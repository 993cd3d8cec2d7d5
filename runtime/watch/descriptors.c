/*
 * The objects that the process' descriptors refer to. An entry of the table is filled when a call first needs it, and
 * emptied when a call of libc closes the number or gives it to another descriptor. Calls that the runtime does not see
 * may do that, too. So an entry is compared with the kernel's when a call has waited.
 *
 * A forked child inherits the table with the descriptors.
 */
#include "descriptors.h"

#include "descriptor_identity.h"
#include "lock.h"
#include "metadata_records.h"
#include "oscalls_made.h"
#include "runtime.h"
#include "sys.h"
#include "thread.h"

/* ---- the table ---- */

/* The tag says whether the entry is filled. The time in it changes whenever the entry is emptied, so that a thread that
 * asked the kernel before does not fill it. */
struct descriptor {
    uint64_t id;
    uint64_t tag; /* from bit 0: kind (8), state (8), time (16), check (32) */
};

enum {
    STATE_BUSY = 1 << 8,
    STATE_ACTS = 2 << 8,
    STATE_NAMED = 4 << 8,
    STATE_NAMED_OTHER = 8 << 8,
    STATE_LOCKED = 16 << 8,
    STATE_FLOCKED = 32 << 8
};
enum { KIND_MASK = 0xff, STATE_MASK = 0xff00, TIME_ONE = 1 << 16, CHECK_SHIFT = 32 };
#define TIME_MASK ((uint64_t)0xffff << 16)

enum { MAX_DESCRIPTORS = 1 << 16 /* later ones have no entry */, BLOCK = 256 };

/* The entries of so many descriptors. Most programs need one block, so each is made when it is first needed. */
struct block {
    struct descriptor descriptors[BLOCK];
    struct maker makers[BLOCK];
};

static void *blocks[MAX_DESCRIPTORS / BLOCK];

static struct block *descriptor_block(int fd, bool make)
{
    if ((unsigned)fd >= MAX_DESCRIPTORS)
        return NULL;
    return make ? sys_block(&blocks[fd / BLOCK], sizeof(struct block))
                : __atomic_load_n(&blocks[fd / BLOCK], __ATOMIC_ACQUIRE);
}

static struct descriptor *descriptor_entry(int fd, bool make)
{
    struct block *b = descriptor_block(fd, make);
    return b ? &b->descriptors[fd % BLOCK] : NULL;
}

static struct maker *descriptor_maker(int fd, bool make)
{
    struct block *b = descriptor_block(fd, make);
    return b ? &b->makers[fd % BLOCK] : NULL;
}

void descriptor_change(int fd)
{
    struct descriptor *d = descriptor_entry(fd, false);
    if (!d)
        return;
    const uint64_t tag = __atomic_load_n(&d->tag, __ATOMIC_RELAXED);
    if (tag & (KIND_MASK | STATE_MASK))
        __atomic_store_n(&d->tag, (tag + TIME_ONE) & TIME_MASK, __ATOMIC_RELEASE);
}

void descriptor_forget(int fd)
{
    descriptor_change(fd);
    struct maker *maker = descriptor_maker(fd, false);
    if (maker && maker->function)
        maker_end(maker);
}

void descriptor_made(int fd)
{
    descriptor_forget(fd);
    if (!runtime.os_calls)
        return;
    const struct maker maker = os_call_maker();
    struct maker *place = descriptor_maker(fd, maker.function != 0);
    if (place)
        *place = maker;
}

void descriptor_copied(int from, int to)
{
    descriptor_forget(to);
    struct maker *of = descriptor_maker(from, false), *copy = of && of->function ? descriptor_maker(to, true) : NULL;
    if (copy) {
        of->shared = true;
        *copy = *of;
    }
}

/* A thread may empty the entry meanwhile. */
static void descriptor_fill(struct descriptor *d, uint64_t seen, const struct identity *of)
{
    uint64_t busy = (seen & TIME_MASK) | STATE_BUSY;
    if (!__atomic_compare_exchange_n(&d->tag, &seen, busy, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    __atomic_store_n(&d->id, of->id, __ATOMIC_RELAXED);
    const uint64_t tag =
        (busy & TIME_MASK) | (uint64_t)of->check << CHECK_SHIFT | (uint64_t)of->kind | (of->peer ? STATE_ACTS : 0);
    __atomic_compare_exchange_n(&d->tag, &busy, tag, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/* The object of a number, and its tag. The kind is zero if it is not known. */
struct known {
    uint64_t id, tag;
};

static struct known descriptor_look_up(int fd, struct descriptor *d)
{
    const uint64_t seen = __atomic_load_n(&d->tag, __ATOMIC_ACQUIRE);
    const struct identity of = identity_find(fd);
    if (!of.kind)
        return (struct known){ 0, 0 };
    if (!of.later)
        descriptor_fill(d, seen, &of);
    return (struct known){ of.id, (uint64_t)of.check << CHECK_SHIFT | of.kind | (of.peer ? STATE_ACTS : 0) };
}

static struct known descriptor_find(int fd)
{
    struct descriptor *d = runtime.os_calls ? descriptor_entry(fd, true) : NULL;
    if (!d)
        return (struct known){ 0, 0 };
    const uint64_t tag = __atomic_load_n(&d->tag, __ATOMIC_ACQUIRE);
    const uint64_t id = __atomic_load_n(&d->id, __ATOMIC_ACQUIRE);
    if (LIKELY(tag & KIND_MASK && __atomic_load_n(&d->tag, __ATOMIC_RELAXED) == tag))
        return (struct known){ id, tag };
    return descriptor_look_up(fd, d);
}

/* ---- names ---- */

static void descriptor_put_record(const struct identity *of, const char *name, size_t length)
{
    struct dwell_rec_descriptor record = {
        .record.type = DWELL_REC_DESCRIPTOR,
        .id = of->id,
        .peer = of->peer,
        .kind = of->kind,
    };
    const uint64_t mask = sys_block_signals();
    if (mask == SYS_NOT_BLOCKED)
        return;
    if (thread_self && thread_self->wiped->alive)
        metadata_append(&record.record, sizeof record, &(struct text){ name, length }, 1);
    sys_restore_signals(mask);
}

/* Once while the number stays the same. */
static void descriptor_record(int fd, struct known known)
{
    struct descriptor *d = descriptor_entry(fd, false);
    if (known.tag & STATE_NAMED || !d)
        return;
    const struct identity of = identity_find(fd);
    if (of.id != known.id || !of.kind)
        return;
    char name[MAX_IDENTITY_NAME];
    descriptor_put_record(&of, name, identity_name(fd, &of, name));
    uint64_t tag = __atomic_load_n(&d->tag, __ATOMIC_RELAXED);
    if (tag & KIND_MASK && __atomic_load_n(&d->id, __ATOMIC_RELAXED) == known.id)
        __atomic_compare_exchange_n(&d->tag, &tag, tag | STATE_NAMED, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* ---- objects ---- */

static struct object descriptor_object(int fd, enum dwell_object_role role, unsigned acts)
{
    const struct known known = descriptor_find(fd);
    struct object object = { .kind = known.tag & KIND_MASK, .role = role, .id = known.id };
    if (!(known.tag & STATE_ACTS) || !object.kind)
        return object;
    object.acts = runtime.acts ? acts : 0;
    if (object.acts)
        descriptor_record(fd, known);
    return object;
}

struct object descriptor_waited(int fd)
{
    return descriptor_object(fd, DWELL_ROLE_WAITED, 0);
}

struct object descriptor_read(int fd)
{
    return descriptor_object(fd, DWELL_ROLE_WAITED, OBJECT_MAKES_ROOM);
}

struct object descriptor_written(int fd)
{
    return descriptor_object(fd, DWELL_ROLE_WAITED_FOR_ROOM, OBJECT_ACTED);
}

/* ---- what a descriptor means besides ---- */

/* Files, their locks and queues have numbers of their own. */
enum { SALT_LOCK = 0x6c6f636b, SALT_QUEUE = 0x71756575 };

static void descriptor_set_state(int fd, struct known known, uint64_t set, uint64_t cleared)
{
    struct descriptor *d = descriptor_entry(fd, false);
    if (!d)
        return;
    uint64_t tag = __atomic_load_n(&d->tag, __ATOMIC_RELAXED);
    if (tag & KIND_MASK && __atomic_load_n(&d->id, __ATOMIC_RELAXED) == known.id)
        __atomic_compare_exchange_n(&d->tag, &tag, (tag | set) & ~cleared, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/* Another object that has the descriptor's name. */
static void descriptor_record_other(int fd, struct known known, const struct object *object)
{
    struct identity of = { .kind = known.tag & KIND_MASK, .id = known.id };
    char name[MAX_IDENTITY_NAME];
    const size_t length = identity_name(fd, &of, name);
    of.kind = object->kind;
    of.id = of.peer = object->id;
    descriptor_put_record(&of, name, length);
}

struct object descriptor_locked(int fd, uint64_t of, bool released)
{
    const struct known known = descriptor_find(fd);
    const struct object object = {
        .kind = known.tag & KIND_MASK ? DWELL_OBJECT_FILE_LOCK : 0,
        .id = known.id ^ of ^ SALT_LOCK,
        .acts = !runtime.acts ? 0
                : released    ? OBJECT_ACTED_ON_ALL
                              : OBJECT_TOOK,
    };
    if (!object.kind)
        return object;
    const uint64_t state = of == DESCRIPTOR_FLOCK ? STATE_FLOCKED : STATE_LOCKED;
    const bool part = of && of != DESCRIPTOR_FLOCK;
    if (part || !(known.tag & state))
        descriptor_record_other(fd, known, &object);
    if (!part)
        descriptor_set_state(fd, known, released ? 0 : state, released ? state : 0);
    return object;
}

struct object descriptor_queue(int fd, bool sends)
{
    const struct known known = descriptor_find(fd);
    const struct object object = {
        .kind = known.tag & KIND_MASK ? DWELL_OBJECT_QUEUE : 0,
        .role = sends ? DWELL_ROLE_WAITED_FOR_ROOM : DWELL_ROLE_WAITED,
        .id = known.id ^ SALT_QUEUE,
        .acts = !runtime.acts ? 0
                : sends       ? OBJECT_ACTED
                              : OBJECT_MAKES_ROOM,
    };
    if (object.kind && !(known.tag & STATE_NAMED_OTHER)) {
        descriptor_record_other(fd, known, &object);
        descriptor_set_state(fd, known, STATE_NAMED_OTHER, 0);
    }
    return object;
}

struct object descriptor_closed(int fd)
{
    struct object object = descriptor_object(fd, DWELL_ROLE_WAITED, OBJECT_ACTED_ON_ALL | OBJECT_MAKES_ROOM);
    const struct descriptor *d = object.kind && runtime.acts ? descriptor_entry(fd, false) : NULL;
    const uint64_t state = d ? __atomic_load_n(&d->tag, __ATOMIC_RELAXED) : 0;
    if (state & (STATE_LOCKED | STATE_FLOCKED)) {
        object.released = object.id ^ SALT_LOCK ^ (state & STATE_FLOCKED ? DESCRIPTOR_FLOCK : 0);
        object.released_kind = DWELL_OBJECT_FILE_LOCK;
    }
    return object;
}

struct object descriptor_at_address(int fd, const void *address, size_t size, bool connects)
{
    const struct identity of =
        runtime.os_calls ? identity_of_address(fd, address, size, connects) : (struct identity){ 0 };
    return (struct object){
        .kind = of.kind,
        .role = DWELL_ROLE_WAITED_FOR_ROOM,
        .id = of.id,
        .acts = runtime.acts ? OBJECT_ACTED : 0,
    };
}

/* If a call has emptied the entry meanwhile, the object was right when the call began. */
void descriptor_check(int fd, struct object *object)
{
    const struct descriptor *d = descriptor_entry(fd, false);
    const uint64_t tag = d ? __atomic_load_n(&d->tag, __ATOMIC_ACQUIRE) : 0;
    if (!d || (tag & KIND_MASK) != object->kind || __atomic_load_n(&d->id, __ATOMIC_RELAXED) != object->id)
        return;
    struct known known = { object->id, tag };
    if (tag >> CHECK_SHIFT != identity_check(fd) && __atomic_load_n(&d->tag, __ATOMIC_ACQUIRE) == tag) {
        descriptor_forget(fd);
        known = descriptor_find(fd);
        object->kind = known.tag & KIND_MASK;
        object->id = known.id;
        object->acts = 0;
    }
    descriptor_record(fd, known);
    if (object->kind)
        maker_record(descriptor_maker(fd, false), object->kind, object->id);
}

void descriptor_pipe(const int ends[2])
{
    descriptor_made(ends[0]);
    descriptor_made(ends[1]);
    struct maker *one = descriptor_maker(ends[0], false), *other = descriptor_maker(ends[1], false);
    if (one && other)
        one->shared = other->shared = true;
}

void descriptor_pair(const int ends[2])
{
    if (!runtime.os_calls)
        return;
    descriptor_made(ends[0]);
    descriptor_made(ends[1]);
    struct identity of[2] = { identity_find(ends[0]), identity_find(ends[1]) };
    for (int i = 0; i < 2; i++) {
        struct descriptor *d = descriptor_entry(ends[i], true);
        of[i].peer = of[!i].id;
        if (!d || of[i].kind != DWELL_OBJECT_SOCKET)
            continue;
        char name[MAX_IDENTITY_NAME];
        descriptor_put_record(&of[i], name, identity_name(ends[i], &of[i], name));
        descriptor_fill(d, __atomic_load_n(&d->tag, __ATOMIC_RELAXED), &of[i]);
    }
}

/* ---- members of epoll descriptors ---- */

enum { MAX_MEMBERS = 1 << 14 /* a later one takes the place of another */, MEMBERS_IN_BLOCK = 256 };

struct member {
    uint64_t data;
    uint64_t descriptors; /* epoll + 1 in the upper half, fd in the lower one; zero: not used */
};

static void *member_blocks[MAX_MEMBERS / MEMBERS_IN_BLOCK];
static uint32_t members_lock;

/* NULL if there is none. */
static struct member *member_place(int epoll, uint64_t data, bool make)
{
    const size_t i = (size_t)(((data ^ (uint64_t)epoll << 48) * 0x9e3779b97f4a7c15) >> 32) % MAX_MEMBERS;
    void **block = &member_blocks[i / MEMBERS_IN_BLOCK];
    struct member *members =
        make ? sys_block(block, MEMBERS_IN_BLOCK * sizeof *members) : __atomic_load_n(block, __ATOMIC_ACQUIRE);
    return members ? &members[i % MEMBERS_IN_BLOCK] : NULL;
}

void descriptor_add_member(int epoll, int fd, uint64_t data)
{
    const uint64_t mask = runtime.os_calls ? sys_block_signals() : SYS_NOT_BLOCKED;
    if (mask == SYS_NOT_BLOCKED)
        return;
    struct member *member = member_place(epoll, data, true);
    lock_take(&members_lock);
    if (member)
        *member = (struct member){ data, (uint64_t)(epoll + 1) << 32 | (uint32_t)fd };
    lock_release(&members_lock);
    sys_restore_signals(mask);
}

int descriptor_find_member(int epoll, uint64_t data)
{
    int fd = -1;
    const uint64_t mask = runtime.os_calls ? sys_block_signals() : SYS_NOT_BLOCKED;
    if (mask == SYS_NOT_BLOCKED)
        return fd;
    const struct member *member = member_place(epoll, data, false);
    lock_take(&members_lock);
    if (member && member->data == data && member->descriptors >> 32 == (uint64_t)epoll + 1)
        fd = (int)(uint32_t)member->descriptors;
    lock_release(&members_lock);
    sys_restore_signals(mask);
    return fd;
}
