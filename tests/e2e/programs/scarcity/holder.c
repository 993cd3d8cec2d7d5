/* holder KIND FILE: opens the file for reading, locks it, prints a line, and waits for a signal. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    const int fd = argc == 3 ? open(argv[2], O_RDONLY) : -1;
    struct flock all = { .l_type = F_RDLCK, .l_whence = SEEK_SET };
    int error;
    if (fd < 0)
        return 99;
    if (strcmp(argv[1], "posix") == 0)
        error = fcntl(fd, F_SETLK, &all);
    else if (strcmp(argv[1], "ofd") == 0)
        error = fcntl(fd, F_OFD_SETLK, &all);
    else
        error = flock(fd, strcmp(argv[1], "flock-shared") == 0 ? LOCK_SH : LOCK_EX);
    puts(error ? "failed" : "held");
    fflush(stdout);
    pause();
    return 0;
}
