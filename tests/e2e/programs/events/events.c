/* events SCENARIO: writes trace events, and prints "wrong: ..." for each unexpected result. */
#define _GNU_SOURCE 1
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "dwell/event.h"

static struct dwell_event_class shop =
    DWELL_EVENT_CLASS("shop", 0x9a1c5b7e, 0x2f30, 0x4d11, 0x8e, 0x02, 0x5c, 0x71, 0x0b, 0x6f, 0x3d, 0x94);
static struct dwell_event_class audit =
    DWELL_EVENT_CLASS("audit.log", 0x00000001, 0x0002, 0x0003, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b);

static void expect(const char *what, long got, long wanted)
{
    if (got != wanted)
        printf("wrong: %s is %ld, not %ld\n", what, got, wanted);
}

static void register_all(void)
{
    expect("register shop", dwell_event_register(&shop), DWELL_OK);
    expect("register audit", dwell_event_register(&audit), DWELL_OK);
}

static int say(struct dwell_event_class *c, uint8_t type, uint8_t level, const char *text)
{
    return dwell_event_write(c, type, level, 0, text, strlen(text));
}

/* ---- one thread: each way to write, open functions, levels ---- */

static void leaf(void)
{
    expect("leaf", say(&shop, EVENT_TRACE_TYPE_INFO, TRACE_LEVEL_INFORMATION, "in leaf"), DWELL_OK);
}

static void inner(void)
{
    leaf();
    expect("inner", say(&shop, EVENT_TRACE_TYPE_CHECKPOINT, TRACE_LEVEL_ERROR, "in inner"), DWELL_OK);
}

static void write_header(void)
{
    struct {
        EVENT_TRACE_HEADER header;
        char data[7];
    } event = { .header = { .Size = 48 + 7 } };
    event.header.Class.Type = 200;
    event.header.Class.Level = TRACE_LEVEL_WARNING;
    event.header.Class.Version = 0x1234;
    event.header.Guid = shop.guid;
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    memcpy(event.data, "\0\1\2\3\4\5\xff", 7);
    expect("trace", dwell_event_trace(&event.header), DWELL_OK);
    event.header.Flags = 0;
    expect("no flag", dwell_event_trace(&event.header), DWELL_EVENT_BAD_FLAGS);
    event.header.Flags = WNODE_FLAG_TRACED_GUID;
    event.header.Guid.data1++;
    expect("no class", dwell_event_trace(&event.header), DWELL_EVENT_NO_CLASS);
    event.header.Guid.data1--;
    event.header.Class.Level = 9;
    expect("no level", dwell_event_trace(&event.header), DWELL_EVENT_DISABLED);
    expect("NULL", dwell_event_trace(NULL), DWELL_EVENT_BAD_SIZE);
}

static void write_fields(void)
{
    struct {
        EVENT_TRACE_HEADER header;
        MOF_FIELD fields[MAX_MOF_FIELDS];
    } event = { .header = { .Size = 48 + 16 * MAX_MOF_FIELDS } };
    char text[] = "abcdefghijklmnop";
    event.header.Class.Type = EVENT_TRACE_TYPE_EXTENSION;
    event.header.GuidPtr = (uint64_t)&shop.guid;
    event.header.Flags = WNODE_FLAG_TRACED_GUID | WNODE_FLAG_USE_GUID_PTR | WNODE_FLAG_USE_MOF_PTR;
    for (int i = 0; i < MAX_MOF_FIELDS; i++)
        event.fields[i] = (MOF_FIELD){ (uint64_t)(text + i), 1, 0 };
    expect("fields", dwell_event_trace(&event.header), DWELL_OK);
    event.header.Size += 16;
    expect("17 fields", dwell_event_trace(&event.header), DWELL_EVENT_BAD_SIZE);
    event.header.Size -= 17;
    expect("half a field", dwell_event_trace(&event.header), DWELL_EVENT_BAD_SIZE);
    const MOF_FIELD two[] = { { (uint64_t) "one", 3, 0 }, { (uint64_t) "two", 3, 0 } };
    expect("write_fields", dwell_event_write_fields(&shop, 11, 3, 7, two, 2), DWELL_OK);
}

static int one(void)
{
    register_all();
    expect("level", dwell_event_level(&shop), 4);
    errno = 77;
    inner();
    write_header();
    write_fields();
    expect("above the level", say(&shop, 0, TRACE_LEVEL_VERBOSE, "never"), DWELL_EVENT_DISABLED);
    expect("disabled", say(&audit, 0, TRACE_LEVEL_CRITICAL, "never"), DWELL_EVENT_DISABLED);
    expect("no data", dwell_event_write(&shop, EVENT_TRACE_TYPE_END, 0, 0, NULL, 0), DWELL_OK);
    expect("NULL data", dwell_event_write(&shop, 0, 0, 0, NULL, 1), DWELL_EVENT_BAD_SIZE);
    expect("errno", errno, 77);
    return 0;
}

/* ---- sizes ---- */

static int sizes(void)
{
    register_all();
    char *data = malloc(DWELL_EVENT_LONGEST_DATA + 1);
    memset(data, 'x', DWELL_EVENT_LONGEST_DATA + 1);
    for (size_t size = 0; size <= 64; size++)
        expect("a size", dwell_event_write(&shop, 0, 0, (uint16_t)size, data, size), DWELL_OK);
    for (int i = 0; i < 20; i++)
        expect("the longest", dwell_event_write(&shop, 0, 0, 0, data, DWELL_EVENT_LONGEST_DATA), DWELL_OK);
    expect("too long", dwell_event_write(&shop, 0, 0, 0, data, DWELL_EVENT_LONGEST_DATA + 1), DWELL_EVENT_TOO_LONG);
    free(data);
    return 0;
}

/* ---- several threads, some without any function; a timer's handler writes in between ---- */

enum { THREADS = 4 };
static long rounds;
static unsigned long handled;

static void in_handler(int number)
{
    (void)number;
    if (say(&audit, EVENT_TRACE_TYPE_INFO, 1, "tick") == DWELL_OK)
        __atomic_fetch_add(&handled, 1, __ATOMIC_RELAXED);
}

static void step(long number, long i)
{
    char text[32];
    const int length = snprintf(text, sizeof text, "%ld.%ld", number, i);
    expect("step", dwell_event_write(&shop, EVENT_TRACE_TYPE_START, 1, 0, text, (size_t)length), DWELL_OK);
    expect("step", dwell_event_write(&shop, EVENT_TRACE_TYPE_END, 1, 0, text, (size_t)length), DWELL_OK);
}

static void *work(void *number)
{
    for (long i = 0; i < rounds; i++)
        step((long)number, i);
    return NULL;
}

static void *interrupt(void *threads)
{
    while (!__atomic_load_n(&rounds, __ATOMIC_RELAXED))
        ;
    for (int i = 0; i < 2000; i++)
        pthread_kill(((pthread_t *)threads)[i % THREADS], SIGUSR1);
    return NULL;
}

static int several(void)
{
    static pthread_t threads[THREADS], other;
    register_all();
    signal(SIGUSR1, in_handler);
    rounds = 5000;
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    pthread_create(&other, NULL, interrupt, threads);
    pthread_join(other, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("events shop %ld\nevents audit %lu\n", 2 * THREADS * rounds, handled);
    return 0;
}

/* ---- children: forked, and executed ---- */

static int family(char **argv)
{
    register_all();
    say(&shop, EVENT_TRACE_TYPE_START, 1, "parent");
    for (int i = 0; i < 3; i++) {
        if (fork() == 0) {
            for (int j = 0; j <= i; j++)
                say(&shop, EVENT_TRACE_TYPE_INFO, 1, "child");
            _exit(0);
        }
        wait(NULL);
    }
    if (fork() == 0) {
        execl(argv[0], argv[0], "executed", NULL);
        _exit(1);
    }
    wait(NULL);
    say(&shop, EVENT_TRACE_TYPE_END, 1, "parent");
    return 0;
}

static int executed(void)
{
    register_all();
    return say(&shop, EVENT_TRACE_TYPE_INFO, 1, "executed");
}

/* ---- while the recording of functions is paused ---- */

static void hidden(void)
{
    expect("paused", say(&shop, EVENT_TRACE_TYPE_INFO, 1, "paused"), DWELL_OK);
}

static int paused(void)
{
    register_all();
    dwell_stop(DWELL_PROCESS, DWELL_CURRENT);
    hidden();
    dwell_start(DWELL_PROCESS, DWELL_CURRENT);
    leaf();
    return 0;
}

/* ---- without a runtime ---- */

static int alone(void)
{
    expect("register", dwell_event_register(&shop), DWELL_NOT_RECORDED);
    expect("enabled", dwell_event_enabled(&shop, 0), 0);
    expect("level", dwell_event_level(&shop), -1);
    expect("write", say(&shop, 0, 0, "x"), DWELL_EVENT_DISABLED);
    expect("trace", dwell_event_trace(&(EVENT_TRACE_HEADER){ .Size = 48 }), DWELL_NOT_RECORDED);
    expect("unregister", dwell_event_unregister(&shop), DWELL_NOT_RECORDED);
    expect("describe", dwell_event_describe(&shop, 0, 0, "x", NULL, 0), DWELL_NOT_RECORDED);
    static struct dwell_event_control control = { .event_class = &shop };
    expect("add a control", dwell_event_add_control(&control), DWELL_NOT_RECORDED);
    expect("remove a control", dwell_event_remove_control(&control), DWELL_NOT_RECORDED);
    return 0;
}

/* The exit status of this program executed again: the result of its one event. */
static int execute(void)
{
    int status;
    if (fork() == 0) {
        execl("/proc/self/exe", "events", "executed", NULL);
        _exit(99);
    }
    wait(&status);
    return WEXITSTATUS(status);
}

/* ---- stacks changed by longjmp, by swapcontext and in handlers, and empty ones ---- */

static jmp_buf back;
static ucontext_t main_context, other_context;

static __attribute__((noinline)) void jumper(int n)
{
    if (n == 0)
        longjmp(back, 1);
    if (n > 0)
        jumper(n - 1);
    __asm__ volatile(""); /* no tail call */
}

static void coroutine(void)
{
    say(&shop, 0, 1, "coroutine");
    swapcontext(&other_context, &main_context);
}

static void on_own_stack(int number)
{
    (void)number;
    say(&shop, 0, 1, "handler");
}

static __attribute__((no_instrument_function)) void *plain(void *nothing)
{
    dwell_event_write(&shop, 0, 1, 0, "plain", 5);
    return nothing;
}

static void interrupted(void)
{
    raise(SIGUSR2);
    say(&shop, 0, 1, "after");
}

static int stacks(void)
{
    static char memory[2][256 << 10];
    register_all();
    if (setjmp(back) == 0)
        jumper(5);
    dwell_event_write(&shop, 0, 1, 0, "jumped", 6);

    getcontext(&other_context);
    other_context.uc_stack.ss_sp = memory[0];
    other_context.uc_stack.ss_size = sizeof memory[0];
    makecontext(&other_context, coroutine, 0);
    swapcontext(&main_context, &other_context);
    dwell_event_write(&shop, 0, 1, 0, "switched back", 13);

    sigaltstack(&(stack_t){ .ss_sp = memory[1], .ss_size = sizeof memory[1] }, NULL);
    struct sigaction action = { .sa_handler = on_own_stack, .sa_flags = SA_ONSTACK };
    sigaction(SIGUSR2, &action, NULL);
    interrupted();

    pthread_t thread;
    pthread_create(&thread, NULL, plain, NULL);
    pthread_join(thread, NULL);
    return 0;
}

/* ---- commands: each line is "say", "register" or "unregister" ---- */

static int served(void)
{
    char line[32];
    expect("register shop", dwell_event_register(&shop), DWELL_OK);
    printf("%d\n", getpid());
    fflush(stdout);
    for (int i = 0; fgets(line, sizeof line, stdin); i++) {
        int status = 0;
        if (strcmp(line, "say\n") == 0)
            status = dwell_event_write(&shop, 0, (uint8_t)(i % 3 + 1), (uint16_t)i, "told", 4);
        else if (strcmp(line, "register\n") == 0)
            status = dwell_event_register(&audit);
        else if (strcmp(line, "unregister\n") == 0)
            status = dwell_event_unregister(&audit);
        else if (strcmp(line, "execute\n") == 0)
            status = execute();
        else if (strcmp(line, "audit\n") == 0)
            status = say(&audit, 0, 1, "told");
        printf("%d\n", status);
        fflush(stdout);
    }
    return 0;
}

/* ---- names of classes ---- */

static int names(void)
{
    static struct dwell_event_class bad = { .name = "" };
    static const char *const names[] = {
        "", ".hidden", "two words", "a:b", "a,b", "a234567890123456789012345678901234567890123456789012345678901234"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bad.name = names[i];
        expect(names[i], dwell_event_register(&bad), DWELL_BAD_NAME);
    }
    bad.name = NULL;
    expect("NULL", dwell_event_register(&bad), DWELL_BAD_NAME);
    bad.name = "good-1";
    expect("good", dwell_event_register(&bad), DWELL_OK);
    expect("twice", dwell_event_register(&bad), DWELL_OK);
    expect("unregister", dwell_event_unregister(&bad), DWELL_OK);
    expect("unregister", dwell_event_unregister(&bad), DWELL_EVENT_NO_CLASS);
    expect("disabled", dwell_event_level(&bad), -1);
    return 0;
}

/* ---- descriptions of data ---- */

static void describe_all(void)
{
    static const struct dwell_event_field fields[] = { { "user", ETW_UINT32_TYPE_VALUE },
                                                       { "path", ETW_ASCIISTRING_TYPE_VALUE },
                                                       { "delta", ETW_INT16_TYPE_VALUE } },
                                          only[] = { { "text", ETW_ASCIISTRING_TYPE_VALUE } },
                                          nameless = { NULL, ETW_BYTE_TYPE_VALUE }, typeless = { "x", 99 };
    char long_name[DWELL_EVENT_LONGEST_NAME + 2];
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    errno = 77;
    expect("describe", dwell_event_describe(&shop, 10, 7, "ROUTE", fields, 3), DWELL_OK);
    expect("describe any", dwell_event_describe(&shop, DWELL_EVENT_ANY_TYPE, 0, NULL, only, 1), DWELL_OK);
    expect("no name", dwell_event_describe(&shop, 11, 0, NULL, &nameless, 1), DWELL_BAD_NAME);
    expect("long name", dwell_event_describe(&shop, 11, 0, long_name, only, 1), DWELL_BAD_NAME);
    expect("no type", dwell_event_describe(&shop, 11, 0, NULL, &typeless, 1), DWELL_EVENT_BAD_TYPE);
    expect("257", dwell_event_describe(&shop, DWELL_EVENT_ANY_TYPE + 1, 0, NULL, only, 1), DWELL_EVENT_BAD_TYPE);
    expect("17 fields", dwell_event_describe(&shop, 11, 0, NULL, fields, MAX_MOF_FIELDS + 1), DWELL_EVENT_BAD_SIZE);
    expect("NULL fields", dwell_event_describe(&shop, 11, 0, NULL, NULL, 1), DWELL_EVENT_BAD_SIZE);
    expect("errno", errno, 77);
}

static int described(void)
{
    static const char data[] = "\x2a\0\0\0/index\0\xfe\xff";
    register_all();
    describe_all();
    dwell_event_write(&shop, 10, 1, 7, data, sizeof data - 1);
    dwell_event_write(&shop, 10, 1, 7, data, 6);
    say(&shop, EVENT_TRACE_TYPE_INFO, 1, "other");
    say(&shop, EVENT_TRACE_TYPE_EXTENSION, 1, "rest");
    return 0;
}

/* ---- more events than a ring holds, and a deep stack ---- */

static long flood(long count)
{
    char text[32];
    register_all();
    for (long i = 0; i < count; i++) {
        snprintf(text, sizeof text, "%08ld", i);
        say(&shop, 0, 0, text);
    }
    return 0;
}

static void *flood_thread(void *nothing)
{
    flood(1000);
    return nothing;
}

/* Threads one after the other, each with more events than a small ring can store. */
static int waves(void)
{
    for (int i = 0; i < 100; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, flood_thread, NULL);
        pthread_join(thread, NULL);
    }
    return 0;
}

static void deeper(int n)
{
    if (n > 1)
        deeper(n - 1);
    else
        say(&shop, 0, 0, "deepest");
    __asm__ volatile(""); /* no tail call */
}

static int deep(void)
{
    register_all();
    deeper(100);
    return 0;
}

/* ---- a sandbox that kills a process that reads CPU times ---- */

static int sandbox(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getrusage, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    register_all();
    expect("before", say(&shop, 0, 1, "before"), DWELL_OK);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &(struct sock_fprog){ sizeof code / sizeof *code, code });
    expect("behind", say(&shop, 0, 1, "behind"), DWELL_OK);
    return 0;
}

/* ---- CPU time is used between two events ---- */

static int burn(void)
{
    struct timespec now;
    register_all();
    say(&shop, EVENT_TRACE_TYPE_START, 1, "");
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    while (now.tv_sec == 0 && now.tv_nsec < 100000000);
    say(&shop, EVENT_TRACE_TYPE_END, 1, "");
    return 0;
}

static int killed(void)
{
    flood(1000);
    kill(getpid(), SIGKILL);
    return 0;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    if (strcmp(name, "flood") == 0)
        return (int)flood(argc > 2 ? atol(argv[2]) : 1000);
    if (strcmp(name, "family") == 0)
        return family(argv);
    static const struct {
        const char *name;
        int (*run)(void);
    } scenarios[] = { { "one", one },       { "sizes", sizes },   { "several", several },    { "executed", executed },
                      { "paused", paused }, { "alone", alone },   { "served", served },      { "names", names },
                      { "deep", deep },     { "stacks", stacks }, { "waves", waves },        { "sandbox", sandbox },
                      { "burn", burn },     { "killed", killed }, { "described", described } };
    for (size_t i = 0; i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(name, scenarios[i].name) == 0)
            return scenarios[i].run();
    return 2;
}
