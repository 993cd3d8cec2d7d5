/* fillup FOLDER [SESSION]: works while the disk of FOLDER is full. Before, it makes a copy of SESSION that shares its
 * blocks, so that each store into it needs new ones. Writing all back to the disk first makes the pages of the session
 * read-only for a moment. */
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "work.h"

static BARE void fillup_clone(const char *folder, const char *session)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/clone", folder);
    int from = open(session, O_RDONLY), to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    need(from >= 0 && to >= 0 && ioctl(to, FICLONE, from) == 0, "clone");
    close(from);
    close(to);
}

/* Large pieces first, then small ones, until nothing fits. */
static BARE void fillup_write(const char *path)
{
    static char piece[1 << 20];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    need(fd >= 0, "open");
    for (size_t i = 0; i < sizeof piece; i++)
        piece[i] = (char)(i * 2654435761u >> 13);
    long pieces = 0;
    for (size_t size = sizeof piece; size >= 512; size /= 2)
        while (write(fd, piece, size) == (ssize_t)size)
            need(++pieces < 100000, "this disk is too large");
    fsync(fd);
    for (size_t size = 4096; size >= 512; size /= 2)
        while (write(fd, piece, size) == (ssize_t)size)
            ;
    close(fd);
}

int main(int argc, char **argv)
{
    begin();
    char path[4096];
    snprintf(path, sizeof path, "%s/filler", argc > 1 ? argv[1] : ".");
    work(100000);
    sync();
    if (argc > 2)
        fillup_clone(argv[1], argv[2]);
    fillup_write(path);
    sync();
    work(500000);
    run_thread(1000);
    run_child(1000);
    unlink(path);
    tell_counts();
    return 0;
}
