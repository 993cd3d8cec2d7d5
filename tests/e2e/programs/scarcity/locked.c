/*
 * locked KIB: may lock so much memory, and locks all that it has and will have. It then takes most of what is left,
 * makes calls that fill several chunks, and takes a little more.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "work.h"

/* Of /proc/self/status, in KiB. */
static BARE long status_of(const char *name)
{
    char line[256];
    long value = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            value = strtol(line + strlen(name), NULL, 10);
    if (file)
        fclose(file);
    return value;
}

static BARE void take(long kib)
{
    char *at = mmap(NULL, (size_t)kib << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    printf("%ld KiB: %s\n", kib, at == MAP_FAILED ? strerror(errno) : "mine");
    if (at != MAP_FAILED)
        at[0] = 1;
}

int main(int argc, char **argv)
{
    const long limit = argc > 1 ? atol(argv[1]) : 4096;
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct data[2] = { { 0 } };
    begin();
    work(1000);
    need(setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ (rlim_t)limit << 10, (rlim_t)limit << 10 }) == 0, "setrlimit");
    need(syscall(SYS_capget, &header, data) == 0, "capget");
    data[0].effective &= ~(1u << CAP_IPC_LOCK);
    need(syscall(SYS_capset, &header, data) == 0, "capset");
    printf("all: %s\n", mlockall(MCL_CURRENT | MCL_FUTURE) ? strerror(errno) : "locked");
    take(limit - 3328);
    work(1000000);
    dive(2000);
    take(64);
    printf("locked %s\n", status_of("VmLck:") >= limit - 3328 + 64 ? "enough" : "too little");
    tell_counts();
    return 0;
}
