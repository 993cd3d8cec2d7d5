/* privileges WAY: prints the result of each call, and runs recorded functions before, between and after. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

int capset(cap_user_header_t header, const cap_user_data_t data);

enum { NOBODY = 65534, STEPS = 400000 }; /* more than a few chunks */

static long calls;

__attribute__((noinline)) static void step(void)
{
    calls++;
}

static void work(void)
{
    for (int i = 0; i < STEPS; i++)
        step();
}

static void tell(const char *what, int result)
{
    printf("%s: %d, errno %d\n", what, result, errno);
    errno = 77;
    work();
}

static void *empty(void *unused)
{
    return unused;
}

/* What a thread may do: four lines of its status. */
static void read_rights(const char *task, char *rights, size_t size)
{
    char path[300], line[256];
    snprintf(path, sizeof path, "/proc/self/task/%s/status", task);
    FILE *file = fopen(path, "r");
    *rights = '\0';
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "Uid", 3) == 0 || strncmp(line, "Gid", 3) == 0 || strncmp(line, "Groups", 6) == 0 ||
            strncmp(line, "CapEff", 6) == 0 || strncmp(line, "CapPrm", 6) == 0)
            snprintf(rights + strlen(rights), size - strlen(rights), "%s", line);
    if (file)
        fclose(file);
}

/* A thread that kept what the program has given up would keep it for the program. */
static void compare_threads(void)
{
    char first[32], own[1024], other[1024];
    snprintf(first, sizeof first, "%d", getpid());
    read_rights(first, own, sizeof own);
    DIR *tasks = opendir("/proc/self/task");
    int others = 0;
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        if (task->d_name[0] == '.')
            continue;
        read_rights(task->d_name, other, sizeof other);
        others += other[0] && strcmp(other, own) != 0;
    }
    if (tasks)
        closedir(tasks);
    printf("%d threads have other rights\n", others);
}

static void identities(void)
{
    gid_t group = NOBODY;
    tell("setgroups", setgroups(1, &group));
#ifndef STATIC /* the linker warns of what it takes in */
    tell("initgroups", initgroups("nobody", NOBODY));
#endif
    tell("setegid", setegid(NOBODY));
    tell("setregid", setregid(0, 0));
    tell("setresgid", setresgid(NOBODY, NOBODY, NOBODY));
    tell("setgid", setgid(NOBODY));
    tell("seteuid", seteuid(NOBODY));
    tell("seteuid", seteuid(0));
    tell("setreuid", setreuid(-1, 0));
    tell("setresuid", setresuid(-1, NOBODY, 0));
    tell("setuid", setuid(0));
    tell("setuid", setuid(NOBODY));
    tell("setuid", setuid(0));
    tell("setgroups", setgroups(1, &group));
    printf("%d %d %d %d\n", getuid(), geteuid(), getgid(), getegid());
}

static void capabilities(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct none[2] = { { 0 } }, all[2] = { { ~0u, ~0u, 0 }, { 0, 0, 0 } };
    tell("capset", capset(&header, none));
    tell("capset", capset(&header, all));
    header.version = 1;
    tell("capset", capset(&header, none));
}

static void user_namespace(void)
{
    tell("unshare", unshare(-1));
    tell("unshare", unshare(CLONE_NEWUSER | CLONE_NEWNS));
    tell("setns", setns(-1, 0));
    int own = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
    tell("setns", setns(own, CLONE_NEWUSER)); /* its own namespace, which is always refused */
    pthread_t thread;
    printf("a thread: %d\n", pthread_create(&thread, NULL, empty, NULL));
    pthread_join(thread, NULL);
}

/* Into that of a child. */
static void another_namespace(void)
{
    int ready[2], over[2];
    if (pipe(ready) < 0 || pipe(over) < 0)
        return;
    pid_t child = fork();
    char byte = 0;
    if (child == 0) {
        close(over[1]);
        syscall(SYS_unshare, CLONE_NEWUSER);
        if (write(ready[1], &byte, 1) != 1 || read(over[0], &byte, 1) < 0)
            _exit(1);
        _exit(0);
    }
    char path[64];
    if (read(ready[0], &byte, 1) != 1)
        return;
    snprintf(path, sizeof path, "/proc/%d/ns/user", (int)child);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    work();
    tell("setns", setns(fd, 0));
    close(over[1]);
    waitpid(child, NULL, 0);
}

/* No threads can be made afterwards, not even the helper. */
static void process_namespace(void)
{
    tell("unshare", unshare(CLONE_NEWUSER | CLONE_NEWPID));
    pthread_t thread;
    printf("a thread: %d\n", pthread_create(&thread, NULL, empty, NULL));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("pid %d\n", getpid());
        fflush(stdout);
        work();
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

/* A child that has recorded nothing so far cannot open the file any more. */
static void forked_child(void)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        int result = chroot("/proc") | setgid(NOBODY) | setuid(NOBODY);
        tell("child", result);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";
    errno = 77;
    work();
    if (strcmp(way, "identities") == 0)
        identities();
    else if (strcmp(way, "capabilities") == 0)
        capabilities();
    else if (strcmp(way, "user-namespace") == 0)
        user_namespace();
    else if (strcmp(way, "another-namespace") == 0)
        another_namespace();
    else if (strcmp(way, "process-namespace") == 0)
        process_namespace();
    else if (strcmp(way, "child") == 0)
        forked_child();
    work();
    compare_threads();
    printf("calls step %ld\n", calls);
    return 0;
}
