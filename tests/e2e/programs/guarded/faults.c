/* faults HOW [SESSION]: has faults of its own, with its own action for their signal FAULT, and prints what it sees of
 * signals. They are in a truncated file, or in a page without access. With SESSION, it truncates that file first, or in
 * the handler if HOW is `inside`. If HOW is `children`, it also makes it as long as before, so that its header is
 * zeros.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <ucontext.h>

#include "work.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { PAGE_BYTES = 4096, FAULTS = 50 };

static char *hole; /* a page that cannot be used */
static char other_stack[64 << 10];
static volatile sig_atomic_t faults;
static sigjmp_buf back;
static const char *session; /* to be truncated later; or NULL */
static ucontext_t before;

/* Its argument can be recorded, which the program's faults must not disturb. */
__attribute__((noinline, noclone)) static int glance(const int *at)
{
    return at ? *at : 0;
}

#if FAULT == SIGSEGV

static BARE void faults_map_hole(void)
{
    hole = mmap(NULL, PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(hole != MAP_FAILED, "mmap");
}

#else

static BARE void faults_map_hole(void)
{
    int fd = open(".", O_TMPFILE | O_RDWR, 0600);
    if (fd < 0)
        fd = open("hole", O_RDWR | O_CREAT | O_TRUNC, 0600);
    need(fd >= 0 && ftruncate(fd, PAGE_BYTES) == 0, "file");
    hole = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    need(hole != MAP_FAILED && ftruncate(fd, 0) == 0, "mmap");
    close(fd);
}

#endif

static BARE void faults_store(int i)
{
    *(volatile char *)(hole + i) = 1;
}

static BARE int faults_blocked(int number)
{
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, number);
}

static BARE void faults_tell(const char *what)
{
    struct sigaction now;
    sigaction(FAULT, NULL, &now);
    printf("%s: %s flags %x mask %d %d %d, blocked %d %d\n", what,
           now.sa_handler == SIG_DFL   ? "default"
           : now.sa_handler == SIG_IGN ? "ignored"
                                       : "handled",
           (unsigned)now.sa_flags, sigismember(&now.sa_mask, FAULT), sigismember(&now.sa_mask, SIGUSR1),
           sigismember(&now.sa_mask, SIGKILL), faults_blocked(FAULT), faults_blocked(SIGUSR1));
}

static BARE bool faults_is_here(const void *at)
{
    return (const char *)at >= other_stack && (const char *)at < other_stack + sizeof other_stack;
}

/* Instrumented, as its calls are. */
static void handler(int number, siginfo_t *info, void *context)
{
    step(1);
    if (faults++ == 0)
        printf("signal %d code %d at %s, %s stack, context %d, blocked %d %d\n", number, info->si_code,
               info->si_code <= 0                                                           ? "nothing"
               : (char *)info->si_addr >= hole && (char *)info->si_addr < hole + PAGE_BYTES ? "the hole"
                                                                                            : "another place",
               faults_is_here(__builtin_frame_address(0)) ? "other" : "own", context != NULL, faults_blocked(FAULT),
               faults_blocked(SIGUSR1));
    glance(&number);
    if (info->si_code > 0)
        mmap(hole, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* Works in a session that has just been truncated. Another FAULT waits until it returns. */
static void insider(int number, siginfo_t *info, void *context)
{
    faults++;
    if (faults == 1) {
        need(!session || truncate(session, 0) == 0, "truncate");
        raise(number);
        work(100000);
        printf("%d so far, blocked %d %d\n", (int)faults, faults_blocked(FAULT), faults_blocked(SIGUSR1));
    }
    if (info->si_code > 0)
        mmap(hole, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    (void)context;
}

/* Leaves for a context whose mask blocks nothing. */
static void leaver(int number, siginfo_t *info, void *context)
{
    step((unsigned long)number);
    faults++;
    (void)info, (void)context;
    setcontext(&before);
}

static void jumper(int number)
{
    step((unsigned long)number);
    faults++;
    siglongjmp(back, 1);
}

static BARE void faults_handle(void (*with)(int, siginfo_t *, void *), int flags)
{
    struct sigaction action = { .sa_sigaction = with, .sa_flags = flags | SA_SIGINFO };
    sigaddset(&action.sa_mask, SIGUSR1);
    need(sigaction(FAULT, &action, NULL) == 0, "sigaction");
    faults_tell("set");
}

static BARE void faults_set_stack(void)
{
    const stack_t stack = { .ss_sp = other_stack, .ss_size = sizeof other_stack };
    need(sigaltstack(&stack, NULL) == 0, "sigaltstack");
}

static BARE void faults_jump(void)
{
    signal(FAULT, jumper);
    faults_tell("set");
    for (volatile int i = 0; i < FAULTS; i++)
        if (sigsetjmp(back, 1) == 0)
            faults_store(i);
    printf("%d jumps\n", (int)faults);
    faults_tell("then");
}

static BARE void faults_inside(void)
{
    faults_handle(insider, 0);
    faults_store(0);
    printf("%d faults\n", (int)faults);
    faults_tell("then");
}

static BARE void faults_leave(void)
{
    faults_handle(leaver, 0);
    getcontext(&before);
    if (faults < FAULTS)
        faults_store(0);
    printf("%d left\n", (int)faults);
    faults_tell("then");
}

static BARE void faults_sent(void)
{
    sigset_t bus, pending;
    sigemptyset(&bus);
    sigaddset(&bus, FAULT);
    faults_handle(handler, 0);
    raise(FAULT);
    printf("%d raised\n", (int)faults);
    sigprocmask(SIG_BLOCK, &bus, NULL);
    raise(FAULT);
    sigpending(&pending);
    printf("%d while blocked, pending %d\n", (int)faults, sigismember(&pending, FAULT));
    sigprocmask(SIG_UNBLOCK, &bus, NULL);
    printf("%d when unblocked\n", (int)faults);
    signal(FAULT, SIG_IGN);
    raise(FAULT);
    printf("%d when ignored\n", (int)faults);
    faults_tell("then");
}

static BARE void faults_ask(void)
{
    struct sigaction action = { .sa_handler = jumper, .sa_flags = SA_RESTART | SA_NODEFER }, old;
    faults_tell("first");
    printf("signal %d\n", signal(FAULT, jumper) == SIG_DFL);
    faults_tell("signal");
    siginterrupt(FAULT, 1);
    faults_tell("siginterrupt");
    printf("sigset %d\n", sigset(FAULT, SIG_HOLD) == jumper);
    faults_tell("sigset");
    printf("sigset %d\n", sigset(FAULT, SIG_IGN) == SIG_HOLD);
    faults_tell("sigset");
    sighold(FAULT);
    faults_tell("sighold");
    sigrelse(FAULT);
    faults_tell("sigrelse");
    sigfillset(&action.sa_mask);
    sigaction(FAULT, &action, &old);
    printf("old %d\n", old.sa_handler == SIG_IGN);
    faults_tell("sigaction");
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR1, NULL, &old);
    printf("another's mask %d %d\n", sigismember(&old.sa_mask, FAULT), sigismember(&old.sa_mask, SIGUSR2));
    printf("sigblock %d\n", sigblock(1 << (FAULT - 1)) >> (FAULT - 1) & 1);
    printf("sigsetmask %d\n", sigsetmask(0) >> (FAULT - 1) & 1);
    faults_tell("sigsetmask");
    printf("wrong %d %d\n", sigaction(0, NULL, &old), sigaction(65, &action, NULL));
    sigignore(FAULT);
    faults_tell("sigignore");
}

/* Programs that are executed inherit the action and the mask; so do children, and the mask by threads. */
static BARE void faults_inherit(char *program)
{
    extern char **environ;
    char *const argv[] = { program, "tell", NULL };
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, FAULT);
    for (volatile int i = 0; i < 3; i++) {
        char command[4096];
        pid_t child;
        if (i == 1)
            signal(FAULT, SIG_IGN);
        if (i == 2)
            sigprocmask(SIG_BLOCK, &bus, NULL);
        posix_spawn(&child, program, NULL, NULL, argv, environ);
        waitpid(child, NULL, 0);
        child = vfork();
        if (child == 0) {
            signal(FAULT, i == 0 ? SIG_IGN : SIG_DFL);
            execv(program, argv);
            _exit(1);
        }
        waitpid(child, NULL, 0);
        snprintf(command, sizeof command, "'%s' tell", program);
        need(system(command) == 0, "system");
        faults_tell("parent");
        if (fork() == 0) {
            step(1);
            faults_tell("child");
            _exit(0);
        }
        wait(NULL);
    }
    execv(program, argv);
}

/* Children are recorded from their first call on, whatever is in the header. */
static BARE void faults_children(void)
{
    for (int i = 0; i < 20; i++) {
        struct stat status;
        int ended;
        need(!session ||
                 (stat(session, &status) == 0 && truncate(session, 0) == 0 && truncate(session, status.st_size) == 0),
             "truncate");
        const pid_t child = fork();
        if (child == 0) {
            work(100);
            _exit(i);
        }
        waitpid(child, &ended, 0);
        printf("%d\n", ended);
    }
}

static BARE void *faults_in_thread(void *unused)
{
    faults_tell("thread");
    step(1);
    faults_tell("thread");
    sigset_t bus;
    sigemptyset(&bus);
    sigaddset(&bus, FAULT);
    pthread_sigmask(SIG_UNBLOCK, &bus, NULL);
    faults_store(1);
    return unused;
}

static BARE void faults_thread(void)
{
    sigset_t all;
    pthread_t thread;
    faults_handle(handler, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    need(pthread_create(&thread, NULL, faults_in_thread, NULL) == 0, "pthread_create");
    pthread_join(thread, NULL);
    printf("%d faults\n", (int)faults);
}

static BARE void faults_die(const char *how)
{
    sigset_t all;
    sigfillset(&all);
    if (strcmp(how, "ignored") == 0)
        signal(FAULT, SIG_IGN);
    if (strcmp(how, "blocked") == 0) {
        faults_handle(handler, 0);
        sigprocmask(SIG_BLOCK, &all, NULL);
    }
    if (strcmp(how, "sent-default") == 0)
        raise(FAULT);
    faults_store(0);
}

static BARE void faults_once(void)
{
    faults_handle(handler, (int)SA_RESETHAND);
    faults_store(0);
    faults_tell("then");
    faults_map_hole();
    faults_store(0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "tell";
    const int seen = 7;
    begin();
    work(100);
    need(glance(&seen) == 7 && glance(&seen) == 7 && glance(NULL) == 0, "glance");
    if (argc > 2 && (strcmp(how, "inside") == 0 || strcmp(how, "children") == 0))
        session = argv[2];
    else if (argc > 2)
        need(truncate(argv[2], 0) == 0, "truncate");
    work(100);
    faults_map_hole();
    if (strcmp(how, "alternate") == 0 || strcmp(how, "ordinary") == 0)
        faults_set_stack();
    if (strcmp(how, "siginfo") == 0 || strcmp(how, "ordinary") == 0)
        faults_handle(handler, 0);
    else if (strcmp(how, "alternate") == 0)
        faults_handle(handler, SA_ONSTACK | SA_NODEFER);
    else if (strcmp(how, "inside") == 0)
        faults_inside();
    else if (strcmp(how, "leave") == 0)
        faults_leave();
    else if (strcmp(how, "jump") == 0)
        faults_jump();
    else if (strcmp(how, "sent") == 0)
        faults_sent();
    else if (strcmp(how, "ask") == 0)
        faults_ask();
    else if (strcmp(how, "inherit") == 0)
        faults_inherit(argv[0]);
    else if (strcmp(how, "children") == 0)
        faults_children();
    else if (strcmp(how, "thread") == 0)
        faults_thread();
    else if (strcmp(how, "once") == 0)
        faults_once();
    else if (strcmp(how, "tell") == 0)
        faults_tell("executed");
    else
        faults_die(how);
    if (strcmp(how, "siginfo") == 0 || strcmp(how, "ordinary") == 0 || strcmp(how, "alternate") == 0) {
        faults_store(0);
        faults_store(1);
        printf("%d faults\n", (int)faults);
        faults_tell("then");
    }
    work(100);
    return 0;
}
