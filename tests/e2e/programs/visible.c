/* Prints state that a preloaded runtime might change. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile int work;

__attribute__((noinline)) static void call(void)
{
    work++;
}

static int errno_outlives_calls(void)
{
    for (int i = 0; i < 300000; i++) { /* chunks end in between */
        errno = 1234;
        call();
        if (errno != 1234)
            return 0;
    }
    return 1;
}

static double floating_point_outlives_calls(void)
{
    double sum = 0;
    for (int i = 0; i < 300000; i++) {
        sum += 1.0 / (i + 1);
        call();
    }
    return sum;
}

static void print_signals(void)
{
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    for (int i = 1; i < 65; i++) {
        struct sigaction action;
        if (sigaction(i, NULL, &action) == 0 && (action.sa_handler != SIG_DFL || sigismember(&mask, i)))
            printf("signal %d is not as it was\n", i);
    }
}

int main(void)
{
    int fd = open("/dev/null", O_RDONLY);
    printf("descriptor %d\n", fd);
    printf("errno outlives calls: %d\n", errno_outlives_calls());
    printf("sum %.17g\n", floating_point_outlives_calls());
    print_signals();
    printf("descriptor %d\n", dup(fd));
    return 0;
}
