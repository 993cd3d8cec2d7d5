/* storm FORKS [CALLS]: a timer's handler forks in the middle of the probe that it interrupts. Parent and child continue
 * from there. The handler makes CALLS calls before and after. The child may count one call more than its recording has:
 * one whose probe ran before the fork. */
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "ledger.h"

enum { PERIOD = 500, CHILD_STEPS = 1000 };

static volatile int forks, wanted, in_child, around;

QUIET static void handler(int number)
{
    (void)number;
    if (in_child || forks >= wanted)
        return;
    for (int i = 0; i < around; i++)
        step();
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        in_child = 1;
        ledger_begin(parent, 0);
    } else {
        forks = forks + 1;
    }
    for (int i = 0; i < around; i++)
        step();
}

QUIET static void set_timer(int period)
{
    struct itimerval timer = { { 0, period }, { 0, period } };
    setitimer(ITIMER_REAL, &timer, NULL);
}

QUIET int main(int argc, char **argv)
{
    ledger_begin(getppid(), 0);
    wanted = argc > 1 ? atoi(argv[1]) : 100;
    around = argc > 2 ? atoi(argv[2]) : 0;
    struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };
    sigaction(SIGALRM, &action, NULL);
    set_timer(PERIOD);
    while (!in_child && forks < wanted)
        deeper(3);
    if (in_child) {
        for (int i = 0; i < CHILD_STEPS; i++)
            deeper(3);
        ledger_write();
        _exit(0);
    }
    set_timer(0);
    int status, failed = 0;
    while (wait(&status) > 0)
        failed += status != 0;
    ledger_write();
    return failed ? 1 : 0;
}
