/* The log of PerfLog: its path, its header and its lines. One system call appends each line to the end of the file. So
 * the lines of several threads and processes stay whole. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "perflog/state.h"
#include "secure.h"
#include "sys.h"

#define TAG "## PERF ## "
#define END "\r\n"

enum {
    MAX_TEXT = 4096, /* maximum written at once */
    LOG_MODE = 0600,
    MIN_DESCRIPTOR = 64, /* lower numbers are left to the program, which may rely on them */
};

static struct {
    char path[PATH_MAX]; /* empty until it is chosen */
    int fd;              /* valid if `open` */
    bool open;
    bool in_folder; /* the library has chosen the file's name */
    bool written;   /* the process `pid` has written the header */
    bool torn;      /* the end of the last line could not be written */
    uint32_t pid;
    dev_t device;
    ino_t file;
} place;

struct version {
    struct utsname names;
    unsigned major, minor, build;
};

static void log_find_version(struct version *version)
{
    *version = (struct version){ 0 };
    if (uname(&version->names) != 0)
        return;
    unsigned *const numbers[] = { &version->major, &version->minor, &version->build };
    char *at = version->names.release;
    for (int i = 0; i < 3 && *at >= '0' && *at <= '9'; i++) {
        *numbers[i] = (unsigned)strtoul(at, &at, 10);
        if (*at == '.')
            at++;
    }
}

/* ---- the file ---- */

static void log_file_name(char *name, size_t size)
{
    struct version version;
    log_find_version(&version);
    snprintf(name, size, "%s_%s_%s_%u_%u_%u.log", *perflog.application ? perflog.application : "PERF",
             version.names.sysname, version.names.machine, version.major, version.minor, version.build);
    for (char *c = name; *c; c++)
        if (*c == '/')
            *c = '_';
}

static bool log_is_folder(const char *path)
{
    const int fd = sys_open(path, O_PATH | O_DIRECTORY, 0);
    if (fd >= 0)
        sys_close(fd);
    return fd >= 0;
}

/* Sets an absolute path, because the program may change its folder and close the file. */
static void log_choose_path(void)
{
    const char *wanted = getenv("DWELL_PERFLOG");
    if (!wanted || !*wanted)
        wanted = ".";
    size_t used = 0;
    const bool folder = log_is_folder(wanted) || wanted[strlen(wanted) - 1] == '/';
    if (*wanted != '/') {
        const long length = SYS2(getcwd, place.path, sizeof place.path);
        if (length > 1 && place.path[0] == '/') {
            used = (size_t)length - 1;
            place.path[used++] = '/';
        }
    }
    char name[NAME_MAX + 1] = "";
    place.in_folder = folder;
    if (folder)
        log_file_name(name, sizeof name);
    if (used + strlen(wanted) + 1 + strlen(name) >= sizeof place.path) {
        place.path[0] = '\0';
        return;
    }
    char *end = place.path + used;
    if (strcmp(wanted, ".") != 0)
        end = stpcpy(end, wanted);
    if (folder && end > place.path && end[-1] != '/')
        *end++ = '/';
    strcpy(end, name);
}

static bool log_is_open(void)
{
    struct stat now;
    return place.open && SYS2(fstat, place.fd, &now) == 0 && now.st_dev == place.device && now.st_ino == place.file;
}

/* In a folder, the log's name can be foreseen. So it must not be a link or a file that another user has put there. */
static int log_open_file(void)
{
    const int flags = O_WRONLY | O_APPEND | O_CREAT | O_NOCTTY;
    if (!place.in_folder)
        return sys_open(place.path, flags, LOG_MODE);
    const int fd = sys_open(place.path, flags | O_NOFOLLOW | O_NONBLOCK, LOG_MODE);
    struct stat now;
    if (fd < 0 || (SYS2(fstat, fd, &now) == 0 && S_ISREG(now.st_mode) && now.st_uid == (uid_t)SYS0(geteuid)))
        return fd;
    sys_close(fd);
    return -EPERM;
}

/* Opens the log unless it is open. A program that closes all descriptors closes this one, too, and may open another
 * file with its number. */
static bool log_open(void)
{
    if (log_is_open())
        return true;
    if (secure_is_privileged())
        return false;
    place.open = false;
    const char *wanted = getenv("DWELL_PERFLOG");
    if (wanted && strcmp(wanted, "-") == 0) {
        place.fd = STDERR_FILENO;
    } else {
        if (!*place.path)
            log_choose_path();
        const int fd = *place.path ? log_open_file() : -ENAMETOOLONG;
        if (fd < 0)
            return false;
        const long high = SYS3(fcntl, fd, F_DUPFD_CLOEXEC, MIN_DESCRIPTOR);
        place.fd = high < 0 ? fd : (int)high;
        if (high >= 0)
            sys_close(fd);
    }
    struct stat now;
    if (SYS2(fstat, place.fd, &now) != 0)
        return false;
    place.device = now.st_dev;
    place.file = now.st_ino;
    place.open = true;
    return true;
}

void perflog_close(void)
{
    if (log_is_open() && place.fd != STDERR_FILENO)
        sys_close(place.fd);
    place.open = false;
    place.written = false;
    place.path[0] = '\0';
}

/* ---- lines ---- */

static uint64_t log_signal_bit(int number)
{
    return 1ull << (number - 1);
}

/* A write to a pipe without a reader, or past the file size limit, raises a signal that ends the program. Signals are
 * blocked here. A raised one is removed unless it was pending before. */
static long log_write_quietly(const char *text, size_t length)
{
    uint64_t before = 0;
    SYS2(rt_sigpending, &before, sizeof before);
    long count;
    do {
        count = SYS3(write, place.fd, text, length);
    } while (count == -EINTR);
    const uint64_t raised = (count == -EPIPE   ? log_signal_bit(SIGPIPE)
                             : count == -EFBIG ? log_signal_bit(SIGXFSZ)
                                               : 0) &
                            ~before;
    const struct timespec at_once = { 0, 0 };
    if (raised)
        SYS4(rt_sigtimedwait, &raised, NULL, &at_once, sizeof raised);
    return count;
}

static bool log_write_whole(const char *text, size_t length)
{
    size_t done = 0;
    while (done < length) {
        const long count = log_write_quietly(text + done, length - done);
        if (count <= 0)
            break;
        done += (size_t)count;
    }
    if (done)
        place.torn = done < length;
    return done == length;
}

/* Written by one call. It is not on the stack, which may be small. */
static struct {
    size_t length;
    bool too_long;
    char text[MAX_TEXT];
} lines;

static void log_add_formatted(const char *format, va_list arguments)
{
    char *const at = lines.text + lines.length;
    const size_t room = sizeof lines.text - lines.length;
    const int tag = snprintf(at, room, "%s" TAG, place.torn && !lines.length ? END : "");
    const int length = (size_t)tag < room ? vsnprintf(at + tag, room - (size_t)tag, format, arguments) : -1;
    if (length < 0 || (size_t)(tag + length) + sizeof END > room) {
        lines.too_long = true;
        return;
    }
    strcpy(at + tag + length, END);
    lines.length += (size_t)(tag + length) + sizeof END - 1;
}

static void __attribute__((format(printf, 1, 2))) log_add_line(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    log_add_formatted(format, arguments);
    va_end(arguments);
}

static bool log_write_lines(void)
{
    const bool done = !lines.too_long && log_write_whole(lines.text, lines.length);
    lines.length = 0;
    lines.too_long = false;
    return done;
}

static bool log_write_header(void)
{
    struct version version;
    log_find_version(&version);
    const char *platform = version.names.sysname, *device = version.names.nodename, *app = perflog.application;
    if (!*device || strcmp(device, "(none)") == 0)
        device = platform;
    log_add_line("OSVERSION=[%u.%u] BUILD=[%u]", version.major, version.minor, version.build);
    log_add_line("PLATFORM=[%s] CPU=[%s]", platform, version.names.machine);
    log_add_line("DEVNAME=[%s]", device);
    log_add_line("REGISTERED APP [%s] PROCCESSID [0x%08" PRIx32 "]", app, place.pid);
    log_add_line("RESOLUTION [%d] TICKS PER SECOND", PERFLOG_FREQUENCY);
    for (int i = 0; i < PERFLOG_PAIRS; i++)
        log_add_line("APP [%s] CAL [%" PRIu64 "]", app, perflog.pairs[i]);
    return log_write_lines();
}

static bool log_write_marker(MARKER_ID marker)
{
    log_add_line("REGISTERED MARKER [%s] AS [%" PRIu32 "] BY APP [%s]", perflog.names[marker], marker,
                 perflog.application);
    return log_write_lines();
}

/* Writes the header, and in a forked child again, with the parent's markers. For a reader a header begins a new run. */
bool perflog_header(void)
{
    const uint32_t pid = (uint32_t)SYS0(getpid);
    if (!log_open())
        return false;
    if (place.written && place.pid == pid)
        return true;
    place.pid = pid;
    place.written = log_write_header();
    for (MARKER_ID i = 0; i <= MAX_MARKER_ID && place.written; i++)
        if (perflog.registered[i])
            place.written = log_write_marker(i);
    return place.written;
}

bool perflog_register(MARKER_ID marker, const char *name)
{
    const bool there = perflog_header();
    perflog_copy_text(perflog.names[marker], name, MAX_MARKERNAME_LEN);
    perflog.registered[marker] = true;
    return there && log_write_marker(marker);
}

bool perflog_line(const char *format, ...)
{
    if (!perflog_header())
        return false;
    va_list arguments;
    va_start(arguments, format);
    log_add_formatted(format, arguments);
    va_end(arguments);
    return log_write_lines();
}
