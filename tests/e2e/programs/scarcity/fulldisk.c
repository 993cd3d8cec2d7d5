/* fulldisk FOLDER: fills the disk, works, and empties the disk again. */
#include <fcntl.h>

#include "work.h"

enum { MAX_PAGES = 16384 };

static BARE void fill(const char *path)
{
    static const char page[4096] = "full";
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    need(fd >= 0, "open");
    int pages = 0;
    while (pages < MAX_PAGES && write(fd, page, sizeof page) > 0)
        pages++;
    need(pages < MAX_PAGES, "this disk is too large");
    close(fd);
}

int main(int argc, char **argv)
{
    begin();
    char path[4096];
    snprintf(path, sizeof path, "%s/filler", argc > 1 ? argv[1] : ".");
    work(100000);
    fill(path);
    work(500000);
    run_thread(1000);
    run_child(1000);
    unlink(path);
    tell_counts();
    return 0;
}
