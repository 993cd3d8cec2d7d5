/* filesize: in the middle, it forbids files to grow; SIGXFSZ must not come. It removes the limit at the end, because
 * its output is a file, too. */
#include <sys/resource.h>

#include "work.h"

int main(void)
{
    begin();
    work(100000);
    need(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 0, RLIM_INFINITY }) == 0, "setrlimit");
    work(500000);
    run_thread(1000);
    run_child(1000);
    need(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY }) == 0, "setrlimit");
    tell_counts();
    return 0;
}
