/* descriptors LIMIT: limits its descriptors from the start of main on. Then a thread, much work and a child run. */
#include <sys/resource.h>

#include "work.h"

int main(int argc, char **argv)
{
    begin();
    rlim_t most = argc > 1 ? strtoul(argv[1], NULL, 10) : 3;
    need(setrlimit(RLIMIT_NOFILE, &(struct rlimit){ most, most }) == 0, "setrlimit");
    work(1000);
    run_thread(1000);
    work(200000);
    run_child(1000);
    tell_counts();
    return 0;
}
