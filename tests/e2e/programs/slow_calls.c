/* 200 calls of handle, of which each 20th is slow for the reason that the argument names. All others take far less. */
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CALLS = 200, EACH = 20, NAP_MS = 40, ROUND = 20000, PIPE_BYTES = 4096 };
enum { BLOCK_PAGES = 50, PAGE_BYTES = 4096 };

#define KEPT __attribute__((noinline, noclone))

static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER, box_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t question = PTHREAD_COND_INITIALIZER, answered = PTHREAD_COND_INITIALIZER;
static bool asked, asked_slowly, has_answer, ended; /* under box_lock */
static volatile bool wanted, held, finished;
static volatile unsigned sink;
static int ends[2];
static void (*work_of_call)(bool slow);

KEPT void compute(unsigned rounds)
{
    for (unsigned i = 0; i < rounds * ROUND; i++)
        sink += i;
}

KEPT void nap(unsigned ms)
{
    const struct timespec time = { 0, ms * 1000000L };
    nanosleep(&time, NULL);
}

/* ---- a lock that another thread holds ---- */

KEPT void evict(void)
{
    pthread_mutex_lock(&cache_lock);
    held = true;
    nap(NAP_MS);
    pthread_mutex_unlock(&cache_lock);
}

KEPT void clean(void)
{
    while (!finished) {
        if (wanted) {
            wanted = false;
            evict();
        }
        nap(1);
    }
}

KEPT void look_up(bool slow)
{
    (void)slow;
    pthread_mutex_lock(&cache_lock);
    compute(1);
    pthread_mutex_unlock(&cache_lock);
}

/* ---- an answer that comes late ---- */

KEPT void answer(bool slowly)
{
    if (slowly)
        nap(NAP_MS);
    pthread_mutex_lock(&box_lock);
    has_answer = true;
    pthread_cond_signal(&answered);
    pthread_mutex_unlock(&box_lock);
}

KEPT void serve(void)
{
    for (;;) {
        pthread_mutex_lock(&box_lock);
        while (!asked && !ended)
            pthread_cond_wait(&question, &box_lock);
        const bool any = asked, slowly = asked_slowly;
        asked = false;
        pthread_mutex_unlock(&box_lock);
        if (!any)
            return;
        answer(slowly);
    }
}

KEPT void ask(bool slow)
{
    pthread_mutex_lock(&box_lock);
    asked = true;
    asked_slowly = slow;
    has_answer = false;
    pthread_cond_signal(&question);
    while (!has_answer)
        pthread_cond_wait(&answered, &box_lock);
    pthread_mutex_unlock(&box_lock);
}

/* ---- a pipe that is full ---- */

KEPT void drain(void)
{
    char bytes[PIPE_BYTES];
    held = true;
    nap(NAP_MS);
    for (int i = 0; i < 2; i++)
        if (read(ends[0], bytes, sizeof bytes) < 0)
            abort();
}

KEPT void collect(void)
{
    while (!finished) {
        if (wanted) {
            wanted = false;
            drain();
        }
        nap(1);
    }
}

KEPT void report(bool slow)
{
    static const char bytes[PIPE_BYTES];
    if (!slow)
        return;
    if (write(ends[1], bytes, sizeof bytes) < 0)
        abort();
}

/* ---- without another thread ---- */

KEPT void parse_item(void)
{
    compute(2);
}

KEPT void parse_items(bool slow)
{
    for (unsigned items = slow ? 100 : 2; items > 0; items--)
        parse_item();
}

KEPT void parse_text(bool slow)
{
    compute(slow ? 200 : 2);
}

KEPT void doze(bool slow)
{
    if (slow)
        nap(NAP_MS);
}

/* The kernel's ring of a thread has room for the faults of one block. */
KEPT void touch_block(void)
{
    const size_t length = BLOCK_PAGES * PAGE_BYTES;
    char *pages = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        abort();
    madvise(pages, length, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < length; i += PAGE_BYTES)
        pages[i] = 1;
    munmap(pages, length);
}

KEPT void touch(bool slow)
{
    for (unsigned blocks = slow ? 100 : 1; blocks > 0; blocks--)
        touch_block();
}

KEPT void handle(bool slow)
{
    compute(1);
    work_of_call(slow);
}

static void *run(void *function)
{
    (*(void (**)(void))function)();
    return NULL;
}

static void wait_until_held(void)
{
    held = false;
    wanted = true;
    while (!held)
        usleep(100);
}

/* Before a slow call, the other thread takes the lock, or sleeps while the pipe becomes full. */
static void prepare(const char *cause)
{
    static const char bytes[PIPE_BYTES];
    if (strcmp(cause, "lock") == 0 || strcmp(cause, "pipe") == 0)
        wait_until_held();
    if (strcmp(cause, "pipe") == 0 && write(ends[1], bytes, sizeof bytes) < 0)
        abort();
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*work)(bool slow);
        void (*other)(void);
    } causes[] = {
        { "lock", look_up, clean },     { "late", ask, serve },       { "pipe", report, collect },
        { "items", parse_items, NULL }, { "long", parse_text, NULL }, { "sleep", doze, NULL },
        { "pages", touch, NULL },
    };
    void (*other)(void) = NULL;
    pthread_t thread;
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++)
        if (argc == 2 && strcmp(argv[1], causes[i].name) == 0) {
            work_of_call = causes[i].work;
            other = causes[i].other;
        }
    if (!work_of_call || pipe(ends) != 0 || fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES) < 0)
        return 2;
    if (other && pthread_create(&thread, NULL, run, &other) != 0)
        return 2;
    for (unsigned i = 0; i < CALLS; i++) {
        const bool slow = i % EACH == EACH / 2;
        if (slow)
            prepare(argv[1]);
        handle(slow);
    }
    pthread_mutex_lock(&box_lock);
    ended = finished = true;
    pthread_cond_signal(&question);
    pthread_mutex_unlock(&box_lock);
    close(ends[1]);
    if (other)
        pthread_join(thread, NULL);
    return 0;
}
