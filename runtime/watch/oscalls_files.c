/* Interposed calls on files, their names and streams. See oscalls.c. */
#include "oscalls.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "sys.h"

/* ---- opening; what the mode's register holds where there is none is handed on as well ---- */

#define OS_OPEN(name)                                                                                                  \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE int name(const char *path, int flags, ...)                                               \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        const mode_t mode = va_arg(rest, mode_t);                                                                      \
        va_end(rest);                                                                                                  \
        int (*real)(const char *, int, ...) = (int (*)(const char *, int, ...))os_call_next(&next_##name, #name);      \
        if (!os_call_begin(OS_##name, __builtin_return_address(0)))                                                    \
            return real(path, flags, mode);                                                                            \
        const int result = real(path, flags, mode);                                                                    \
        os_call_end_open(OS_##name, result);                                                                           \
        return result;                                                                                                 \
    }

#define OS_OPEN_AT(name)                                                                                               \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE int name(int folder, const char *path, int flags, ...)                                   \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, flags);                                                                                         \
        const mode_t mode = va_arg(rest, mode_t);                                                                      \
        va_end(rest);                                                                                                  \
        int (*real)(int, const char *, int, ...) =                                                                     \
            (int (*)(int, const char *, int, ...))os_call_next(&next_##name, #name);                                   \
        if (!os_call_begin(OS_##name, __builtin_return_address(0)))                                                    \
            return real(folder, path, flags, mode);                                                                    \
        const int result = real(folder, path, flags, mode);                                                            \
        os_call_end_open(OS_##name, result);                                                                           \
        return result;                                                                                                 \
    }

OS_OPEN(open)
OS_OPEN(open64)
OS_OPEN_AT(openat)
OS_OPEN_AT(openat64)
OS_OPENED(creat, (const char *path, mode_t mode), (path, mode))
OS_OPENED(creat64, (const char *path, mode_t mode), (path, mode))

/* The number may mean another descriptor as soon as it is closed. */
INTERPOSED(close);
DWELL_EXPORT OS_CALL_CODE int close(int fd)
{
    int (*real)(int) = (int (*)(int))os_call_next(&next_close, "close");
    if (!os_call_begin(OS_close, __builtin_return_address(0))) {
        descriptor_forget(fd);
        return real(fd);
    }
    struct object object = descriptor_closed(fd);
    descriptor_forget(fd);
    const int result = real(fd);
    os_call_end_close(OS_close, &object, result);
    return result;
}

/* ---- one argument of any kind ---- */

#define OS_CONTROL(name, request_type, end)                                                                            \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE int name(int fd, request_type request, ...)                                              \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, request);                                                                                       \
        void *argument = va_arg(rest, void *);                                                                         \
        va_end(rest);                                                                                                  \
        int (*real)(int, request_type, ...) = (int (*)(int, request_type, ...))os_call_next(&next_##name, #name);      \
        if (!os_call_begin(OS_##name, __builtin_return_address(0)))                                                    \
            return real(fd, request, argument);                                                                        \
        const int result = real(fd, request, argument);                                                                \
        end;                                                                                                           \
        os_call_end(OS_##name);                                                                                        \
        return result;                                                                                                 \
    }

/* Some calls of fcntl return a new descriptor. */
#define FCNTL_END descriptor_copied(fd, request == F_DUPFD || request == F_DUPFD_CLOEXEC ? result : -1)

OS_CONTROL(ioctl, unsigned long, NOTHING)

/* A part of a file that a lock is for, so that equal parts have equal numbers. Zero: the whole file. */
static uint64_t lock_part(uint64_t begin, uint64_t length)
{
    return begin || length ? (begin * 0x9e3779b97f4a7c15 ^ length) * 0xd6e8feb86659fd93 | 1 : 0;
}

/* Whether the call is about a lock, which it has taken or released. */
static bool fcntl_locks(int request)
{
    return request == F_SETLK || request == F_SETLKW || request == F_OFD_SETLK || request == F_OFD_SETLKW;
}

/* Other parts are not compared: where they begin depends on the position in the file. */
static struct object fcntl_lock(int fd, const struct flock *lock)
{
    const uint64_t part = lock_part((uint64_t)lock->l_start, (uint64_t)lock->l_len);
    return lock->l_whence == SEEK_SET ? descriptor_locked(fd, part, lock->l_type == F_UNLCK) : descriptor_waited(fd);
}

#define OS_FCNTL(name)                                                                                                 \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE int name(int fd, int request, ...)                                                       \
    {                                                                                                                  \
        va_list rest;                                                                                                  \
        va_start(rest, request);                                                                                       \
        void *argument = va_arg(rest, void *);                                                                         \
        va_end(rest);                                                                                                  \
        int (*real)(int, int, ...) = (int (*)(int, int, ...))os_call_next(&next_##name, #name);                        \
        if (!os_call_begin(OS_##name, __builtin_return_address(0)))                                                    \
            return real(fd, request, argument);                                                                        \
        const int result = real(fd, request, argument);                                                                \
        FCNTL_END;                                                                                                     \
        if (result == 0 && fcntl_locks(request)) {                                                                     \
            struct object object = fcntl_lock(fd, argument);                                                           \
            os_call_end_descriptor(OS_##name, fd, &object, true);                                                      \
        } else {                                                                                                       \
            os_call_end(OS_##name);                                                                                    \
        }                                                                                                              \
        return result;                                                                                                 \
    }

OS_FCNTL(fcntl)
OS_FCNTL(fcntl64)

/* ---- reading and writing ---- */

OS_READ(ssize_t, read, (int fd, void *buffer, size_t size), (fd, buffer, size))
OS_ON_FILE(ssize_t, pread, (int fd, void *buffer, size_t size, off_t at), (fd, buffer, size, at))
OS_ON_FILE(ssize_t, pread64, (int fd, void *buffer, size_t size, off64_t at), (fd, buffer, size, at))
OS_READ(ssize_t, readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))
OS_ON_FILE(ssize_t, preadv, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
OS_ON_FILE(ssize_t, preadv64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
OS_ON_FILE(ssize_t, preadv2, (int fd, const struct iovec *parts, int count, off_t at, int flags),
           (fd, parts, count, at, flags))
OS_ON_FILE(ssize_t, preadv64v2, (int fd, const struct iovec *parts, int count, off64_t at, int flags),
           (fd, parts, count, at, flags))
OS_WRITE(ssize_t, write, (int fd, const void *buffer, size_t size), (fd, buffer, size))
OS_ON_FILE(ssize_t, pwrite, (int fd, const void *buffer, size_t size, off_t at), (fd, buffer, size, at))
OS_ON_FILE(ssize_t, pwrite64, (int fd, const void *buffer, size_t size, off64_t at), (fd, buffer, size, at))
OS_WRITE(ssize_t, writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
OS_ON_FILE(ssize_t, pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
OS_ON_FILE(ssize_t, pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
OS_ON_FILE(ssize_t, pwritev2, (int fd, const struct iovec *parts, int count, off_t at, int flags),
           (fd, parts, count, at, flags))
OS_ON_FILE(ssize_t, pwritev64v2, (int fd, const struct iovec *parts, int count, off64_t at, int flags),
           (fd, parts, count, at, flags))
OS_CALL(off_t, lseek, (int fd, off_t at, int from), (fd, at, from))
OS_CALL(off64_t, lseek64, (int fd, off64_t at, int from), (fd, at, from))

/* It may wait for either descriptor, but usually the file can be read at once. */
#define OS_SEND_FILE(name, parameters, arguments)                                                                      \
    OS_CALL_ON_DESCRIPTOR(true, out, descriptor_written(out), NOTHING, NOTHING, value_ >= 0, name, ssize_t, name,      \
                          parameters, arguments)

OS_SEND_FILE(sendfile, (int out, int in, off_t *at, size_t size), (out, in, at, size))
OS_SEND_FILE(sendfile64, (int out, int in, off64_t *at, size_t size), (out, in, at, size))
OS_CALL(ssize_t, copy_file_range, (int in, off64_t *in_at, int out, off64_t *out_at, size_t size, unsigned flags),
        (in, in_at, out, out_at, size, flags))
OS_CALL(ssize_t, splice, (int in, off64_t *in_at, int out, off64_t *out_at, size_t size, unsigned flags),
        (in, in_at, out, out_at, size, flags))
OS_CALL(ssize_t, tee, (int in, int out, size_t size, unsigned flags), (in, out, size, flags))
OS_WRITE(ssize_t, vmsplice, (int fd, const struct iovec *parts, size_t count, unsigned flags),
         (fd, parts, count, flags))
OS_CALL(ssize_t, getrandom, (void *buffer, size_t size, unsigned flags), (buffer, size, flags))

/* ---- descriptors ---- */

OS_ON_FILE(int, fsync, (int fd), (fd))
OS_ON_FILE(int, fdatasync, (int fd), (fd))
OS_ON_FILE(int, syncfs, (int fd), (fd))
OS_ON_FILE(int, sync_file_range, (int fd, off64_t at, off64_t size, unsigned flags), (fd, at, size, flags))
OS_CALL(int, posix_fadvise, (int fd, off_t at, off_t size, int advice), (fd, at, size, advice))
OS_CALL(int, posix_fadvise64, (int fd, off64_t at, off64_t size, int advice), (fd, at, size, advice))
OS_ON_FILE(int, ftruncate, (int fd, off_t size), (fd, size))
OS_ON_FILE(int, ftruncate64, (int fd, off64_t size), (fd, size))
OS_ON_FILE(int, fallocate, (int fd, int mode, off_t at, off_t size), (fd, mode, at, size))
OS_ON_FILE(int, fallocate64, (int fd, int mode, off64_t at, off64_t size), (fd, mode, at, size))
OS_CALL(int, posix_fallocate, (int fd, off_t at, off_t size), (fd, at, size))
OS_CALL(int, posix_fallocate64, (int fd, off64_t at, off64_t size), (fd, at, size))

#define OS_FILE_LOCK(lock, name, parameters, arguments)                                                                \
    OS_CALL_ON_DESCRIPTOR(true, fd, (struct object){ 0 }, NOTHING,                                                     \
                          object_ = value_ == 0 ? lock : descriptor_waited(fd), value_ == 0, name, int, name,          \
                          parameters, arguments)

/* The part begins where the file is read next. */
static struct object lockf_lock(int fd, int command, uint64_t size)
{
    const long at = SYS3(lseek, fd, 0, SEEK_CUR);
    return descriptor_locked(fd, lock_part((uint64_t)at, size), command == F_ULOCK);
}

OS_FILE_LOCK(descriptor_locked(fd, DESCRIPTOR_FLOCK, operation &LOCK_UN), flock, (int fd, int operation),
             (fd, operation))
OS_FILE_LOCK(lockf_lock(fd, command, (uint64_t)size), lockf, (int fd, int command, off_t size), (fd, command, size))
OS_FILE_LOCK(lockf_lock(fd, command, (uint64_t)size), lockf64, (int fd, int command, off64_t size), (fd, command, size))
#define OS_DUPLICATE(name, parameters, arguments)                                                                      \
    OS_CALL_ON_DESCRIPTOR(true, to, (struct object){ 0 }, descriptor_forget(to == fd ? -1 : to),                       \
                          descriptor_copied(fd, to == fd ? -1 : value_), false, name, int, name, parameters,           \
                          arguments)

OS_CALL_ON_DESCRIPTOR(true, value_, (struct object){ 0 }, NOTHING, descriptor_copied(fd, value_), false, dup, int, dup,
                      (int fd), (fd))
OS_DUPLICATE(dup2, (int fd, int to), (fd, to))
OS_DUPLICATE(dup3, (int fd, int to, int flags), (fd, to, flags))

#define OS_PIPE(name, parameters, arguments)                                                                           \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE int name parameters                                                                      \
    {                                                                                                                  \
        int(*real) parameters = (int(*) parameters)os_call_next(&next_##name, #name);                                  \
        const bool row = os_call_begin(OS_##name, __builtin_return_address(0));                                        \
        const int result = real arguments;                                                                             \
        if (result == 0)                                                                                               \
            descriptor_pipe(ends);                                                                                     \
        if (row)                                                                                                       \
            os_call_end(OS_##name);                                                                                    \
        return result;                                                                                                 \
    }

OS_PIPE(pipe, (int ends[2]), (ends))
OS_PIPE(pipe2, (int ends[2], int flags), (ends, flags))
OS_CALL(int, fstat, (int fd, struct stat *status), (fd, status))
OS_CALL(int, fstat64, (int fd, struct stat64 *status), (fd, status))

/* sync has no result. */
INTERPOSED(sync);
DWELL_EXPORT OS_CALL_CODE void sync(void)
{
    void (*real)(void) = (void (*)(void))os_call_next(&next_sync, "sync");
    const bool row = os_call_begin(OS_sync, __builtin_return_address(0));
    real();
    if (row)
        os_call_end(OS_sync);
}

/* ---- names ---- */

OS_CALL(int, stat, (const char *path, struct stat *status), (path, status))
OS_CALL(int, stat64, (const char *path, struct stat64 *status), (path, status))
OS_CALL(int, lstat, (const char *path, struct stat *status), (path, status))
OS_CALL(int, lstat64, (const char *path, struct stat64 *status), (path, status))
OS_CALL(int, fstatat, (int folder, const char *path, struct stat *status, int flags), (folder, path, status, flags))
OS_CALL(int, fstatat64, (int folder, const char *path, struct stat64 *status, int flags), (folder, path, status, flags))
OS_CALL(int, statx, (int folder, const char *path, int flags, unsigned mask, struct statx *status),
        (folder, path, flags, mask, status))
OS_CALL(int, access, (const char *path, int mode), (path, mode))
OS_CALL(int, faccessat, (int folder, const char *path, int mode, int flags), (folder, path, mode, flags))
OS_CALL(int, truncate, (const char *path, off_t size), (path, size))
OS_CALL(int, truncate64, (const char *path, off64_t size), (path, size))
OS_CALL(int, unlink, (const char *path), (path))
OS_CALL(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
OS_CALL(int, rename, (const char *from, const char *to), (from, to))
OS_CALL(int, renameat, (int from_folder, const char *from, int to_folder, const char *to),
        (from_folder, from, to_folder, to))
OS_CALL(int, link, (const char *from, const char *to), (from, to))
OS_CALL(int, symlink, (const char *to, const char *path), (to, path))
OS_CALL(ssize_t, readlink, (const char *path, char *buffer, size_t size), (path, buffer, size))
OS_CALL(int, mkdir, (const char *path, mode_t mode), (path, mode))
OS_CALL(int, rmdir, (const char *path), (path))
OS_CALL(int, chdir, (const char *path), (path))
OS_CALL(DIR *, opendir, (const char *path), (path))
OS_CALL(int, closedir, (DIR * folder), (folder))

/* ---- streams ---- */

/* A call that only uses a stream's buffer does not call the OS. Reading is a row if the buffer holds less than is
 * requested. Writing is in oscalls_output.c. */
#if defined(__GLIBC__)

static inline size_t stream_held(const FILE *stream)
{
    return (size_t)(stream->_IO_read_end - stream->_IO_read_ptr);
}

static inline bool stream_is_flushed(const FILE *stream)
{
    return stream && stream->_IO_write_ptr == stream->_IO_write_base && stream->_IO_read_ptr == stream->_IO_read_end;
}

#else

#define stream_held(stream) ((void)(stream), (size_t)0)
#define stream_is_flushed(stream) ((void)(stream), false)

#endif

#define OS_STREAM(condition, row, result, name, parameters, arguments)                                                 \
    OS_CALL_ON_DESCRIPTOR(condition, stream_fd(stream), descriptor_read(stream_fd(stream)), NOTHING, NOTHING, true,    \
                          row, result, name, parameters, arguments)

/* A stream's descriptor is closed, after what is in its buffer was written. */
#define OS_STREAM_CLOSES(result, name, parameters, arguments)                                                          \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT OS_CALL_CODE result name parameters                                                                   \
    {                                                                                                                  \
        result(*real) parameters = (result(*) parameters)os_call_next(&next_##name, #name);                            \
        const bool row_ = os_call_begin(OS_##name, __builtin_return_address(0));                                       \
        struct object object_ = { 0 };                                                                                 \
        if (row_)                                                                                                      \
            object_ = descriptor_closed(stream_fd(stream));                                                            \
        descriptor_forget(stream_fd(stream));                                                                          \
        if (!row_)                                                                                                     \
            return real arguments;                                                                                     \
        result value_ = real arguments;                                                                                \
        os_call_end_close(OS_##name, &object_, 0);                                                                     \
        return value_;                                                                                                 \
    }

OS_CALL(FILE *, fopen, (const char *path, const char *mode), (path, mode))
OS_CALL(FILE *, fopen64, (const char *path, const char *mode), (path, mode))
OS_STREAM_CLOSES(FILE *, freopen, (const char *path, const char *mode, FILE *stream), (path, mode, stream))
OS_STREAM_CLOSES(FILE *, freopen64, (const char *path, const char *mode, FILE *stream), (path, mode, stream))
OS_STREAM_CLOSES(int, fclose, (FILE * stream), (stream))
OS_STREAM_CLOSES(int, pclose, (FILE * stream), (stream))
OS_CALL_ON_DESCRIPTOR(!stream_is_flushed(stream), stream_fd(stream), descriptor_written(stream_fd(stream)), NOTHING,
                      NOTHING, value_ == 0, fflush, int, fflush, (FILE * stream), (stream))
OS_STREAM(size &&count &&stream_held(stream) / size < count, fread, size_t, fread,
          (void *buffer, size_t size, size_t count, FILE *stream), (buffer, size, count, stream))
OS_STREAM(stream_held(stream) == 0, fgets, char *, fgets, (char *buffer, int size, FILE *stream),
          (buffer, size, stream))
OS_STREAM(stream_held(stream) == 0, getline, ssize_t, getline, (char **line, size_t *size, FILE *stream),
          (line, size, stream))
OS_STREAM(stream_held(stream) == 0, getdelim, ssize_t, getdelim, (char **line, size_t *size, int end, FILE *stream),
          (line, size, end, stream))

/* ---- the same, as _FORTIFY_SOURCE calls them ---- */

ssize_t __getdelim(char **line, size_t *size, int end, FILE *stream); /* getline calls it where it is inlined */
OS_STREAM(stream_held(stream) == 0, getdelim, ssize_t, __getdelim, (char **line, size_t *size, int end, FILE *stream),
          (line, size, end, stream))

#define OS_CHECKED(row, result, name, parameters, arguments)                                                           \
    result name parameters;                                                                                            \
    OS_CALL_AS(row, result, name, parameters, arguments)
#define OS_CHECKED_READ(row, result, name, parameters, arguments)                                                      \
    result name parameters;                                                                                            \
    OS_READ_AS(row, result, name, parameters, arguments)
#define OS_CHECKED_OPEN(row, name, parameters, arguments)                                                              \
    int name parameters;                                                                                               \
    OS_OPENED_AS(row, name, parameters, arguments)

OS_CHECKED_OPEN(open, __open_2, (const char *path, int flags), (path, flags))
OS_CHECKED_OPEN(open64, __open64_2, (const char *path, int flags), (path, flags))
OS_CHECKED_OPEN(openat, __openat_2, (int folder, const char *path, int flags), (folder, path, flags))
OS_CHECKED_OPEN(openat64, __openat64_2, (int folder, const char *path, int flags), (folder, path, flags))
OS_CHECKED_READ(read, ssize_t, __read_chk, (int fd, void *buffer, size_t size, size_t room), (fd, buffer, size, room))
OS_CHECKED(pread, ssize_t, __pread_chk, (int fd, void *buffer, size_t size, off_t at, size_t room),
           (fd, buffer, size, at, room))
OS_CHECKED(pread64, ssize_t, __pread64_chk, (int fd, void *buffer, size_t size, off64_t at, size_t room),
           (fd, buffer, size, at, room))
OS_CHECKED(readlink, ssize_t, __readlink_chk, (const char *path, char *buffer, size_t size, size_t room),
           (path, buffer, size, room))

char *__fgets_chk(char *buffer, size_t room, int size, FILE *stream);
size_t __fread_chk(void *buffer, size_t room, size_t size, size_t count, FILE *stream);
OS_STREAM(stream_held(stream) == 0, fgets, char *, __fgets_chk, (char *buffer, size_t room, int size, FILE *stream),
          (buffer, room, size, stream))
OS_STREAM(size &&count &&stream_held(stream) / size < count, fread, size_t, __fread_chk,
          (void *buffer, size_t room, size_t size, size_t count, FILE *stream), (buffer, room, size, count, stream))
