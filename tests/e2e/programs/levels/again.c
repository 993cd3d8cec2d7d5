/*
 * again exec|spawn|fork TIMES CALLS [BETWEEN]: calls functions until the code of leaf() is not that of the file, or for
 * two minutes, and then runs the shell command BETWEEN, which finds the process' number in $PID and its parent's in
 * $PARENT. After that the program executes itself, TIMES times in all; or starts so many processes of itself, one after
 * another; or forks them. Each makes CALLS calls of leaf(), and more until its code is changed. Prints the number of
 * calls, that of processes, and how many of them had changed code from their start.
 */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PLAIN __attribute__((no_instrument_function))
#define KEPT __attribute__((noinline))

enum { EACH = 50, LOOKED_AT = 48, SECONDS = 120 };

struct totals {
    unsigned long leaf, outer, processes, changed;
};

extern char **environ;
static struct totals *totals; /* shared by all processes */
static volatile unsigned long sum;

#ifdef LARGE
__asm__(".text\n.fill 262144, 1, 0x90\n");
#endif

#ifdef MANY /* calls of the probes, which take long to change: in 1,500 functions */
#define FUNCTION(number)                                                                                               \
    KEPT void many_##number(void)                                                                                      \
    {                                                                                                                  \
        sum++;                                                                                                         \
    }
#define TEN(number)                                                                                                    \
    FUNCTION(number##0)                                                                                                \
    FUNCTION(number##1)                                                                                                \
    FUNCTION(number##2)                                                                                                \
    FUNCTION(number##3)                                                                                                \
    FUNCTION(number##4)                                                                                                \
    FUNCTION(number##5)                                                                                                \
    FUNCTION(number##6)                                                                                                \
    FUNCTION(number##7)                                                                                                \
    FUNCTION(number##8)                                                                                                \
    FUNCTION(number##9)
#define FIFTY(number) TEN(number##0) TEN(number##1) TEN(number##2) TEN(number##3) TEN(number##4)
#define FIVE_HUNDRED(number)                                                                                           \
    FIFTY(number##0)                                                                                                   \
    FIFTY(number##1)                                                                                                   \
    FIFTY(number##2)                                                                                                   \
    FIFTY(number##3)                                                                                                   \
    FIFTY(number##4)                                                                                                   \
    FIFTY(number##5)                                                                                                   \
    FIFTY(number##6)                                                                                                   \
    FIFTY(number##7)                                                                                                   \
    FIFTY(number##8)                                                                                                   \
    FIFTY(number##9)
FIVE_HUNDRED(a)
FIVE_HUNDRED(b)
FIVE_HUNDRED(c)
#endif

KEPT void leaf(unsigned long by)
{
    sum += by;
}

KEPT void outer(unsigned long by)
{
    for (unsigned long i = 0; i < EACH; i++)
        leaf(i + by);
}

static PLAIN void make_calls(unsigned long calls)
{
    for (unsigned long i = 0; i < calls; i += EACH)
        outer(i);
    totals->leaf += calls;
    totals->outer += calls / EACH;
}

/* The first module is the program. */
static PLAIN int find_place(struct dl_phdr_info *info, size_t size, void *place)
{
    (void)size;
    const uint64_t address = (uint64_t)(uintptr_t)leaf - info->dlpi_addr;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - p->p_vaddr < p->p_filesz)
            *(off_t *)place = (off_t)(address - p->p_vaddr + p->p_offset);
    }
    return 1;
}

static PLAIN int is_changed(void)
{
    static char original[LOOKED_AT];
    static int known;
    if (!known) {
        off_t place = -1;
        const int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        dl_iterate_phdr(find_place, &place);
        if (pread(fd, original, sizeof original, place) != (ssize_t)sizeof original)
            exit(4);
        close(fd);
        known = 1;
    }
    return memcmp((const void *)(uintptr_t)leaf, original, sizeof original) != 0;
}

static PLAIN void run_between(const char *command)
{
    char pid[24], parent[24];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    snprintf(parent, sizeof parent, "%d", (int)getppid());
    setenv("PID", pid, 1);
    setenv("PARENT", parent, 1);
    if (system(command) != 0)
        exit(5);
}

static PLAIN void work(unsigned long calls, const char *between)
{
    const time_t end = time(NULL) + SECONDS;
    totals->processes++;
    totals->changed += (unsigned long)is_changed();
    make_calls(calls);
    while (!is_changed() && time(NULL) < end)
        make_calls(calls);
    if (*between)
        run_between(between);
    make_calls(calls);
}

static PLAIN void wait_for(pid_t child)
{
    int status;
    if (waitpid(child, &status, 0) != child || status != 0)
        exit(6);
}

PLAIN int main(int argc, char **argv)
{
    const char *how = argv[1], *between = argc > 4 ? argv[4] : "";
    long times = atol(argv[2]);
    const unsigned long calls = strtoul(argv[3], NULL, 10) / EACH * EACH;
    char descriptor[24], rest[24];
    const int first = argc < 6, fd = first ? memfd_create("totals", 0) : atoi(argv[5]);
    if (fd < 0 || (first && ftruncate(fd, sizeof *totals) < 0))
        return 7;
    totals = mmap(NULL, sizeof *totals, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    snprintf(descriptor, sizeof descriptor, "%d", fd);
    work(calls, between);
    const int executes = strcmp(how, "exec") == 0;
    snprintf(rest, sizeof rest, "%ld", executes ? times - 1 : 0);
    char *const next[] = { argv[0], argv[1], rest, argv[3], (char *)between, descriptor, NULL };
    if (executes && times > 0)
        execv(argv[0], next);
    for (; times > 0; times--) {
        pid_t child;
        if (strcmp(how, "spawn") == 0) {
            if (posix_spawn(&child, argv[0], NULL, NULL, next, environ) != 0)
                return 8;
        } else if ((child = fork()) == 0) {
            work(calls, "");
            return 0;
        }
        wait_for(child);
    }
    if (first || executes)
        printf("calls leaf %lu\ncalls outer %lu\nprocesses %lu\nchanged %lu\nend\n", totals->leaf, totals->outer,
               totals->processes, totals->changed);
    return 0;
}
