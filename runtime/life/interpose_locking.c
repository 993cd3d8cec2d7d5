/*
 * mlockall, by which a program keeps its memory from being paged out. Few users may lock as much as they like. What the
 * runtime maps must not use up such a program's allowance. So it is not locked, neither now nor later (sys_map). If the
 * kernel refuses to lock all memory because of it, the program's own is locked piece by piece. Not part of libdwell.a.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "common.h"
#include "interposed.h"
#include "runtime.h"
#include "sys.h"

enum { LONGEST_LINE = 4400, LONGEST_FILE = 64 };

struct range {
    uint64_t begin, end;
};

/* What of the process' memory is the runtime's, besides the pieces of sys.h. */
struct own_memory {
    struct range variables;     /* of this library: private memory behind its file's */
    char session[LONGEST_FILE]; /* device and inode of the session's file, as in /proc/self/maps */
    char library[LONGEST_FILE]; /* the same of this library */
};

/* ---- /proc/self/maps ---- */

/* One line. `file` is its device and inode, or empty. */
struct mapping {
    struct range range;
    const char *file;
    size_t file_length;
};

/* BEGIN-END PERMISSIONS OFFSET DEVICE INODE NAME */
static struct mapping locking_parse(const char *line)
{
    struct mapping m = { .file = "" };
    char *at;
    m.range.begin = strtoull(line, &at, 16);
    m.range.end = strtoull(at + (*at == '-'), &at, 16);
    for (int blanks = 0; *at; at++) {
        if (*at != ' ' && *at != '\n')
            continue;
        if (++blanks == 3)
            m.file = at + 1;
        else if (blanks == 5 || *at == '\n') {
            m.file_length = (size_t)(at - m.file);
            break;
        }
    }
    if (m.file_length >= 2 && memcmp(m.file + m.file_length - 2, " 0", 2) == 0)
        m.file_length = 0;
    return m;
}

typedef void visit_mapping(const struct mapping *mapping, void *data);

/* False if the system does not tell. */
static bool locking_each_mapping(visit_mapping *visit, void *data)
{
    char text[LONGEST_LINE + 1];
    size_t used = 0;
    const int fd = sys_open("/proc/self/maps", O_RDONLY, 0);
    if (fd < 0)
        return false;
    for (;;) {
        const long got = SYS3(read, fd, text + used, LONGEST_LINE - used);
        if (got <= 0 && got != -EINTR)
            break;
        used += got > 0 ? (size_t)got : 0;
        text[used] = '\0';
        char *line = text;
        for (char *end; (end = strchr(line, '\n')); line = end + 1) {
            const struct mapping m = locking_parse(line);
            visit(&m, data);
        }
        used -= (size_t)(line - text);
        memmove(text, line, used);
    }
    sys_close(fd);
    return true;
}

static void locking_note_file(char *file, const struct mapping *m)
{
    if (m->file_length < LONGEST_FILE)
        memcpy(file, m->file, m->file_length);
}

static bool locking_holds(const struct mapping *m, const void *at)
{
    return (uint64_t)at >= m->range.begin && (uint64_t)at < m->range.end;
}

static void locking_find_files(const struct mapping *m, void *data)
{
    struct own_memory *own = data;
    if (runtime.session.header && locking_holds(m, runtime.session.header))
        locking_note_file(own->session, m);
    if (locking_holds(m, (const void *)locking_find_files))
        locking_note_file(own->library, m);
    if (locking_holds(m, &runtime)) /* its variables */
        own->variables = m->range;
}

static bool locking_is_file(const struct mapping *m, const char *file)
{
    return *file && strlen(file) == m->file_length && memcmp(file, m->file, m->file_length) == 0;
}

/* Cuts a piece where an own range begins or ends. Returns whether the piece is in that range. */
static bool locking_cut(struct range *piece, struct range own)
{
    if (own.begin > piece->begin && own.begin < piece->end)
        piece->end = own.begin;
    if (own.begin > piece->begin || own.end <= piece->begin)
        return false;
    if (own.end < piece->end)
        piece->end = own.end;
    return true;
}

/* Takes the next piece of the mapping, which is either the program's or the runtime's: the kernel may have joined both.
 * The last page of the address space is no mapping. */
static bool locking_next_piece(const struct own_memory *own, const struct mapping *m, uint64_t *at, struct range *piece,
                               bool *is_own)
{
    if (*at >= m->range.end || *at >> 63)
        return false;
    *piece = (struct range){ *at, m->range.end };
    *is_own = locking_is_file(m, own->session) || locking_is_file(m, own->library);
    if (!*is_own)
        *is_own = locking_cut(piece, own->variables);
    for (int i = 0; i < SYS_PIECES && !*is_own; i++) {
        const struct sys_piece p = sys_piece(i);
        *is_own = locking_cut(piece, (struct range){ (uint64_t)p.at, (uint64_t)p.at + p.size });
    }
    *at = piece->end;
    return true;
}

/* ---- locking ---- */

struct locking {
    struct own_memory own;
    uint64_t size; /* of the program's memory, in bytes */
    bool counts;   /* only adds the size */
    bool locks;    /* the program's memory; else the runtime's is unlocked */
    bool on_fault;
};

static void locking_visit(const struct mapping *m, void *data)
{
    struct locking *l = data;
    struct range piece;
    bool own;
    for (uint64_t at = m->range.begin; locking_next_piece(&l->own, m, &at, &piece, &own);) {
        const uint64_t size = piece.end - piece.begin;
        if (l->counts)
            l->size += own ? 0 : size;
        else if (l->locks && !own && l->on_fault)
            SYS3(mlock2, piece.begin, size, MLOCK_ONFAULT);
        else if (l->locks && !own)
            SYS2(mlock, piece.begin, size);
        else if (!l->locks && own)
            SYS2(munlock, piece.begin, size);
    }
}

static uint64_t locking_limit(void)
{
    struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
    SYS4(prlimit64, 0, RLIMIT_MEMLOCK, NULL, &limit);
    return limit.rlim_cur;
}

/* Whether this process may lock any amount. Then the runtime's memory may be locked, too: so probes wait for no page.
 */
static bool locking_is_free(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2] = { { 0 } };
    return locking_limit() == RLIM_INFINITY ||
           (SYS2(capget, &header, data) == 0 && data[0].effective & 1u << CAP_IPC_LOCK);
}

/* What mlockall would do if the runtime's memory was not there. */
static bool locking_piecewise(struct locking *l, int flags)
{
    l->counts = true;
    if (!locking_each_mapping(locking_visit, l) || l->size > locking_limit())
        return false;
    l->counts = false;
    l->locks = true;
    l->on_fault = flags & MCL_ONFAULT;
    return locking_each_mapping(locking_visit, l);
}

INTERPOSED(mlockall);
INTERPOSED(munlockall);

DWELL_EXPORT int mlockall(int flags)
{
    int (*real)(int) = (int (*)(int))interpose_next(&next_mlockall, "mlockall");
    const int before = errno;
    int result = real(flags), error = errno;
    struct locking l = { .size = 0 };
    if (!runtime.process || (result < 0 ? error != ENOMEM : locking_is_free()))
        return result;
    const uint64_t mask = sys_block_signals();
    locking_each_mapping(locking_find_files, &l.own);
    if (result < 0 && flags & MCL_CURRENT && locking_piecewise(&l, flags))
        result = flags & MCL_FUTURE ? (int)SYS1(mlockall, flags & ~MCL_CURRENT) : 0;
    else if (result == 0)
        locking_each_mapping(locking_visit, &l);
    if (result == 0)
        sys_unlocks = flags & MCL_FUTURE;
    sys_restore_signals(mask);
    errno = result == 0 ? before : error;
    return result;
}

DWELL_EXPORT int munlockall(void)
{
    int (*real)(void) = (int (*)(void))interpose_next(&next_munlockall, "munlockall");
    sys_unlocks = false;
    return real();
}
