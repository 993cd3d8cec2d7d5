/* The part of dwell doctor that examines the machine: clock, perf events, rseq, memory, disk. */
#if defined(__x86_64__)
#include <asm/prctl.h>
#endif
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/prctl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/memory.h"
#include "clock.h"
#include "perf_attr.h"
#include "recorder/findings.h"
#include "recorder/runtime_library.h"
#include "recorder/sampler.h"
#include "recorder/syscall_events.h"
#include "rseq.h"
#include "session.h"

enum {
    RING_PAGES_COUNTED = OS_RING_PAGES + 1, /* locked memory of a thread */
    FEW_THREADS = 64,
    TRIED_BYTES = 32 << 20,
    BLOCK = 1 << 20,
    MAX_NS = 1000000000, /* of the disk's test */
    HOT_SPEED = 380,     /* MB/s written by a thread that only makes calls: 8 bytes in 21 ns */
};

/* ---- small files of the kernel ---- */

static bool doctor_read_number(const char *path, long *number)
{
    char text[64];
    return sys_read_file(path, text, sizeof text) > 0 && sscanf(text, "%ld", number) == 1;
}

/* Reads a number of /proc/self/status in this base. */
static unsigned long long doctor_status_number(const char *key, int base)
{
    char text[8192];
    if (sys_read_file("/proc/self/status", text, sizeof text) <= 0)
        return 0;
    const char *line = strstr(text, key);
    return line ? strtoull(line + strlen(key), NULL, base) : 0;
}

/* ---- the kernel and sandboxes ---- */

static bool doctor_in_container(void)
{
    return access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0 || getenv("container");
}

static bool doctor_has_seccomp(void)
{
    return doctor_status_number("\nSeccomp:", 10) != 0;
}

static void doctor_examine_kernel(struct findings *f)
{
    struct utsname name;
    if (uname(&name) < 0)
        return;
    find_that(f, HEALTH_OK, "kernel", "%s %s, %s%s%s", name.sysname, name.release, name.machine,
              doctor_in_container() ? ", in a container" : "",
              doctor_has_seccomp() ? ", system calls are filtered (seccomp)" : "");
}

static void doctor_examine_runtime(struct findings *f)
{
    struct runtime_library library = runtime_library_find();
    if (library.wrong)
        find_that(f, HEALTH_BAD, "libdwell.so", "%s", library.wrong);
    else if (access(library.path, R_OK) < 0)
        find_that(f, HEALTH_BAD, "libdwell.so", "%s: %s; install dwell again", library.path, strerror(errno));
    else
        find_that(f, HEALTH_OK, "libdwell.so", "%s", library.path);
    free(library.path);
    free(library.wrong);
}

/* ---- the clock ---- */

static const char *doctor_why_monotonic(void)
{
    const char *wanted = getenv("DWELL_CLOCK");
    if (wanted && strcmp(wanted, "monotonic") == 0)
        return "DWELL_CLOCK selects it; unset it";
#ifdef PR_GET_TSC
    int mode = PR_TSC_ENABLE;
    if (prctl(PR_GET_TSC, &mode) == 0 && mode != PR_TSC_ENABLE)
        return "reading the CPU's counter is forbidden here (PR_SET_TSC)";
#endif
    return "the CPU's counter does not keep time (neither the CPU nor the kernel trusts it), or reading it is slow, as "
           "virtual machines make it";
}

static void doctor_examine_clock(struct findings *f)
{
    const enum dwell_clock clock = clock_choose(getenv("DWELL_CLOCK"));
    if (clock == DWELL_CLOCK_MONOTONIC) {
        find_that(f, HEALTH_WARN, "clock", "CLOCK_MONOTONIC, with which every probe is slower: %s",
                  doctor_why_monotonic());
        return;
    }
    find_that(f, HEALTH_OK, "clock", "%s, %.3f GHz",
              clock == DWELL_CLOCK_TSC ? "the CPU's time stamp counter (invariant)" : "cntvct_el0",
              (double)clock_frequency(clock) / 1e9);
}

/* ---- counted calls ---- */

/* As in runtime/levels/gs.h. The system may refuse the call in a sandbox. */
static void doctor_examine_counting(struct findings *f)
{
#if defined(__x86_64__)
    enum { HWCAP2_GS = 2 };
    uint64_t base = 0;
    if (getauxval(AT_HWCAP2) & HWCAP2_GS)
        find_that(f, HEALTH_OK, "counted calls", "in place: instructions set the base of gs (FSGSBASE)");
    else if (syscall(SYS_arch_prctl, ARCH_GET_GS, &base) == 0 && syscall(SYS_arch_prctl, ARCH_SET_GS, base) == 0)
        find_that(f, HEALTH_OK, "counted calls",
                  "in place: arch_prctl sets the base of gs, as this processor or kernel has no FSGSBASE");
    else
        find_that(f, HEALTH_WARN, "counted calls",
                  "by stubs, which take longer: there is no FSGSBASE, and arch_prctl fails: %s", strerror(errno));
#else
    find_that(f, HEALTH_OK, "counted calls", "by a check of each call: counting in place is for x86-64");
#endif
}

/* ---- OS events ---- */

/* Opens an event as the runtime does. Returns zero or an error. */
static int doctor_try_perf(void)
{
    struct perf_event_attr attr = os_perf_attr(clock_choose(getenv("DWELL_CLOCK")) == DWELL_CLOCK_MONOTONIC);
    const long fd = SYS5(perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return (int)-fd;
    const size_t size = (size_t)RING_PAGES_COUNTED * (size_t)sysconf(_SC_PAGESIZE);
    void *ring = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    const int error = ring == MAP_FAILED ? errno : 0;
    if (!error)
        munmap(ring, size);
    close((int)fd);
    return error;
}

static bool doctor_examine_rseq(struct findings *f, bool needed)
{
    volatile uint64_t *pointer = rseq_pointer();
    const enum health health = needed ? HEALTH_WARN : HEALTH_OK;
    if (!pointer)
        find_that(f, health, "rseq", "missing: glibc 2.35 or later has it, unless GLIBC_TUNABLES=glibc.pthread.rseq=0");
    else if (!rseq_works(pointer))
        find_that(f, health, "rseq", "available, but this kernel does not report waits by it");
    else
        find_that(f, HEALTH_OK, "rseq", "works%s", needed ? "" : ", and is not needed where perf events are allowed");
    return pointer && rseq_works(pointer);
}

static void doctor_examine_perf(struct findings *f, int error)
{
    enum { OWN_PROCESS = 2 }; /* the largest kernel.perf_event_paranoid that allows it */
    long paranoid = -1;
    const bool known = doctor_read_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
    if (!error)
        find_that(f, HEALTH_OK, "perf events", "allowed (kernel.perf_event_paranoid is %ld)", paranoid);
    else if (!known)
        find_that(f, HEALTH_WARN, "perf events", "%s: this kernel has none; blocked and preempted times are unknown",
                  strerror(error));
    else if (paranoid > OWN_PROCESS)
        find_that(f, HEALTH_WARN, "perf events",
                  "%s: kernel.perf_event_paranoid is %ld; sysctl kernel.perf_event_paranoid=2 allows them "
                  "(or the capability CAP_PERFMON); blocked and preempted times are unknown without",
                  strerror(error), paranoid);
    else
        find_that(f, HEALTH_WARN, "perf events",
                  "%s, though kernel.perf_event_paranoid is %ld: %s; blocked and preempted times are "
                  "unknown without",
                  strerror(error), paranoid,
                  doctor_has_seccomp() || doctor_in_container()
                      ? "a sandbox forbids perf_event_open; allow it in its seccomp profile, or add the "
                        "capability PERFMON"
                      : "more locked memory may be needed (ulimit -l)");
}

/* Each thread has a ring of its own. */
static void doctor_examine_locked_memory(struct findings *f)
{
    enum { CAP_IPC_LOCK = 14 };
    long mlock_kb = 0, paranoid = 0;
    struct rlimit limit;
    doctor_read_number("/proc/sys/kernel/perf_event_mlock_kb", &mlock_kb);
    doctor_read_number("/proc/sys/kernel/perf_event_paranoid", &paranoid);
    if (getrlimit(RLIMIT_MEMLOCK, &limit) < 0)
        return;
    if (limit.rlim_cur == RLIM_INFINITY || paranoid < 0 || doctor_status_number("\nCapEff:", 16) >> CAP_IPC_LOCK & 1) {
        find_that(f, HEALTH_OK, "locked memory", "enough for any number of threads");
        return;
    }
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
    const uint64_t threads = ((uint64_t)mlock_kb * 1024 / page * cpus + limit.rlim_cur / page) / RING_PAGES_COUNTED;
    if (threads >= FEW_THREADS)
        find_that(f, HEALTH_OK, "locked memory", "enough for the perf events of %" PRIu64 " threads at a time",
                  threads);
    else
        find_that(f, HEALTH_WARN, "locked memory",
                  "enough for the perf events of %" PRIu64 " threads at a time, more of them have less "
                  "exact ones; raise ulimit -l, or sysctl kernel.perf_event_mlock_kb",
                  threads);
}

static void doctor_examine_samples(struct findings *f)
{
    bool in_kernel;
    const int error = sampler_try(&in_kernel);
    if (error)
        find_that(f, HEALTH_WARN, "samples", "%s: record --sample records without; perf events must be allowed",
                  strerror(error));
    else
        find_that(f, HEALTH_OK, "samples", "taken with record --sample, %s",
                  in_kernel ? "also in the kernel" : "in user mode only, as perf_event_paranoid is 2 or more");
}

static void doctor_examine_os_events(struct findings *f)
{
    const int error = doctor_try_perf();
    doctor_examine_perf(f, error);
    if (!error)
        doctor_examine_locked_memory(f);
    doctor_examine_samples(f);
    char *missing = syscall_events_missing();
    if (missing)
        find_that(f, HEALTH_OK, "system calls", "not watched with --os-events=syscalls, which then is perf: %s",
                  missing);
    else
        find_that(f, HEALTH_OK, "system calls", "watched with --os-events=syscalls");
    free(missing);
    if (!doctor_examine_rseq(f, error != 0) && error)
        find_that(f, HEALTH_WARN, "application times",
                  "unknown, as neither perf events nor rseq report what the operating system does");
}

/* ---- the disk ---- */

/* The directory of the path. The caller frees it. */
static char *doctor_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return need_copy(".", 1);
    return need_copy(path, slash == path ? 1 : (size_t)(slash - path));
}

/* Opens a file without a name in the directory, or one whose name is removed at once. */
static int doctor_open_trial_file(const char *folder)
{
    int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
        return fd;
    char *path = NULL;
    if (asprintf(&path, "%s/.dwell-doctor-XXXXXX", folder) < 0)
        return -1;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    free(path);
    return fd;
}

/* A session's header and chunks are mapped. */
static bool doctor_can_map_file(int fd)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (ftruncate(fd, (off_t)page) < 0)
        return false;
    void *at = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return false;
    munmap(at, page);
    return true;
}

/* Measures bytes a second, up to the disk. */
static double doctor_measure_speed(int fd, uint64_t most)
{
    char *block = need_memory(BLOCK, 1);
    const uint64_t begin = clock_monotonic();
    uint64_t written = 0;
    memset(block, 'd', BLOCK);
    while (written + BLOCK <= most && clock_monotonic() - begin < MAX_NS) {
        const ssize_t n = write(fd, block, BLOCK);
        if (n <= 0)
            break;
        written += (uint64_t)n;
    }
    fdatasync(fd);
    free(block);
    const uint64_t took = clock_monotonic() - begin;
    return took ? (double)written * 1e9 / (double)took : 0;
}

/* The test must not fill a small disk. */
static void doctor_examine_speed(struct findings *f, int fd, uint64_t room)
{
    const double speed = doctor_measure_speed(fd, room / 4 < TRIED_BYTES ? room / 4 : TRIED_BYTES) / 1e6;
    if (speed >= HOT_SPEED)
        find_that(f, HEALTH_OK, "disk", "takes %.0f MB/s; a thread that does nothing but call writes some %d MB/s",
                  speed, HOT_SPEED);
    else
        find_that(f, HEALTH_WARN, "disk",
                  "takes %.0f MB/s, and a thread that does nothing but call writes some %d MB/s: memory takes the "
                  "difference as long as there is some; else -o /dev/shm/FILE, --mode profile or ring, or filters",
                  speed, HOT_SPEED);
}

/* Of the free space, a recording takes what is beyond that which it leaves free. */
static void doctor_judge_space(struct findings *f, double mb, double kept_mb)
{
    enum { LITTLE_MB = 1000, NOTHING_MB = 4, CALL_BYTES = 8 };
    const double room = mb > kept_mb ? mb - kept_mb : 0;
    if (mb < NOTHING_MB)
        find_that(f, HEALTH_BAD, "space", "%.0f MB are free; make room, or choose another place with -o", mb);
    else if (room < NOTHING_MB)
        find_that(f, HEALTH_BAD, "space",
                  "%.0f MB are free, and record leaves %.0f MB free, so it records nothing; make room, choose another "
                  "place with -o, or record with --keep-free 0",
                  mb, kept_mb);
    else if (room < LITTLE_MB)
        find_that(f, HEALTH_WARN, "space",
                  "%.0f MB are free, of which record leaves %.0f MB free (--keep-free); make room, or choose another "
                  "place with -o",
                  mb, kept_mb);
    else
        find_that(f, HEALTH_OK, "space", "%.0f GB are free, for some %.0f million calls", mb / 1e3, room / CALL_BYTES);
}

/* Bytes that a file in the directory may have. */
static uint64_t doctor_examine_space(struct findings *f, const char *folder, uint64_t keep_free)
{
    struct statvfs space;
    struct rlimit limit;
    uint64_t room = UINT64_MAX;
    if (statvfs(folder, &space) == 0) {
        room = (uint64_t)space.f_bavail * space.f_frsize;
        doctor_judge_space(f, (double)room / 1e6, (double)keep_free / 1e6);
    }
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
        find_that(f, HEALTH_WARN, "file size", "limited to %.0f MB, where a recording ends; ulimit -f unlimited",
                  (double)limit.rlim_cur / 1e6);
        if (limit.rlim_cur < room)
            room = limit.rlim_cur;
    }
    return room;
}

static void doctor_examine_disk(struct findings *f, const char *output, const char *keep_free)
{
    char *folder = doctor_folder(output);
    int fd = doctor_open_trial_file(folder);
    if (fd < 0) {
        find_that(f, HEALTH_BAD, "session file", "cannot be made in %s: %s; choose another place with -o", folder,
                  strerror(errno));
    } else if (!doctor_can_map_file(fd)) {
        find_that(f, HEALTH_BAD, "session file", "cannot be mapped in %s: %s; choose another place with -o", folder,
                  strerror(errno));
    } else {
        find_that(f, HEALTH_OK, "session file", "can be made in %s", folder);
        const uint64_t room =
            doctor_examine_space(f, folder, keep_free ? strtoull(keep_free, NULL, 10) : session_usual_keep_free(fd));
        if (room / 4 >= BLOCK)
            doctor_examine_speed(f, fd, room);
    }
    if (fd >= 0)
        close(fd);
    free(folder);
}

void examine_machine(struct findings *f, const char *output, const char *keep_free)
{
    signal(SIGXFSZ, SIG_IGN); /* a limit on file sizes is reported as an error */
    doctor_examine_kernel(f);
    doctor_examine_runtime(f);
    doctor_examine_clock(f);
    doctor_examine_counting(f);
    doctor_examine_os_events(f);
    doctor_examine_disk(f, output, keep_free);
}
