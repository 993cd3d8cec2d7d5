/* Creates or joins a session file, claims chunks at its end, and maps them. It uses bare system calls, which leave
 * errno as it is. */
#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>

#include "clock.h"
#include "guard.h"
#include "offers.h"
#include "rotation.h"
#include "session_lock.h"
#include "sys.h"

enum {
    PIECE = 64 << 10,       /* bytes of zeros in memory */
    PIECES = 16,            /* of these in one write */
    SMALL_CLAIM = 16 << 10, /* not for events: what belongs to a process or a thread */
    RESERVED_PART = 16,     /* of the maximum size, for small claims only */
    OWNER_PATIENCE = 200,   /* milliseconds to wait until another process has filled page 0 */
};

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

static enum dwell_machine session_machine(void)
{
#if defined(__x86_64__)
    return DWELL_MACHINE_X86_64;
#else
    return DWELL_MACHINE_AARCH64;
#endif
}

static int session_map_header(struct session *session, int fd)
{
    struct stat status;
    long error = SYS2(fstat, fd, &status);
    if (error < 0)
        return (int)error;
    session->device = status.st_dev;
    session->inode = status.st_ino;
    session->header = sys_map(DWELL_UNIT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return session->header ? 0 : -ENOMEM;
}

/* Beyond RLIMIT_FSIZE the kernel would not only refuse: it would send the program SIGXFSZ. */
bool session_beyond_limit(uint64_t end)
{
    struct rlimit limit;
    return SYS4(prlimit64, 0, RLIMIT_FSIZE, NULL, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
           end > limit.rlim_cur;
}

/* Takes space by writing zeros instead of fallocate. In both cases a full disk is an error here, not a SIGBUS in the
 * program. But written pages come into the page cache in large pieces. Mapping them costs a third of faulting in
 * reserved ones. */
long session_write_zeros(int fd, uint64_t offset, uint32_t size)
{
    static const char zeros[PIECE];
    for (int tries = 0; size > 0;) {
        struct iovec pieces[PIECES];
        uint32_t left = size;
        int count = 0;
        for (; left > 0 && count < PIECES; count++) {
            pieces[count] = (struct iovec){ (void *)zeros, left < PIECE ? left : PIECE };
            left -= (uint32_t)pieces[count].iov_len;
        }
        long wrote = SYS5(pwritev, fd, pieces, count, offset, 0);
        if (wrote == -EINTR && ++tries < MAX_INTERRUPTIONS)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? wrote : -ENOSPC;
        offset += (uint64_t)wrote;
        size -= (uint32_t)wrote;
    }
    return 0;
}

uint64_t session_usual_keep_free(int fd)
{
    const uint64_t most = 1ull << 30;
    struct statfs disk = { .f_blocks = 0 };
    SYS2(fstatfs, fd, &disk);
    const uint64_t part = (uint64_t)disk.f_blocks / 20 * (uint64_t)disk.f_bsize;
    return part < most ? part : most;
}

/* The magic of page 0 is written last, so that a reader sees a whole header or none. */
static int session_write_header(struct session *session, int fd, const struct session_settings *settings)
{
    struct dwell_file_header header = {
        .version = DWELL_VERSION,
        .byte_order = DWELL_BYTE_ORDER,
        .machine = (uint16_t)session_machine(),
        .unit = DWELL_UNIT,
        .cursor = DWELL_UNIT,
        .next_process = 1,
        .next_thread = 1,
        .state = DWELL_RECORDING,
        .recorder_pid = settings->recorder_pid,
        .max_size = settings->max_size,
        .shared_ring = settings->shared_ring,
    };
    header.keep_free = settings->keep_free ? strtoull(settings->keep_free, NULL, 10) : session_usual_keep_free(fd);
    int error = session_beyond_limit(DWELL_UNIT) ? -EFBIG : (int)session_write_zeros(fd, 0, DWELL_UNIT);
    if (error == 0)
        error = session_map_header(session, fd);
    if (error < 0)
        return error;
    enum dwell_clock clock = clock_choose(settings->clock);
    header.clock = (uint16_t)clock;
    header.ticks_per_second = clock_frequency(clock);
    SYS3(getrandom, header.session_id, sizeof header.session_id, 0);
    header.start_ticks = clock_now(clock);
    header.start_monotonic = clock_monotonic();
    header.start_realtime = clock_realtime();
    memcpy(session->id, header.session_id, sizeof session->id);
    guard_header(session->header, &header);
    memcpy(session->header, &header, sizeof header);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    memcpy(session->header->magic, DWELL_FILE_MAGIC, sizeof header.magic);
    return 0;
}

static int session_check_header(const struct dwell_file_header *header)
{
    if (memcmp(header->magic, DWELL_FILE_MAGIC, sizeof header->magic) != 0)
        return SESSION_NOT_OURS;
    if (header->version != DWELL_VERSION || header->machine != session_machine() || !clock_usable(header->clock))
        return SESSION_OTHER_KIND;
    return 0;
}

/* Joins a session that another process created a moment or a long time ago. */
static int session_join(struct session *session, int fd)
{
    for (int i = 0; i < OWNER_PATIENCE; i++) {
        struct stat status;
        if (SYS2(fstat, fd, &status) == 0 && status.st_size >= (off_t)DWELL_UNIT) {
            int error = session_map_header(session, fd);
            if (error < 0)
                return error;
            error = session_check_header(session->header);
            guard_header(session->header, session->header);
            memcpy(session->id, session->header->session_id, sizeof session->id);
            if (error != SESSION_NOT_OURS || session->header->magic[0] != '\0')
                return error;
            sys_unmap(session->header, DWELL_UNIT);
        }
        sys_sleep_a_millisecond();
    }
    return SESSION_NOT_OURS;
}

/* Examines the file at `path`: a finished session (0), a running one (SESSION_IN_USE), or SESSION_NOT_OURS. */
static int session_examine(int fd)
{
    char magic[8];
    long got = SYS4(pread64, fd, magic, sizeof magic, 0);
    bool empty = got == 0 || (got == (long)sizeof magic && magic[0] == '\0');
    bool ours = got == (long)sizeof magic && memcmp(magic, DWELL_FILE_MAGIC, sizeof magic) == 0;
    if (!ours && !empty)
        return SESSION_NOT_OURS;
    if (!session_lock_alone(fd))
        return SESSION_IN_USE;
    return ours ? 0 : SESSION_NOT_OURS;
}

bool session_is_private(const struct stat *status)
{
    return S_ISREG(status->st_mode) && status->st_uid == (uid_t)SYS0(geteuid) &&
           !(status->st_mode & (S_IWGRP | S_IWOTH));
}

/* Returns -EEXIST if the name exists already. No link is followed then. */
static int session_create_file(struct session *session, const char *path, const struct session_settings *settings)
{
    int fd = sys_open(path, O_RDWR | O_CREAT | O_EXCL, SESSION_FILE_MODE);
    if (fd < 0)
        return fd;
    session_lock_as_writer(fd);
    struct stat status;
    int error = SYS2(fstat, fd, &status) == 0 && !session_is_private(&status) ? SESSION_NOT_PRIVATE : 0;
    if (error == 0)
        error = session_write_header(session, fd, settings);
    if (error < 0) {
        SYS3(unlinkat, AT_FDCWD, path, 0);
        sys_close(fd);
        return error;
    }
    return fd;
}

/* ---- the key ---- */

enum { KEY_DIGITS = 32 }; /* of the session's id */

static const char session_digits[] = "0123456789abcdef";

void session_write_key(const struct session *session, const char *path, char key[SESSION_KEY_SIZE])
{
    for (int i = 0; i < KEY_DIGITS; i++)
        *key++ = session_digits[session->id[i / 16] >> (60 - 4 * (i % 16)) & 15];
    *key++ = ':';
    strcpy(key, path);
}

/* Reads the id of a key of that path. Returns false if there is none. */
static bool session_read_key(const char *key, const char *path, uint64_t id[2])
{
    if (!key || strlen(key) <= KEY_DIGITS || key[KEY_DIGITS] != ':' || strcmp(key + KEY_DIGITS + 1, path) != 0)
        return false;
    id[0] = id[1] = 0;
    for (int i = 0; i < KEY_DIGITS; i++) {
        const char *digit = strchr(session_digits, key[i]);
        if (!digit)
            return false;
        id[i / 16] = id[i / 16] << 4 | (uint64_t)(digit - session_digits);
    }
    return id[0] || id[1];
}

/* Whether the session at `path` is the one of the key: SESSION_IN_USE, even if nobody writes to it. */
static int session_compare_key(int fd, const uint64_t id[2])
{
    struct dwell_file_header header;
    const bool read = SYS4(pread64, fd, &header, sizeof header, 0) == (long)sizeof header;
    const bool ours = read && memcmp(header.magic, DWELL_FILE_MAGIC, sizeof header.magic) == 0;
    return !ours                                                          ? SESSION_NOT_OURS
           : memcmp(header.session_id, id, sizeof header.session_id) == 0 ? SESSION_IN_USE
                                                                          : SESSION_REPLACED;
}

/* ---- creating and joining ---- */

/* A link to a finished session is renamed. No other link is followed. */
static int session_enter_existing(struct session *session, const char *path, const struct session_settings *settings)
{
    int fd = sys_open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW, 0);
    const bool link = fd == -ELOOP;
    if (link)
        fd = sys_open(path, O_RDWR | O_NONBLOCK, 0);
    if (fd < 0)
        return link ? -ELOOP : fd;
    struct stat status;
    uint64_t id[2];
    int state = SYS2(fstat, fd, &status) < 0 || !S_ISREG(status.st_mode) ? SESSION_NOT_OURS
                : session_read_key(settings->key, path, id)              ? session_compare_key(fd, id)
                                                                         : session_examine(fd);
    if (state == SESSION_IN_USE && settings->join) {
        state = link ? -ELOOP : session_is_private(&status) ? session_join(session, fd) : SESSION_NOT_PRIVATE;
        if (state == 0) {
            session_lock_as_writer(fd);
            return fd;
        }
    } else if (state == 0) {
        state = rotation_begin(path, fd);
        if (state == 0)
            state = -EAGAIN; /* the name is free now */
    }
    sys_close(fd);
    return state;
}

int session_create(struct session *session, const char *path, const struct session_settings *settings)
{
    session->limited = settings->join;
    for (int i = 0; i < 8; i++) {
        int fd = session_create_file(session, path, settings);
        if (fd < 0 && fd != -EEXIST)
            rotation_undo(path);
        if (fd != -EEXIST)
            return fd;
        fd = session_enter_existing(session, path, settings);
        if (fd != -EAGAIN && fd != -ENOENT)
            return fd;
    }
    return SESSION_IN_USE;
}

int session_reopen(const struct session *session, const char *path)
{
    int fd = sys_open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW, 0);
    if (fd < 0)
        return fd;
    struct stat status;
    long error = SYS2(fstat, fd, &status);
    if (error == 0 && status.st_dev == session->device && status.st_ino == session->inode) {
        session_lock_as_writer(fd);
        return fd;
    }
    sys_close(fd);
    return -ESTALE;
}

void session_trouble(const struct session *session, enum dwell_trouble trouble)
{
    if (trouble == DWELL_TROUBLE_NO_MEMORY && sys_map_was_refused())
        trouble = DWELL_TROUBLE_REFUSED;
    if (session_is_whole(session))
        __atomic_fetch_or(&session->header->trouble, trouble, __ATOMIC_RELAXED);
}

void session_lose(const struct session *session, uint64_t events)
{
    if (session_is_whole(session))
        __atomic_fetch_add(&session->header->lost_events, events, __ATOMIC_RELAXED);
}

static bool session_is_header(const struct session *session, const struct dwell_file_header *header)
{
    return memcmp(header->magic, DWELL_FILE_MAGIC, sizeof header->magic) == 0 &&
           memcmp(header->session_id, session->id, sizeof session->id) == 0;
}

bool session_is_whole(const struct session *session)
{
    return session_is_header(session, session->header);
}

/* Each count is moved once, whatever threads and forked processes do the same. */
static void session_move_count(uint64_t *from, uint64_t *to)
{
    const uint64_t count = __atomic_exchange_n(from, 0, __ATOMIC_RELAXED);
    if (count)
        __atomic_fetch_add(to, count, __ATOMIC_RELAXED);
}

static void session_move_counts(struct dwell_file_header *from, struct dwell_file_header *to)
{
    session_move_count(&from->lost_events, &to->lost_events);
    session_move_count(&from->lost_threads, &to->lost_threads);
    session_move_count(&from->lost_trace_events, &to->lost_trace_events);
    session_move_count(&from->replaced_events, &to->replaced_events);
    struct dwell_file_more *more = (struct dwell_file_more *)(from + 1), *more_to = (struct dwell_file_more *)(to + 1);
    session_move_count(&more->hole_searches, &more_to->hole_searches);
    session_move_count(&more->code_changes, &more_to->code_changes);
    session_move_count(&more->change_time, &more_to->change_time);
    session_move_count(&more->lost_values, &more_to->lost_values);
    session_move_count(&more->unstored_values, &more_to->unstored_values);
    session_move_count(&more->late_values, &more_to->late_values);
    __atomic_fetch_or(&to->trouble, from->trouble | guard_trouble(), __ATOMIC_RELAXED);
}

/* Maps page 0 another time. The store that makes it writable fails here, and not with a signal. */
bool session_settle(const struct session *session, int fd)
{
    if (!session_is_whole(session))
        return false;
    if (!guard_header_is_lost()) {
        if (guard_trouble() & ~session->header->trouble)
            session_trouble(session, guard_trouble());
        return true;
    }
    struct dwell_file_header *page = sys_map(DWELL_UNIT, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (!page || !guard_add(page, DWELL_UNIT, 0)) {
        sys_unmap(page, DWELL_UNIT);
        return false;
    }
    const long error = SYS3(madvise, page, DWELL_UNIT, MADV_POPULATE_WRITE);
    const bool writable = (error == 0 || error == -EINVAL) && session_is_header(session, page);
    if (writable) {
        session_move_counts(session->header, page);
        if (guard_first_lost(page, DWELL_UNIT) == 0) /* after all */
            session_move_counts(page, session->header);
    }
    session_unmap(page, DWELL_UNIT);
    return writable;
}

static bool session_leaves_free(const struct session *session, int fd, uint32_t size)
{
    struct statfs disk = { .f_bavail = 0 };
    if (!session->header->keep_free || SYS2(fstatfs, fd, &disk) < 0)
        return true;
    const uint64_t room = (uint64_t)disk.f_bavail * (uint64_t)disk.f_bsize;
    return room >= size && room - size >= session->header->keep_free;
}

/* Notes that recording ends at a limit, and when. */
static uint64_t session_end_at_limit(const struct session *session, enum dwell_trouble limit)
{
    uint64_t never = 0;
    if (limit != DWELL_TROUBLE_MAX_SIZE || !session->header->shared_ring)
        session_trouble(session, limit);
    __atomic_compare_exchange_n(&session->header->limit_time, &never, clock_now(session->header->clock), false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return 0;
}

/* What the recorder wrote when it believed that no process was left (trace/session_seal.c in the analyzer). */
static void session_break_seal(struct dwell_file_header *header)
{
    struct dwell_seal *seal = (struct dwell_seal *)((char *)header + DWELL_SEAL_OFFSET);
    if (seal->length)
        *seal = (struct dwell_seal){ 0 };
}

/* Which limit keeps `size` bytes from being claimed at `offset`; zero if none does. */
static uint32_t session_limit_at(const struct session *session, int fd, uint64_t offset, uint32_t size)
{
    const uint64_t max_size = session->limited ? session->header->max_size : 0;
    const uint64_t reserved = size > SMALL_CLAIM ? max_size / RESERVED_PART : 0;
    if (max_size && offset + size + reserved > max_size)
        return DWELL_TROUBLE_MAX_SIZE;
    return session->limited && !session_leaves_free(session, fd, size) ? DWELL_TROUBLE_KEEP_FREE : 0;
}

bool session_is_at_limit(const struct session *session, int fd, uint32_t size)
{
    return session_limit_at(session, fd, __atomic_load_n(&session->header->cursor, __ATOMIC_RELAXED), size) != 0;
}

/* Takes the next bytes of the file. Returns their offset, or zero if there is a limit. */
static uint64_t session_advance(const struct session *session, int fd, uint32_t size)
{
    struct dwell_file_header *header = session->header;
    uint64_t offset = __atomic_load_n(&header->cursor, __ATOMIC_RELAXED);
    do {
        const uint32_t limit = session_limit_at(session, fd, offset, size);
        if (limit)
            return session_end_at_limit(session, limit);
    } while (!__atomic_compare_exchange_n(&header->cursor, &offset, offset + size, true, __ATOMIC_RELAXED,
                                          __ATOMIC_RELAXED));
    session_break_seal(header);
    if (offset < header->warn_size && offset + size >= header->warn_size) {
        __atomic_store_n(&header->warned, 1, __ATOMIC_RELEASE);
        sys_futex_wake_shared(&header->warned);
    }
    return offset;
}

/* A process may be killed between a claim and the file's growth. So the length that the file has had is noted, too. */
static void session_note_filled(const struct session *session, uint64_t end)
{
    uint64_t *filled = &session_more(session)->filled, before = __atomic_load_n(filled, __ATOMIC_RELAXED);
    while (before < end && !__atomic_compare_exchange_n(filled, &before, end, true, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        continue;
}

uint64_t session_claim(const struct session *session, int fd, uint32_t size)
{
    if (!session_is_whole(session)) {
        guard_note(DWELL_TROUBLE_TRUNCATED);
        return 0;
    }
    const uint32_t ended = DWELL_TROUBLE_NO_SPACE | (session->limited ? DWELL_TROUBLE_KEEP_FREE : 0);
    if (__atomic_load_n(&session->header->trouble, __ATOMIC_RELAXED) & ended)
        return 0;
    uint64_t offset = offers_take(session, fd, size);
    if (offset) {
        session_break_seal(session->header);
        return offset;
    }
    offset = session_advance(session, fd, size);
    if (!offset)
        return 0;
    long error = session_beyond_limit(offset + size) ? -EFBIG : session_write_zeros(fd, offset, size);
    if (error == 0) {
        session_note_filled(session, offset + size);
        return offset;
    }
    const bool full = error == -ENOSPC || error == -EDQUOT || error == -EFBIG;
    session_trouble(session, full ? DWELL_TROUBLE_NO_SPACE : DWELL_TROUBLE_REFUSED);
    return 0;
}

/* Kernels before 5.14 cannot populate. Touch each page instead, by adding zero. */
static void session_touch_pages(char *at, uint32_t size)
{
    for (uint32_t i = 0; i < size; i += DWELL_UNIT)
        __atomic_fetch_add(at + i, 0, __ATOMIC_RELAXED);
}

/* Whether the file has `end` bytes. */
static bool session_ends_at(int fd, uint64_t end)
{
    struct stat status;
    return SYS2(fstat, fd, &status) < 0 || (uint64_t)status.st_size >= end;
}

void *session_map(const struct session *session, int fd, uint64_t offset, uint32_t size)
{
    char *at = sys_map(size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    if (at && !guard_add(at, size, offset)) {
        sys_unmap(at, size);
        at = NULL;
    }
    if (!at) {
        session_trouble(session, DWELL_TROUBLE_NO_MEMORY);
        return NULL;
    }
    SYS3(madvise, at, size, MADV_DONTFORK);
    long error = SYS3(madvise, at, size, MADV_POPULATE_WRITE);
    if (error == -EFAULT && session_ends_at(fd, offset + size)) /* somebody cut it, and it is longer again */
        error = SYS3(madvise, at, size, MADV_POPULATE_WRITE);
    if (error == -EFAULT || error == -EIO || error == -ENOMEM || error == -EHWPOISON) { /* an access would be fatal */
        session_unmap(at, size);
        session_trouble(session, error == -ENOMEM                     ? DWELL_TROUBLE_NO_MEMORY
                                 : session_ends_at(fd, offset + size) ? DWELL_TROUBLE_NO_SPACE
                                                                      : DWELL_TROUBLE_TRUNCATED);
        return NULL;
    }
    if (error < 0)
        session_touch_pages(at, size); /* populating is refused or unknown; the pages exist */
    return at;
}

void session_unmap(void *at, uint32_t size)
{
    guard_remove(at, size);
    sys_unmap(at, size);
}
