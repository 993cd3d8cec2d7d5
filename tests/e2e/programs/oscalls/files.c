/* The part of `every` that calls libc's functions for files and streams. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "every.h"

static char text[64] = "abcdefghijklmnopqrstuvwxyz";

/* Prints what was read, so that it is compared as well. */
static NOT_INSTRUMENTED void show(char *buffer, long size)
{
    printf("  '%.*s'\n", (int)(size > 0 ? size : 0), buffer);
    memset(buffer, '.', 64);
}

static void opening(void)
{
    int fd = (int)CALL(open, "file", O_RDWR | O_CREAT | O_TRUNC, 0640);
    CALL(write, fd, text, 26);
    struct stat status;
    CALL(fstat, fd, &status);
    told("mode", status.st_mode);
    CALL(close, fd);
    fd = (int)CALL_AS(open, open64, "file", O_RDONLY);
    CALL(close, fd);
    fd = (int)CALL(openat, AT_FDCWD, "file", O_RDONLY);
    CALL(close, fd);
    fd = (int)CALL_AS(openat, openat64, AT_FDCWD, "other", O_RDWR | O_CREAT, 0600);
    CALL(close, fd);
    fd = (int)CALL(creat, "third", 0600);
    CALL(close, fd);
    CALL(open, "no such file", O_RDONLY);
    CALL(close, -1);
}

static void reading(void)
{
    char buffer[64];
    struct iovec parts[2] = { { buffer, 3 }, { buffer + 3, 4 } };
    int fd = (int)CALL(open, "file", O_RDONLY);
    show(buffer, CALL(read, fd, buffer, 10));
    show(buffer, CALL(pread, fd, buffer, 5, 2));
    show(buffer, CALL_AS(pread, pread64, fd, buffer, 5, 3));
    show(buffer, CALL(readv, fd, parts, 2));
    show(buffer, CALL(preadv, fd, parts, 2, 5));
    show(buffer, CALL_AS(preadv, preadv64, fd, parts, 2, 6));
    show(buffer, CALL(preadv2, fd, parts, 2, 7, 0));
    show(buffer, CALL_AS(preadv2, preadv64v2, fd, parts, 2, 8, 0));
    CALL(lseek, fd, 20, SEEK_SET);
    CALL_AS(lseek, lseek64, fd, 1, SEEK_CUR);
    show(buffer, CALL(read, fd, buffer, 64));
    show(buffer, CALL(read, fd, buffer, 64));
    CALL(read, -1, buffer, 1);
    CALL(posix_fadvise, fd, 0, 0, POSIX_FADV_NORMAL);
    CALL_AS(posix_fadvise, posix_fadvise64, fd, 0, 0, POSIX_FADV_NORMAL);
    CALL(close, fd);
    CALL(getrandom, buffer, 8, 0);
}

static void writing(void)
{
    const struct iovec parts[2] = { { text, 3 }, { text + 10, 4 } };
    int fd = (int)CALL(open, "other", O_RDWR | O_TRUNC);
    CALL(write, fd, text, 10);
    CALL(pwrite, fd, text, 5, 2);
    CALL_AS(pwrite, pwrite64, fd, text, 5, 3);
    CALL(writev, fd, parts, 2);
    CALL(pwritev, fd, parts, 2, 5);
    CALL_AS(pwritev, pwritev64, fd, parts, 2, 6);
    CALL(pwritev2, fd, parts, 2, 7, 0);
    CALL_AS(pwritev2, pwritev64v2, fd, parts, 2, 8, 0);
    CALL(write, -1, text, 1);
    char buffer[64];
    show(buffer, CALL(pread, fd, buffer, 64, 0));
    CALL(fsync, fd);
    CALL(fdatasync, fd);
    CALL(syncfs, -1);
    CALL(sync_file_range, fd, 0, 0, 0);
    CALL(ftruncate, fd, 100);
    CALL_AS(ftruncate, ftruncate64, fd, 200);
    CALL(truncate, "other", 300);
    CALL_AS(truncate, truncate64, "other", 400);
    CALL(fallocate, fd, 0, 0, 500);
    CALL_AS(fallocate, fallocate64, fd, 0, 0, 600);
    CALL(posix_fallocate, fd, 0, 700);
    CALL(posix_fallocate64, fd, 0, 800);
    CALL(lseek, fd, 0, SEEK_END);
    CALL(close, fd);
}

static void moving(void)
{
    int in = (int)CALL(open, "file", O_RDONLY), out = (int)CALL(open, "third", O_RDWR | O_TRUNC);
    CALL(sendfile, out, in, NULL, 5);
    CALL_AS(sendfile, sendfile64, out, in, NULL, 5);
    CALL(copy_file_range, in, NULL, out, NULL, 5, 0);
    int ends[2], others[2];
    CALL(pipe, ends);
    CALL(pipe2, others, O_CLOEXEC);
    CALL(splice, in, NULL, ends[1], NULL, 5, 0);
    CALL(tee, ends[0], others[1], 3, 0);
    const struct iovec part = { text, 4 };
    CALL(vmsplice, ends[1], &part, 1, 0);
    int waiting = 0;
    CALL(ioctl, ends[0], FIONREAD, &waiting);
    told("waiting", waiting);
    char buffer[64];
    show(buffer, CALL(read, ends[0], buffer, 64));
    show(buffer, CALL(read, others[0], buffer, 64));
    show(buffer, CALL(pread, out, buffer, 64, 0));
    CALL(fcntl, out, F_GETFL);
    CALL(fcntl, out, F_SETFD, FD_CLOEXEC);
    CALL_AS(fcntl, fcntl64, out, F_GETFD);
    CALL(flock, out, LOCK_EX);
    CALL(lockf, out, F_LOCK, 0);
    CALL_AS(lockf, lockf64, out, F_ULOCK, 0);
    int copy = (int)CALL(dup, out);
    CALL(dup2, out, copy);
    CALL(dup3, out, copy, O_CLOEXEC);
    CALL(close, copy);
    for (int i = 0; i < 2; i++) {
        CALL(close, ends[i]);
        CALL(close, others[i]);
    }
    CALL(close, in);
    CALL(close, out);
}

/* The functions by which _FORTIFY_SOURCE replaces such calls. */
int __open_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
ssize_t __read_chk(int fd, void *buffer, size_t size, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t size, off_t at, size_t room);
ssize_t __readlink_chk(const char *path, char *buffer, size_t size, size_t room);

static void fortified(void)
{
    char buffer[64];
    int fd = (int)CALL_AS(open, __open_2, "file", O_RDONLY);
    show(buffer, CALL_AS(read, __read_chk, fd, buffer, 4, sizeof buffer));
    show(buffer, CALL_AS(pread, __pread_chk, fd, buffer, 4, 3, sizeof buffer));
    CALL(close, fd);
    fd = (int)CALL_AS(openat, __openat_2, AT_FDCWD, "file", O_RDONLY);
    CALL(close, fd);
    CALL_AS(readlink, __readlink_chk, "file", buffer, 4, sizeof buffer);
}

void on_files(void)
{
    opening();
    fortified();
    reading();
    writing();
    moving();
}

void on_names(void)
{
    struct stat status;
    struct stat64 status64;
    struct statx extended;
    char buffer[64];
    CALL(stat, "file", &status);
    told("size", status.st_size);
    CALL_AS(stat, stat64, "file", &status64);
    CALL(stat, "nothing", &status);
    CALL(symlink, "file", "symbolic");
    CALL(lstat, "symbolic", &status);
    CALL_AS(lstat, lstat64, "symbolic", &status64);
    CALL(fstatat, AT_FDCWD, "file", &status, 0);
    CALL_AS(fstatat, fstatat64, AT_FDCWD, "file", &status64, 0);
    CALL(statx, AT_FDCWD, "file", 0, STATX_SIZE, &extended);
    told("size", (long)extended.stx_size);
    CALL(access, "file", R_OK);
    CALL(faccessat, AT_FDCWD, "nothing", R_OK, 0);
    show(buffer, CALL(readlink, "symbolic", buffer, sizeof buffer));
    CALL(link, "file", "hard");
    CALL(rename, "hard", "harder");
    CALL(renameat, AT_FDCWD, "harder", AT_FDCWD, "hardest");
    CALL(unlink, "hardest");
    CALL(unlinkat, AT_FDCWD, "symbolic", 0);
    CALL(mkdir, "folder", 0700);
    CALL(chdir, "folder");
    CALL(chdir, "..");
    CALL(rmdir, "folder");
    DIR *folder = SILENT(opendir, ".");
    need(folder != NULL, "opendir");
    CALL(closedir, folder);
}

void on_streams(void)
{
    ssize_t (*volatile by_line)(char **, size_t *, FILE *) = getline; /* otherwise another function, inlined */
    char buffer[64], *line = NULL;
    size_t size = 0;
    FILE *stream = SILENT(fopen, "file", "w");
    need(stream != NULL, "fopen");
    fputs("one\ntwo\nthree\nfour five\n", stream); /* into the buffer */
    CALL(fflush, stream);
    told("nothing to write", fflush(stream));
    fputs("more", stream);
    CALL(fclose, stream);
    counted("fopen"); /* the same function */
    stream = fopen64("file", "r");
    need(stream != NULL, "fopen64");
    need(SILENT(fgets, buffer, sizeof buffer, stream) != NULL, "fgets");
    show(buffer, (long)strlen(buffer));
    need(fgets(buffer, sizeof buffer, stream) != NULL, "fgets"); /* from the buffer */
    show(buffer, (long)strlen(buffer));
    told("fread", (long)fread(buffer, 2, 3, stream)); /* the same */
    counted("fread");                                 /* up to the end */
    told("fread", (long)fread(buffer, 1, 64, stream));
    show(buffer, 14);
    stream = SILENT(freopen, "file", "r", stream);
    need(stream != NULL, "freopen");
    counted("getline");
    told("getline", by_line(&line, &size, stream));
    told("getline", by_line(&line, &size, stream)); /* from the buffer */
    told("getdelim", getdelim(&line, &size, 'e', stream));
    stream = SILENT(freopen, "file", "r", stream);
    need(stream != NULL, "freopen");
    counted("getdelim");
    told("getdelim", getdelim(&line, &size, 'w', stream));
    show(line, (long)strlen(line));
    free(line);
    CALL(fclose, stream);
    stream = SILENT(popen, "echo $((6 * 7))", "r");
    need(stream != NULL, "popen");
    need(SILENT(fgets, buffer, sizeof buffer, stream) != NULL, "fgets");
    show(buffer, (long)strlen(buffer));
    CALL(pclose, stream);
}

void on_memory(void)
{
    char *at = SILENT(mmap, NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(at != MAP_FAILED, "mmap");
    at[0] = 1;
    CALL(mprotect, at, 4096, PROT_READ);
    CALL(madvise, at, 8192, MADV_NORMAL);
    CALL(msync, at, 4096, MS_ASYNC);
    CALL(mlock, at, 4096);
    CALL(munlock, at, 4096);
    CALL(mprotect, at, 4096, PROT_READ | PROT_WRITE);
    at = SILENT(mremap, at, 8192, 16384, MREMAP_MAYMOVE);
    need(at != MAP_FAILED && at[0] == 1, "mremap");
    CALL(munmap, at, 16384);
    CALL(munmap, (void *)1, 1);
    CALL_AS(mmap, mmap64, NULL, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
