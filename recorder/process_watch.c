/*
 * Two threads that watch the recorded processes. One finds new processes by their control chunks, and opens a pidfd of
 * each. The other waits for the ends. So a killed process ends in the session when it ended, whatever its parent does.
 *
 * A process knows its PID in its own PID namespace only. But it maps its control chunk, and no other process does. So
 * /proc/PID/maps shows whether a process is the right one.
 */
#include "recorder/process_watch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "clock.h"
#include "recorder/control_chunk.h"
#include "recorder/keep_program.h"
#include "recorder/service_thread.h"
#include "sys.h"

struct watched_process {
    uint32_t serial;
    uint32_t pid;    /* as it knows itself */
    uint32_t here;   /* its PID here */
    int pidfd;       /* negative: the kernel has none, and /proc is read now and then */
    uint64_t start;  /* in clock ticks since boot */
    uint64_t offset; /* of its control chunk */
    uint64_t missed; /* when no process here was found to be it, in ticks; or zero */
    int status;      /* of one that was missed */
};

enum {
    WATCH_INTERVAL = 50, /* milliseconds */
    SEARCH_INTERVAL = 5, /* of these between two searches through /proc */
    WATCH_BATCH = 64,
};

/* ---- what /proc says ---- */

struct process_stat {
    char state;
    uint64_t usage; /* CPU time in clock ticks */
    uint64_t start; /* clock ticks since boot */
    int status;     /* of a zombie, as waitpid returns it */
};

/* False if there is no such process. Needs no memory. */
static bool watch_read_stat(uint32_t pid, struct process_stat *stat)
{
    char path[64], text[2048];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0)
        close(fd);
    if (length < 0)
        return false;
    text[length] = '\0';
    char *at = strrchr(text, ')'), *rest = at ? at + 1 : NULL; /* a name may contain parentheses */
    *stat = (struct process_stat){ .status = FINISH_STATUS_UNKNOWN };
    int field = 3;
    for (char *word; rest && (word = strtok_r(NULL, " \n", &rest)); field++) {
        if (field == 3)
            stat->state = *word;
        else if (field == 14 || field == 15)
            stat->usage += strtoull(word, NULL, 10);
        else if (field == 22)
            stat->start = strtoull(word, NULL, 10);
        else if (field == 52)
            stat->status = atoi(word);
    }
    return field > 22;
}

static bool zombie_is(uint32_t pid, uint64_t start, struct process_stat *stat)
{
    return watch_read_stat(pid, stat) && stat->state == 'Z' && (!start || stat->start == start);
}

bool zombie_read_cpu(uint32_t pid, struct zombie_cpu *cpu)
{
    struct process_stat stat;
    clockid_t clock;
    struct timespec time;
    const long rate = sysconf(_SC_CLK_TCK);
    if (rate <= 0 || !zombie_is(pid, 0, &stat) || clock_getcpuclockid((pid_t)pid, &clock) != 0 ||
        clock_gettime(clock, &time) < 0)
        return false;
    cpu->usage = stat.usage * 1000000000u / (uint64_t)rate;
    cpu->clock = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
    return true;
}

static bool watch_has_ended(uint32_t pid, uint64_t start)
{
    struct process_stat stat;
    return !watch_read_stat(pid, &stat) || stat.start != start || stat.state == 'Z' || stat.state == 'X';
}

/* Calls `visit` for each mapping until it returns true. Returns whether it did; errno is set if there is no file. */
struct mapping {
    uint64_t begin, end, offset;
    const char *file; /* device and inode */
};

static bool watch_visit_mappings(const char *path, bool (*visit)(const struct mapping *, void *), void *data)
{
    FILE *in = fopen(path, "re");
    if (!in)
        return false;
    errno = 0;
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    while (!found && getline(&line, &room, in) > 0) {
        struct mapping m;
        char permissions[8], device[32], inode[32], file[65];
        if (sscanf(line, "%lx-%lx %7s %lx %31s %31s", &m.begin, &m.end, permissions, &m.offset, device, inode) != 6)
            continue;
        snprintf(file, sizeof file, "%s %s", device, inode);
        m.file = file;
        found = visit(&m, data);
    }
    free(line);
    fclose(in);
    errno = 0;
    return found;
}

struct header_search {
    uint64_t address;
    char *file;
};

static bool watch_is_header(const struct mapping *m, void *data)
{
    struct header_search *s = data;
    if (s->address < m->begin || s->address >= m->end)
        return false;
    s->file = need_copy(m->file, strlen(m->file));
    return true;
}

/* stat may give another device than the mappings do (overlayfs, btrfs). NULL if /proc is of another PID namespace. */
static char *watch_find_own_file(const struct session *session)
{
    char self[32] = "";
    const ssize_t length = readlink("/proc/self", self, sizeof self - 1);
    struct header_search s = { (uint64_t)session->header, NULL };
    if (length > 0 && atoi(self) == (int)getpid())
        watch_visit_mappings("/proc/self/maps", watch_is_header, &s);
    return s.file;
}

struct chunk_search {
    const char *file;
    uint64_t offset;
};

static bool watch_is_chunk(const struct mapping *m, void *data)
{
    const struct chunk_search *s = data;
    return s->offset >= m->offset && s->offset < m->offset + (m->end - m->begin) && strcmp(m->file, s->file) == 0;
}

enum sight { SIGHT_HERE, SIGHT_NOT_IT, SIGHT_UNKNOWN };

/* Whether the process maps the control chunk at `offset`. */
static enum sight watch_look_at(const struct process_watch *w, uint32_t pid, uint64_t offset)
{
    char path[64];
    struct chunk_search s = { w->file, offset };
    snprintf(path, sizeof path, "/proc/%u/maps", pid);
    if (watch_visit_mappings(path, watch_is_chunk, &s))
        return SIGHT_HERE;
    return errno == 0 || errno == ENOENT || errno == ESRCH ? SIGHT_NOT_IT : SIGHT_UNKNOWN;
}

/* Reads a line of /proc/PID/status. The caller frees it. */
static char *watch_status_line(uint32_t pid, const char *name)
{
    char path[64], *line = NULL;
    size_t room = 0;
    snprintf(path, sizeof path, "/proc/%u/status", pid);
    FILE *in = fopen(path, "re");
    bool found = false;
    while (in && !found && getline(&line, &room, in) > 0)
        found = strncmp(line, name, strlen(name)) == 0;
    if (in)
        fclose(in);
    if (found)
        return line;
    free(line);
    return NULL;
}

static bool watch_is_of_this_user(uint32_t pid)
{
    char *line = watch_status_line(pid, "Uid:");
    const bool same = line && strtoul(line + strlen("Uid:"), NULL, 10) == getuid();
    free(line);
    return same;
}

/* The PID of a process in its own PID namespace. Zero if that is the namespace here. */
static uint32_t watch_inner_pid(uint32_t here)
{
    char *line = watch_status_line(here, "NSpid:");
    char *last = line ? strrchr(line, '\t') : NULL;
    const uint32_t pid = last && last > strchr(line, '\t') ? (uint32_t)strtoul(last + 1, NULL, 10) : 0;
    free(line);
    return pid;
}

/* ---- new processes ---- */

static int watch_open_pidfd(uint32_t pid)
{
#ifdef SYS_pidfd_open
    return (int)syscall(SYS_pidfd_open, pid, 0);
#else
    (void)pid;
    errno = ENOSYS;
    return -1;
#endif
}

/* A process whose mappings are not to be seen. A recorded one is younger than dwell. */
static enum sight watch_guess(const struct process_watch *w, uint32_t pid)
{
    struct process_stat stat;
    if (!watch_read_stat(pid, &stat) || stat.start < w->start)
        return SIGHT_NOT_IT;
    return watch_is_of_this_user(pid) ? SIGHT_HERE : SIGHT_UNKNOWN;
}

/* Whether the process with this PID here is the one. The pidfd is opened before it is compared. So the pidfd is not
 * that of a later process with the same PID. */
static enum sight watch_find_process(const struct process_watch *w, struct watched_process *p)
{
    p->pidfd = watch_open_pidfd(p->here);
    if (p->pidfd < 0 && errno == ESRCH)
        return SIGHT_NOT_IT;
    if (!w->file)
        return SIGHT_HERE;
    const enum sight sight = watch_look_at(w, p->here, p->offset);
    return sight == SIGHT_UNKNOWN ? watch_guess(w, p->here) : sight;
}

/* How a process ended that is a zombie, or has just been one. */
static int watch_read_status(const struct watched_process *p)
{
    struct process_stat stat;
    struct { /* struct pidfd_info of Linux 6.15 */
        uint64_t mask, cgroup;
        uint32_t numbers[11];
        int32_t status;
    } info = { .mask = 1 << 3 }; /* PIDFD_INFO_EXIT */
    if (zombie_is(p->here, p->start, &stat) &&
        (stat.status || geteuid() == 0 || watch_is_of_this_user(p->here))) /* others read a zero */
        return stat.status;
    if (p->pidfd >= 0 && ioctl(p->pidfd, _IOWR(0xff, 11, info), &info) == 0 && info.mask & 1 << 3) /* PIDFD_GET_INFO */
        return info.status;
    return FINISH_STATUS_UNKNOWN;
}

/* If the write fails, the thread wakes by itself after SERVICE_PATIENCE. */
static void watch_wake(const struct process_watch *w)
{
    const uint64_t one = 1;
    (void)!write(w->wake, &one, sizeof one);
}

static void watch_remove(struct process_watch *w, size_t i)
{
    if (w->list[i].pidfd >= 0)
        close(w->list[i].pidfd);
    else
        w->polled--;
    w->list[i] = w->list[--w->count];
}

/* A process that was killed has not recorded its CPU time. */
static void watch_record_cpu(struct process_watch *w, const struct watched_process *p, int status, uint64_t time)
{
    struct process_stat stat;
    struct zombie_cpu cpu;
    if (WIFSIGNALED(status) && zombie_is(p->here, p->start, &stat) && zombie_read_cpu(p->here, &cpu))
        finish_cpu_add(w->ends, p->serial, p->pid, cpu.usage, cpu.clock, time);
}

static void watch_record_end(struct process_watch *w, size_t i)
{
    const struct watched_process *p = &w->list[i];
    const int status = p->missed ? p->status : watch_read_status(p);
    const uint64_t time = p->missed ? p->missed : clock_now(w->session->header->clock);
    if (!p->missed) {
        watch_record_cpu(w, p, status, time);
        control_chunk_deafen(w->fd, p->offset, p->serial);
    }
    finish_ends_add(w->ends, p->serial, p->pid, status, time);
    if (!p->missed || control_chunk_has_ended(w->fd, p->offset, p->serial)) /* else it may live unseen */
        gone_processes_add(&w->gone, p->serial);
    watch_remove(w, i);
}

static void watch_add(struct process_watch *w, const struct watched_process *p)
{
    GROW(w->list, w->count, w->room);
    w->list[w->count++] = *p;
    w->polled += p->pidfd < 0;
    if (p->pidfd < 0)
        watch_wake(w);
}

/* Adds a process that was found. If an exec made it of another one, that has ended. */
static void watch_add_found(struct process_watch *w, struct watched_process *p)
{
    struct process_stat stat;
    for (size_t i = 0; i < w->count; i++)
        if (w->list[i].here == p->here && !w->list[i].missed) {
            watch_record_end(w, i);
            break;
        }
    p->start = watch_read_stat(p->here, &stat) ? stat.start : 0;
    struct epoll_event event = { .events = EPOLLIN, .data.u32 = p->serial };
    if (p->pidfd >= 0 && epoll_ctl(w->events, EPOLL_CTL_ADD, p->pidfd, &event) < 0) {
        close(p->pidfd);
        p->pidfd = -1;
    }
    watch_add(w, p);
}

static void watch_drop_pidfd(struct watched_process *p)
{
    if (p->pidfd >= 0)
        close(p->pidfd);
    p->pidfd = -1;
}

/* Returns the offset of the control chunk that was made before. */
static uint64_t watch_visit(struct process_watch *w, uint64_t offset)
{
    struct dwell_control c;
    const size_t head = offsetof(struct dwell_control, text);
    if (pread(w->fd, &c, head, (off_t)offset) != (ssize_t)head || c.chunk.kind != DWELL_CHUNK_CONTROL)
        return 0;
    struct watched_process p = { .serial = c.chunk.process, .pid = c.pid, .here = c.pid, .offset = offset };
    const enum sight sight = watch_find_process(w, &p);
    if (sight == SIGHT_NOT_IT) {
        p.status = watch_read_status(&p);
        p.missed = clock_now(w->session->header->clock);
    }
    if (sight == SIGHT_HERE)
        keep_program(p.here, w->fd);
    else
        watch_drop_pidfd(&p);
    pthread_mutex_lock(&w->lock);
    if (sight == SIGHT_HERE)
        watch_add_found(w, &p);
    else if (sight == SIGHT_NOT_IT)
        watch_add(w, &p);
    if (sight == SIGHT_NOT_IT && control_chunk_has_ended(w->fd, offset, p.serial))
        watch_record_end(w, w->count - 1);
    pthread_mutex_unlock(&w->lock);
    return c.next;
}

static void watch_visit_new(struct process_watch *w, uint64_t latest)
{
    struct control_walk walk = control_walk_begin(latest);
    while (walk.at && walk.at != w->visited)
        control_walk_on(&walk, watch_visit(w, walk.at));
    __atomic_store_n(&w->visited, latest, __ATOMIC_RELEASE);
}

static void *watch_newcomers(void *argument)
{
    struct process_watch *w = argument;
    const uint64_t *first = &w->session->header->first_control;
    for (bool last = false; !last;) {
        last = __atomic_load_n(&w->stop, __ATOMIC_ACQUIRE);
        const uint64_t latest = __atomic_load_n(first, __ATOMIC_ACQUIRE);
        if (latest)
            sampler_want(w->sampler);
        watch_visit_new(w, latest);
        if (!last)
            sys_futex_wait_shared((const uint32_t *)first, (uint32_t)latest, SERVICE_PATIENCE);
    }
    return NULL;
}

/* ---- ends ---- */

static void watch_serial_ended(struct process_watch *w, uint32_t serial)
{
    for (size_t i = 0; i < w->count; i++)
        if (w->list[i].serial == serial && w->list[i].pidfd >= 0) {
            watch_record_end(w, i);
            return;
        }
}

/* A process that was missed has ended, or it is this one of another PID namespace. */
static void watch_compare_missed(struct process_watch *w, uint32_t here)
{
    const uint32_t inner = watch_inner_pid(here);
    for (size_t i = w->count; inner && i-- > 0;) {
        struct watched_process p = w->list[i];
        if (!p.missed || p.pid != inner)
            continue;
        p.here = here;
        p.start = 0;
        w->list[i].status = watch_read_status(&p); /* of a zombie, which maps nothing any more */
        const enum sight sight = watch_find_process(w, &p);
        if (sight != SIGHT_HERE)
            watch_drop_pidfd(&p);
        if (sight == SIGHT_NOT_IT)
            continue;
        p.missed = 0;
        watch_remove(w, i);
        if (sight == SIGHT_HERE)
            watch_add_found(w, &p);
    }
}

static void watch_search_missed(struct process_watch *w)
{
    bool any = false;
    for (size_t i = 0; i < w->count; i++)
        any |= w->list[i].missed != 0;
    DIR *all = any && w->file ? opendir("/proc") : NULL;
    for (const struct dirent *one; all && (one = readdir(all));)
        if (*one->d_name >= '1' && *one->d_name <= '9')
            watch_compare_missed(w, (uint32_t)strtoul(one->d_name, NULL, 10));
    if (all)
        closedir(all);
    for (size_t i = w->count; i-- > 0;)
        if (w->list[i].missed)
            watch_record_end(w, i);
}

static void watch_poll(struct process_watch *w)
{
    for (size_t i = w->count; i-- > 0;)
        if (w->list[i].pidfd < 0 && !w->list[i].missed && watch_has_ended(w->list[i].here, w->list[i].start))
            watch_record_end(w, i);
    if (w->polls++ % SEARCH_INTERVAL == 0)
        watch_search_missed(w);
}

/* Returns whether there may be more. */
static bool watch_take_ends(struct process_watch *w, int patience)
{
    struct epoll_event events[WATCH_BATCH];
    const int count = epoll_wait(w->events, events, WATCH_BATCH, patience);
    uint64_t woken;
    pthread_mutex_lock(&w->lock);
    for (int i = 0; i < count; i++)
        if (events[i].data.u32)
            watch_serial_ended(w, events[i].data.u32);
        else if (read(w->wake, &woken, sizeof woken) < 0)
            continue; /* another wake was read */
    if (w->polled)
        watch_poll(w);
    pthread_mutex_unlock(&w->lock);
    return count == WATCH_BATCH;
}

static void *watch_leavers(void *argument)
{
    struct process_watch *w = argument;
    while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
        pthread_mutex_lock(&w->lock);
        const int patience = w->polled ? WATCH_INTERVAL : SERVICE_PATIENCE;
        pthread_mutex_unlock(&w->lock);
        watch_take_ends(w, patience);
    }
    return NULL;
}

/* ---- the threads ---- */

static bool watch_open(struct process_watch *w)
{
    w->events = epoll_create1(EPOLL_CLOEXEC);
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event event = { .events = EPOLLIN, .data.u32 = 0 };
    return w->events >= 0 && w->wake >= 0 && epoll_ctl(w->events, EPOLL_CTL_ADD, w->wake, &event) == 0;
}

static void watch_close(struct process_watch *w)
{
    while (w->count)
        watch_remove(w, 0);
    if (w->events >= 0)
        close(w->events);
    if (w->wake >= 0)
        close(w->wake);
    free(w->list);
    gone_processes_end(&w->gone);
    free(w->file);
    pthread_mutex_destroy(&w->lock);
}

/* The thread may be about to sleep on a word that nobody changes now. */
static void watch_end_newcomers(struct process_watch *w)
{
    __atomic_store_n(&w->stop, 1, __ATOMIC_RELEASE);
    for (;;) {
        sys_futex_wake_shared((uint32_t *)&w->session->header->first_control);
        if (pthread_tryjoin_np(w->newcomers, NULL) == 0)
            break;
        usleep(100); /* if that fails, the next try is at once */
    }
}

void process_watch_start(struct process_watch *w, const struct session *session, int fd, struct sampler *sampler)
{
    *w = (struct process_watch){ .session = session, .fd = fd, .sampler = sampler, .events = -1, .wake = -1 };
    w->ends = finish_ends_begin(session, fd);
    gone_processes_begin(&w->gone, session_more(session)->keep);
    pthread_mutex_init(&w->lock, NULL);
    w->file = watch_find_own_file(session);
    struct process_stat self = { .start = 0 };
    if (w->file && watch_read_stat((uint32_t)getpid(), &self))
        w->start = self.start;
    if (watch_open(w) && service_thread_start(&w->newcomers, watch_newcomers, w)) {
        w->running = service_thread_start(&w->leavers, watch_leavers, w);
        if (!w->running)
            watch_end_newcomers(w);
    }
}

static int watch_compare_age(const void *left, const void *right)
{
    const struct watched_process *a = left, *b = right;
    return ORDER_BY(a, b, start, serial);
}

size_t process_watch_living(struct process_watch *w, pid_t **pids)
{
    size_t count = 0;
    pthread_mutex_lock(&w->lock);
    struct watched_process *list = need_memory(w->count, sizeof *list);
    for (size_t i = 0; i < w->count; i++)
        if (!w->list[i].missed && !watch_has_ended(w->list[i].here, w->list[i].start))
            list[count++] = w->list[i];
    pthread_mutex_unlock(&w->lock);
    qsort(list, count, sizeof *list, watch_compare_age);
    *pids = need_memory(count, sizeof **pids);
    for (size_t i = 0; i < count; i++)
        (*pids)[i] = (pid_t)list[i].here;
    free(list);
    return count;
}

void process_watch_ended(struct process_watch *w, pid_t pid, int status)
{
    pthread_mutex_lock(&w->lock);
    for (size_t i = w->count; i-- > 0;)
        if (w->list[i].here == (uint32_t)pid && !w->list[i].missed) {
            const uint64_t now = clock_now(w->session->header->clock);
            watch_record_cpu(w, &w->list[i], status, now);
            finish_ends_add(w->ends, w->list[i].serial, w->list[i].pid, status, now);
            watch_remove(w, i);
        }
    pthread_mutex_unlock(&w->lock);
}

void process_watch_settle(struct process_watch *w)
{
    if (w->running && !w->settled)
        watch_end_newcomers(w);
    w->settled = true;
}

void process_watch_stop(struct process_watch *w)
{
    process_watch_settle(w);
    if (w->running) {
        watch_wake(w);
        pthread_join(w->leavers, NULL);
        while (watch_take_ends(w, 0))
            ;
        watch_search_missed(w);
    }
    watch_close(w);
}
