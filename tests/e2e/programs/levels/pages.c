/* pages [serve]: functions that begin pages of their own, and a list of the pages of code that differ from the file.
 * serve: prints the process' id, then such a list after each line of input. */
#include <dirent.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))
#define PAGED __attribute__((noinline, aligned(4096)))

static volatile long sum;

#define FUNCTION(name)                                                                                                 \
    PAGED static void name(void)                                                                                       \
    {                                                                                                                  \
        sum += 1;                                                                                                      \
    }

FUNCTION(hot_a)
FUNCTION(cold_a)
FUNCTION(cold_b)
FUNCTION(hot_b)
PAGED static void cold_c(void)
{
    hot_a();
    cold_a();
    cold_b();
    hot_b();
}

static const struct {
    const char *name;
    void (*function)(void);
} functions[] = {
    { "hot_a", hot_a }, { "cold_a", cold_a }, { "cold_b", cold_b }, { "hot_b", hot_b }, { "cold_c", cold_c }
};

QUIET static const char *name_of(unsigned long page)
{
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
        if ((unsigned long)functions[i].function == page)
            return functions[i].name;
    return "other";
}

QUIET static int compare(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    const int fd = *(int *)data;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        char page[4096];
        if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
            continue;
        for (unsigned long at = 0; at < segment->p_filesz; at += sizeof page) {
            const ssize_t got = pread(fd, page, sizeof page, (off_t)(segment->p_offset + at));
            const unsigned long left = segment->p_filesz - at;
            const char *there = (const char *)(info->dlpi_addr + segment->p_vaddr + at);
            if (got > 0 && memcmp(page, there, left < (unsigned long)got ? left : (unsigned long)got) != 0)
                printf("changed %s\n", name_of((unsigned long)there));
        }
    }
    return 1; /* only the program */
}

/* The pages that were written, by the kernel's own count: 4 KiB each. */
QUIET static void print_private(void)
{
    char line[512];
    int code = 0;
    long pages = 0;
    FILE *maps = fopen("/proc/self/smaps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        long kilobytes;
        char flags[8];
        if (sscanf(line, "%*x-%*x %7s", flags) == 1 && strchr(flags, '-'))
            code = strcmp(flags, "r-xp") == 0 && strstr(line, "/pages") != NULL;
        if (strstr(line, "rwxp"))
            puts("writable code");
        if (code && sscanf(line, "Anonymous: %ld kB", &kilobytes) == 1 && kilobytes)
            pages += kilobytes / 4;
    }
    if (maps)
        fclose(maps);
    printf("written %ld\n", pages);
}

QUIET static void look(int fd)
{
    cold_c();
    dl_iterate_phdr(compare, &fd);
    print_private();
}

/* The recording's helper is about to change code, or does. */
QUIET static bool helper_runs(void)
{
    bool runs = false;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *entry; tasks && (entry = readdir(tasks));) {
        char path[300], line[512] = "", state = 'S';
        snprintf(path, sizeof path, "/proc/self/task/%s/stat", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fgets(line, sizeof line, file) && sscanf(line, "%*d (dwell) %c", &state) == 1)
            runs |= state != 'S';
        if (file)
            fclose(file);
    }
    if (tasks)
        closedir(tasks);
    return runs;
}

/* The helper has 300 ms. Those in which it waits for a busy processor do not count. */
QUIET static void wait_for_helper(void)
{
    for (int waited = 0; waited < 30; waited += !helper_runs())
        usleep(10000);
}

/* Twice a line: the runtime takes probes out when threads have shown that they know of it. */
QUIET static void serve(int fd)
{
    char line[16];
    printf("%d\n", getpid());
    while (fflush(stdout), fgets(line, sizeof line, stdin)) {
        cold_c();
        wait_for_helper();
        look(fd);
        puts("done");
    }
}

QUIET int main(int argc, char **argv)
{
    const int fd = open("/proc/self/exe", O_RDONLY);
    if (argc > 1 && strcmp(argv[1], "serve") == 0)
        serve(fd);
    else
        look(fd);
    close(fd);
    return 0;
}
