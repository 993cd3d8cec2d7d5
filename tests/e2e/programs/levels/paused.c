/* paused [LIBRARY]: prints its process' id, then does what the letters of each line of input say, and answers "done".
 * a, b, c: calls the function of that name, in which the next letters are read. u: returns from it. l: calls a leaf.
 * j: jumps back to main. f: forks a child that does the next letters and lines, and waits for its end. o: calls a
 * function of the library. t: goes on in another thread. */
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define QUIET __attribute__((no_instrument_function))
#define KEPT __attribute__((noinline))

static volatile long sink;
static const char *library;
static jmp_buf start;
static char line[256], *at = line;

static void obey(void);

KEPT static void leaf(void)
{
    sink++;
}

KEPT static void a(void)
{
    obey();
    sink++;
}

KEPT static void b(void)
{
    obey();
    sink++;
}

KEPT static void c(void)
{
    obey();
    sink++;
}

QUIET static void *obey_in_thread(void *nothing)
{
    a();
    return nothing;
}

QUIET static void go_on_in_thread(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, obey_in_thread, NULL);
    pthread_join(thread, NULL);
}

QUIET static void call_library(void)
{
    void *handle = dlopen(library, RTLD_NOW);
    void (*work)(int) = NULL;
    if (handle)
        *(void **)&work = dlsym(handle, "work_in_library");
    if (work)
        work(2);
}

QUIET static void make_child(void)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        printf("%d\n", (int)getpid());
    else
        waitpid(child, NULL, 0);
    if (child != 0)
        exit(0);
}

/* Returns at "u", and at the end of the input. */
QUIET static void obey(void)
{
    for (;;) {
        const char letter = *at ? *at++ : '\n';
        if (letter == '\n') {
            puts("done");
            fflush(stdout);
            at = line;
            if (!fgets(line, sizeof line, stdin))
                exit(0);
        } else if (letter == 'a') {
            a();
        } else if (letter == 'b') {
            b();
        } else if (letter == 'c') {
            c();
        } else if (letter == 'l') {
            leaf();
        } else if (letter == 'j') {
            longjmp(start, 1);
        } else if (letter == 'f') {
            make_child();
        } else if (letter == 'o') {
            call_library();
        } else if (letter == 't') {
            go_on_in_thread();
        } else if (letter == 'u') {
            return;
        }
    }
}

int main(int argc, char **argv)
{
    library = argc > 1 ? argv[1] : "";
    printf("%d\n", (int)getpid());
    fflush(stdout);
    if (!fgets(line, sizeof line, stdin))
        return 0;
    setjmp(start);
    for (;;)
        obey();
}
