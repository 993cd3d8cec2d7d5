/*
 * odd WAY: OS calls that end without returning, or happen at an unusual moment. Each way ends with status 0 if the
 * program finds everything as without dwell.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_INSTRUMENTED __attribute__((no_instrument_function))

static int ends[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int cleaned;

static NOT_INSTRUMENTED void need(int holds, int line)
{
    if (!holds) {
        printf("line %d\n", line);
        exit(3);
    }
}
#define NEED(condition) need(condition, __LINE__)

/* ---- cancelled threads ---- */

static void cleanup(void *unlock)
{
    cleaned++;
    if (unlock)
        pthread_mutex_unlock(unlock);
}

static void *in_read(void *unused)
{
    (void)unused;
    char byte;
    pthread_cleanup_push(cleanup, NULL);
    while (read(ends[0], &byte, 1) >= 0)
        ;
    pthread_cleanup_pop(0);
    return NULL;
}

static void *in_wait(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&mutex);
    pthread_cleanup_push(cleanup, &mutex);
    for (;;)
        pthread_cond_wait(&condition, &mutex);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *in_sleep(void *unused)
{
    (void)unused;
    pthread_cleanup_push(cleanup, NULL);
    sleep(1000);
    pthread_cleanup_pop(0);
    return NULL;
}

/* It reaches its call in any case, because nothing before it is a cancellation point. Mostly it already waits there. */
static NOT_INSTRUMENTED void cancel(void *(*run)(void *))
{
    pthread_t thread;
    void *result = NULL;
    NEED(pthread_create(&thread, NULL, run, NULL) == 0);
    for (volatile int i = 0; i < 2000000; i++)
        ;
    NEED(pthread_cancel(thread) == 0);
    NEED(pthread_join(thread, &result) == 0 && result == PTHREAD_CANCELED);
}

static void cancelled(void)
{
    for (int i = 0; i < 5; i++) {
        cancel(in_read);
        cancel(in_wait);
        cancel(in_sleep);
    }
    NEED(cleaned == 15 && pthread_mutex_trylock(&mutex) == 0);
}

/* ---- handlers ---- */

static sigjmp_buf place;

static void leave(int number)
{
    (void)number;
    siglongjmp(place, 1);
}

static void answer(int number)
{
    (void)number;
    if (write(ends[1], "x", 1) != 1)
        abort();
}

/* Reads from the kernel what the main thread does, by bare system calls, until it waits in a read. */
static NOT_INSTRUMENTED void *interrupt(void *unused)
{
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", getpid());
    do {
        syscall(SYS_sched_yield);
        const long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY);
        const long size = syscall(SYS_read, fd, text, sizeof text - 1);
        syscall(SYS_close, fd);
        text[size > 0 ? size : 0] = '\0';
    } while (!*text || *text == 'r' || atoi(text) != SYS_read);
    syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1);
    return unused;
}

static void interrupt_by(void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
    pthread_t thread;
    sigaction(SIGUSR1, &action, NULL);
    NEED(pthread_create(&thread, NULL, interrupt, NULL) == 0 && pthread_detach(thread) == 0);
}

static void wait_for_byte(void)
{
    char byte = 0;
    NEED(read(ends[0], &byte, 1) == 1 && byte == 'x');
}

static void jumped(void)
{
    for (volatile int i = 0; i < 4; i++) {
        if (sigsetjmp(place, 1) == 0) {
            interrupt_by(leave);
            wait_for_byte();
        }
    }
    NEED(write(ends[1], "x", 1) == 1);
    wait_for_byte();
}

static void handled(void)
{
    for (int i = 0; i < 4; i++) {
        interrupt_by(answer);
        wait_for_byte();
    }
}

/* ---- no instrumented function below ---- */

static NOT_INSTRUMENTED void *plain_thread(void *unused)
{
    for (int i = 0; i < 10; i++)
        NEED(write(ends[1], "y", 1) == 1);
    return unused;
}

static NOT_INSTRUMENTED __attribute__((constructor)) void before_main(void)
{
    NEED(pipe(ends) == 0 && write(ends[1], "z", 1) == 1);
    char byte;
    NEED(read(ends[0], &byte, 1) == 1 && byte == 'z');
}

static void at_root(void)
{
    pthread_t thread;
    NEED(pthread_create(&thread, NULL, plain_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
    char bytes[10];
    NEED(read(ends[0], bytes, 10) == 10 && bytes[9] == 'y');
}

/* ---- children ---- */

static void child_work(void)
{
    NEED(write(ends[1], "x", 1) == 1);
}

static void forked(void)
{
    pid_t child = fork();
    if (child == 0) {
        NEED(write(ends[1], "x", 1) == 1); /* it has recorded nothing yet, and this does not change that */
        child_work();
        _exit(5);
    }
    int status;
    NEED(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 5);
    wait_for_byte();
    wait_for_byte();
}

static void by_vfork(void)
{
    pid_t child = vfork();
    if (child == 0) {
        NEED(write(ends[1], "x", 1) == 1);
        _exit(6);
    }
    int status;
    NEED(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 6);
    wait_for_byte();
}

/* A child made by another library's system call, of which our runtime learns nothing. */
static void from_shell(void)
{
    NEED(WEXITSTATUS(system("exit 7")) == 7);
}

static void many(void)
{
    const int fd = open("/dev/null", O_WRONLY);
    for (int i = 0; i < 100000; i++)
        NEED(write(fd, "x", 1) == 1);
    NEED(close(fd) == 0);
}

/* ---- errno ---- */

static void errors(void)
{
    char byte;
    void *volatile nowhere = NULL;
    errno = 0;
    NEED(read(-1, &byte, 1) == -1 && errno == EBADF);
    errno = 99;
    NEED(write(ends[1], "x", 1) == 1 && errno == 99);
    NEED(read(ends[0], nowhere, 1) == -1 && errno == EFAULT);
    NEED(mmap(NULL, 0, PROT_READ, MAP_PRIVATE, -1, 0) == MAP_FAILED);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } ways[] = {
        { "cancelled", cancelled }, { "jumped", jumped }, { "handled", handled },
        { "root", at_root },        { "forked", forked }, { "vfork", by_vfork },
        { "shell", from_shell },    { "errors", errors }, { "many", many },
    };
    for (size_t i = 0; argc == 2 && i < sizeof ways / sizeof *ways; i++) {
        if (strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
            return EXIT_SUCCESS;
        }
    }
    return 2;
}
