/* perflog WHAT: uses the PerfLog library in one way, and prints "wrong: ..." for every unexpected answer. */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dwell/perflog.h"

#define CHECK(what, wanted)                                                                                            \
    do {                                                                                                               \
        errno = 4711;                                                                                                  \
        const long got_ = (long)(what), wanted_ = (long)(wanted);                                                      \
        if (errno != 4711)                                                                                             \
            printf("wrong: line %d: %s changes errno to %d\n", __LINE__, #what, errno);                                \
        if (got_ != wanted_)                                                                                           \
            printf("wrong: line %d: %s is %ld, not %ld\n", __LINE__, #what, got_, wanted_);                            \
    } while (0)

static void rest(long milliseconds)
{
    struct timespec time = { milliseconds / 1000, milliseconds % 1000 * 1000000 };
    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        continue;
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Every kind of line. */
static void all(void)
{
    CHECK(Perf_SetTestName("myperfapp"), 1);
    CHECK(Perf_LibInit(), 1);
    CHECK(Perf_RegisterMark(1, "Test=%s, time=%%AVG%%", "My[Test]"), 1);
    CHECK(Perf_MarkBegin(1), 1);
    CHECK(Perf_MarkEnd(1), 1);
    CHECK(Perf_RegisterMark(0, "Bytes=%u,%.1f\nnext", 4096, 0.5), 1);
    CHECK(Perf_MarkBegin(0), 1);
    CHECK(Perf_MarkBegin(100), 1); /* never registered */
    CHECK(Perf_MarkEnd(100), 1);
    CHECK(Perf_MarkEnd(0), 1);
    CHECK(Perf_RegisterMark(1, "again"), 1);
    CHECK(Perf_MarkEndAbsolute(1, 1500000), 1);
    CHECK(Perf_MarkEndAbsolute(1, UINT32_MAX), 1);
    CHECK(Perf_MarkError(1), 1);
    CHECK(Perf_MarkAttribute(1, "Blocks", UINT32_MAX), 1);
    CHECK(Perf_MarkAttributeDecimal(1, "Rate", 0.1), 1);
    CHECK(Perf_MarkAttributeDecimal(1, "Rate", 1.0 / 3), 1);
    CHECK(Perf_MarkAttributeDecimal(1, "Rate", -1e300), 1);
    CHECK(Perf_MarkMem(2), 1);
    CHECK(Perf_LibDeinit(), 1);
}

static void in_a_locale(void)
{
    setlocale(LC_ALL, "");
    printf("%.1f\n", 0.5);
    all();
    printf("%.1f\n", 0.5); /* the thread has its locale again */
}

/* The required order of calls, consecutive runs, and ids and strings that are refused or cut. */
static void rules(void)
{
    char name[41], text[601];
    memset(name, 'n', 40);
    memset(text, 't', 600);
    name[40] = text[600] = '\0';
    memcpy(name + 31, "\xc3\xa9", 2); /* a character at the limit, which must not be cut in two */
    CHECK(Perf_SetTestName(NULL), 0);
    CHECK(Perf_SetTestName("first"), 1);
    CHECK(Perf_SetTestTitle(name), 1);
    CHECK(Perf_LibInit(), 1);
    CHECK(Perf_SetTestName("late"), 0);
    CHECK(Perf_SetTestTitle("late"), 0);
    CHECK(Perf_LibInit(), 1);
    CHECK(Perf_LibDeinit(), 1);
    CHECK(Perf_RegisterMark(5, "%s", text), 1);
    CHECK(Perf_LibDeinit(), 1);
    CHECK(Perf_LibDeinit(), 0);

    CHECK(Perf_SetTestName("again"), 1);
    CHECK(Perf_MarkEnd(1), 0); /* begins a run, too */
    CHECK(Perf_SetTestName("late"), 0);
    CHECK(Perf_RegisterMark(101, "no"), 0);
    CHECK(Perf_RegisterMark(UINT32_MAX, "no"), 0);
    CHECK(Perf_RegisterMark(0, NULL), 0);
    CHECK(Perf_MarkBegin(101), 0);
    CHECK(Perf_MarkEnd(101), 0);
    CHECK(Perf_MarkEndAbsolute(102, 1), 0);
    CHECK(Perf_MarkAccumulator(101), 0);
    CHECK(Perf_MarkError(101), 0);
    CHECK(Perf_MarkGetDuration(101), 0);
    CHECK(Perf_Pause(101, 1), 0);
    CHECK(Perf_MarkMem(101), 0);
    CHECK(Perf_MarkCPU(101), 0);
    CHECK(Perf_MarkAttribute(101, "a", 1), 0);
    CHECK(Perf_MarkAttribute(1, NULL, 1), 0);
    CHECK(Perf_MarkAttributeDecimal(101, "a", 1), 0);
    CHECK(Perf_LibInit(), 1); /* the same run */
    CHECK(Perf_MarkBegin(3), 1);
    CHECK(Perf_LibDeinit(), 1);

    CHECK(Perf_MarkEnd(3), 0); /* a run without a name */
    CHECK(Perf_MarkEndAbsolute(3, 7777777), 1);
}

/* Timers that do not exist, and the least and greatest durations of existing ones, by the program's own clock. */
static float logged; /* milliseconds */
static const char *logged_name;
static long calls_back;

static int32_t keep(LPPERFINFO info, void *user)
{
    if (info->dwEvent != PLE_MARKEND || info->markerId != *(MARKER_ID *)user)
        printf("wrong: called back for %u, event %u\n", info->markerId, info->dwEvent);
    if (strcmp(info->szMarkName, logged_name) != 0)
        printf("wrong: called back for '%s', not '%s'\n", info->szMarkName, logged_name);
    logged = info->ulMilliseconds;
    calls_back++;
    return 0;
}

static void check_logged(double least, double most)
{
    if (logged < least || logged > most)
        printf("wrong: %f ms, not from %f to %f\n", (double)logged, least, most);
}

static void pauses(MARKER_ID id)
{
    CHECK(Perf_Pause(id, 1), 0);
    CHECK(Perf_PauseAll(0), 1);
    const uint64_t begin = now();
    CHECK(Perf_MarkBegin(id), 1);
    const uint64_t inner = now();
    rest(3);
    const uint64_t first = now() - inner;
    CHECK(Perf_Pause(id, 1), 1);
    uint64_t from = now();
    rest(20);
    uint64_t paused = now() - from;
    CHECK(Perf_Pause(id, 1), 1);
    CHECK(Perf_Pause(id, 0), 1);
    CHECK(Perf_Pause(id, 0), 1);
    CHECK(Perf_PauseAll(1), 1);
    from = now();
    rest(20);
    paused += now() - from;
    CHECK(Perf_PauseAll(0), 1);
    CHECK(Perf_MarkEnd(id), 1);
    check_logged((double)first / 1e6 - 1, (double)(now() - begin - paused) / 1e6);
    CHECK(Perf_Pause(id, 1), 0);
    CHECK(Perf_MarkBegin(id), 1);
    CHECK(Perf_Pause(id, 1), 1);
    CHECK(Perf_MarkEnd(id), 1); /* a paused one can be ended */
}

static void accumulates(MARKER_ID id)
{
    CHECK(Perf_MarkAccumulator(id), 0);
    const uint64_t begin = now();
    uint64_t outside = 0, inside = 0;
    for (int i = 0; i < 3; i++) {
        CHECK(Perf_MarkBegin(id), 1);
        uint64_t from = now();
        rest(2);
        inside += now() - from;
        CHECK(Perf_MarkAccumulator(id), 1);
        from = now();
        rest(5);
        outside += now() - from;
    }
    CHECK(Perf_MarkAccumulator(id), 0);
    CHECK(Perf_MarkEnd(id), 1);
    check_logged((double)inside / 1e6 - 1, (double)(now() - begin - outside) / 1e6);
    CHECK(Perf_MarkEnd(id), 0);
}

static void timers(void)
{
    MARKER_ID id = 9;
    Perf_SetTestName("timers");
    CHECK(Perf_RegisterCallBack(keep, &id), 0);
    logged_name = "";
    CHECK(Perf_MarkEnd(id), 0);
    CHECK(Perf_MarkGetDuration(id), 0);
    CHECK(Perf_MarkEndAbsolute(id, 1500), 1);
    check_logged(1.5, 1.5);
    CHECK(Perf_MarkEndAbsolute(id, 0), 1);
    check_logged(0, 0);
    logged_name = "nine";
    CHECK(Perf_RegisterMark(id, "nine"), 1);

    CHECK(Perf_MarkBegin(id), 1);
    rest(20);
    const uint32_t duration = Perf_MarkGetDuration(id);
    CHECK(Perf_MarkBegin(id), 1); /* anew */
    CHECK(Perf_MarkGetDuration(id) < duration, 1);
    CHECK(Perf_MarkError(id), 1);
    CHECK(Perf_MarkGetDuration(id), 0);
    CHECK(Perf_MarkEnd(id), 0);
    if (duration < 20)
        printf("wrong: %u ms, not 20\n", duration);
    CHECK(Perf_MarkBegin(id), 1);
    CHECK(Perf_MarkEndAbsolute(id, 2000), 1);
    check_logged(2, 2);
    CHECK(Perf_MarkEnd(id), 0);

    pauses(id);
    accumulates(id);
    CHECK(calls_back, 6);
    CHECK(Perf_RegisterCallBack(NULL, NULL), 0);
    CHECK(Perf_MarkEndAbsolute(id, 7777777), 1);
    CHECK(calls_back, 6);
}

static long pairs, ended;

static int32_t count(LPPERFINFO info, void *user)
{
    (void)info;
    __atomic_fetch_add((long *)user, 1, __ATOMIC_RELAXED);
    return 0;
}

static __attribute__((noinline)) void pair(MARKER_ID id)
{
    CHECK(Perf_MarkBegin(id), 1);
    CHECK(Perf_MarkEnd(id), 1);
}

static void *work(void *number)
{
    const MARKER_ID own = (MARKER_ID)(uintptr_t)number;
    for (long i = 0; i < pairs; i++) {
        pair(i % 2 ? 99 : own);
        if (i % 100 == 0) {
            CHECK(Perf_RegisterMark(own, "thread %u at %ld", own, i), 1);
            CHECK(Perf_PauseAll(i % 200 == 0), 1);
        }
    }
    return NULL;
}

static void many_threads(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    Perf_SetTestName("threads");
    CHECK(Perf_RegisterCallBack(count, &ended), 0);
    for (long i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(ended, THREADS * pairs);
    printf("calls pair %ld\ncalls work %d\ncalls many_threads 1\n", THREADS * pairs, THREADS);
}

static void *end_it(void *unused)
{
    CHECK(Perf_MarkEnd(1), 0);
    CHECK(Perf_MarkBegin(1), 1);
    CHECK(Perf_MarkEnd(1), 1);
    return unused;
}

static void other_thread(void)
{
    pthread_t thread;
    Perf_SetTestName("a/b");
    CHECK(Perf_MarkBegin(1), 1);
    pthread_create(&thread, NULL, end_it, NULL);
    pthread_join(thread, NULL);
    CHECK(Perf_MarkEnd(1), 1);
}

static uint64_t in_use(void)
{
    char line[256];
    unsigned long long whole = 0, available = 0;
    FILE *in = fopen("/proc/meminfo", "r");
    while (in && fgets(line, sizeof line, in))
        (void)(sscanf(line, "MemTotal: %llu", &whole) || sscanf(line, "MemAvailable: %llu", &available));
    fclose(in);
    return (whole - available) * 1024;
}

static uint64_t resident(void)
{
    unsigned long long all_pages = 0, pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    if (!in || fscanf(in, "%llu %llu", &all_pages, &pages) != 2)
        abort();
    fclose(in);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void work_for(long milliseconds)
{
    const uint64_t until = now() + (uint64_t)milliseconds * 1000000;
    while (now() < until)
        continue;
}

static void monitor(void)
{
    Perf_SetTestName("watched");
    CHECK(Perf_StopSysMonitor(), 0);
    CHECK(Perf_MarkCPU(1), 0);
    CHECK(Perf_StartSysMonitor(NULL, SYS_MON_LOG, 10, 0), 0);
    CHECK(Perf_StartSysMonitor(NULL, SYS_MON_CPU, 0, 0), 0);
    CHECK(Perf_StartSysMonitor("name", SYS_MON_MEM, 1000, 0), 1);
    CHECK(Perf_MarkCPU(1), 0);
    printf("before %llu\n", (unsigned long long)in_use());
    CHECK(Perf_MarkMem(1), 1);
    printf("after %llu\n", (unsigned long long)in_use());
    CHECK(Perf_StartSysMonitor(NULL, SYS_MON_CPU | SYS_MON_MEM | SYS_MON_LOG, 20, 50), 1);
    CHECK(Perf_MarkCPU(2), 1); /* measured meanwhile */
    work_for(300);
    CHECK(Perf_MarkCPU(2), 1);
    CHECK(Perf_StopSysMonitor(), 1);
    CHECK(Perf_StopSysMonitor(), 0);
    CHECK(Perf_MarkCPU(1), 0);
}

static void process_monitor(void)
{
    Perf_SetTestName("process");
    CHECK(Perf_StartSysMonitor(NULL, SYS_MON_CPU | SYS_MON_MEM | SYS_MON_LOG | SYS_MON_PROCESS, 3600000, 50), 1);
    CHECK(Perf_MarkCPU(1), 1); /* slept */
    printf("before %llu\n", (unsigned long long)resident());
    CHECK(Perf_MarkMem(1), 1);
    printf("after %llu\n", (unsigned long long)resident());
    CHECK(Perf_StopSysMonitor(), 1);
    CHECK(Perf_StartSysMonitor(NULL, SYS_MON_CPU | SYS_MON_LOG | SYS_MON_PROCESS, 100, 0), 1);
    work_for(1000);
    CHECK(Perf_LibInit(), 1);
    CHECK(Perf_LibDeinit(), 1); /* stops it */
    CHECK(Perf_StopSysMonitor(), 0);
}

static void forks(void)
{
    Perf_SetTestName("family");
    CHECK(Perf_LibInit(), 1);
    CHECK(Perf_RegisterMark(1, "one"), 1);
    CHECK(Perf_StartSysMonitor(NULL, SYS_MON_MEM, 3600000, 0), 1);
    CHECK(Perf_MarkBegin(1), 1);
    printf("%d\n", getpid());
    fflush(stdout);
    const pid_t silent = fork();
    if (silent == 0)
        exit(0); /* writes nothing to the log */
    waitpid(silent, NULL, 0);
    const pid_t child = fork();
    if (child == 0) {
        printf("%d\n", getpid());
        CHECK(Perf_StopSysMonitor(), 0);
        CHECK(Perf_MarkEnd(1), 1);
        CHECK(Perf_MarkEndAbsolute(2, 7777777), 1);
        CHECK(Perf_LibDeinit(), 1);
        exit(0);
    }
    waitpid(child, NULL, 0);
    CHECK(Perf_MarkEnd(1), 1);
    CHECK(Perf_StopSysMonitor(), 1);
    CHECK(Perf_LibDeinit(), 1);
}

/* Many processes and threads that fork children, while others log. */
static void *fork_often(void *unused)
{
    for (int i = 0; i < 50; i++) {
        const pid_t child = fork();
        if (child == 0) {
            Perf_MarkEndAbsolute(50, 7777777);
            _exit(0);
        }
        int status = 1;
        waitpid(child, &status, 0);
        CHECK(status, 0);
    }
    return unused;
}

static void forks_of_threads(void)
{
    pthread_t threads[4];
    Perf_SetTestName("storm");
    CHECK(Perf_LibInit(), 1);
    CHECK(Perf_StartSysMonitor(NULL, SYS_MON_MEM, 1, 0), 1);
    pairs = 2000;
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, i < 2 ? fork_often : work, (void *)(uintptr_t)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CHECK(Perf_LibDeinit(), 1);
}

static void failing(void)
{
    Perf_SetTestName("failing");
    CHECK(Perf_LibInit(), 0);
    CHECK(Perf_SetTestName("late"), 0);
    CHECK(Perf_RegisterMark(1, "one"), 0);
    CHECK(Perf_MarkBegin(1), 1); /* writes nothing */
    CHECK(Perf_MarkEnd(1), 0);
    CHECK(Perf_MarkEndAbsolute(1, 1), 0);
    CHECK(Perf_MarkError(1), 0);
    CHECK(Perf_MarkAttribute(1, "a", 1), 0);
    CHECK(Perf_MarkMem(1), 0);
    CHECK(Perf_StartSysMonitor(NULL, SYS_MON_MEM, 10, 0), 0);
    CHECK(Perf_LibDeinit(), 0);
    printf("went on\n");
}

static void unwritable(void)
{
    if (mkdir("closed", 0555) != 0 || chdir("closed") != 0)
        printf("wrong: no folder\n");
    if (geteuid() == 0 && seteuid(65534) != 0)
        printf("wrong: still root\n");
    failing();
}

/* A place that becomes writable. The log begins then, with its header and the markers. */
static void later(void)
{
    setenv("DWELL_PERFLOG", "not/yet/log", 1);
    Perf_SetTestName("later");
    CHECK(Perf_LibInit(), 0);
    CHECK(Perf_RegisterMark(4, "four"), 0);
    mkdir("not", 0777);
    mkdir("not/yet", 0777);
    CHECK(Perf_MarkEndAbsolute(4, 7777777), 1);
}

/* The log reaches the limit of file sizes. A line is cut there, and continues when there is room. */
static void limited(void)
{
    struct stat status;
    struct rlimit limit;
    Perf_SetTestName("limited");
    CHECK(Perf_LibInit(), 1);
    stat(getenv("DWELL_PERFLOG"), &status);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = (rlim_t)status.st_size + 20;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK(Perf_MarkEndAbsolute(1, 11), 0);
    CHECK(Perf_MarkEndAbsolute(1, 12), 0);
    sigset_t pending;
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGXFSZ), 0);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK(Perf_MarkEndAbsolute(1, 7777777), 1);
}

/* To a pipe without a reader. */
static void piped(void)
{
    int ends[2];
    Perf_SetTestName("piped");
    if (pipe(ends) != 0 || dup2(ends[1], STDERR_FILENO) < 0)
        printf("wrong: no pipe\n");
    close(ends[0]);
    CHECK(Perf_LibInit(), 0);
    CHECK(Perf_MarkEndAbsolute(1, 1), 0);
    printf("went on\n");
}

/* A program that closes unknown descriptors, opens files of its own, and changes its folder. */
static void closes_all(void)
{
    Perf_SetTestName("closes");
    CHECK(Perf_LibInit(), 1);
    const int lowest = dup(0);
    CHECK(lowest, 3); /* the log has another one */
    for (int i = 3; i < 1024; i++)
        close(i);
    for (int i = 3; i < 200; i++)
        if (open("own", O_WRONLY | O_CREAT | O_APPEND, 0666) != i)
            printf("wrong: no file\n");
    mkdir("elsewhere", 0777);
    if (chdir("elsewhere") != 0)
        printf("wrong: no folder\n");
    CHECK(Perf_MarkEndAbsolute(1, 7777777), 1);
    CHECK(Perf_MarkEndAbsolute(1, 1500000), 1);
}

static const struct {
    const char *name;
    void (*run)(void);
} ways[] = {
    { "all", all },
    { "locale", in_a_locale },
    { "rules", rules },
    { "timers", timers },
    { "threads", many_threads },
    { "other", other_thread },
    { "monitor", monitor },
    { "process", process_monitor },
    { "forks", forks },
    { "storm", forks_of_threads },
    { "failing", failing },
    { "unwritable", unwritable },
    { "later", later },
    { "limited", limited },
    { "piped", piped },
    { "closes", closes_all },
};

int main(int argc, char **argv)
{
    pairs = argc > 2 ? atol(argv[2]) : 10000;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (argc > 1 && strcmp(argv[1], ways[i].name) == 0) {
            ways[i].run();
            return 0;
        }
    return 2;
}
