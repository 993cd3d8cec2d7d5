/* privileges WAY: prints the result of each call, and runs recorded functions before, between and after. */
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

static void identities(void)
{
    gid_t group = NOBODY;
    tell("setgroups", setgroups(1, &group));
    tell("initgroups", initgroups("nobody", NOBODY));
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
    printf("calls step %ld\n", calls);
    return 0;
}
