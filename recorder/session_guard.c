/* The handler for SIGBUS of `dwell record`: a fault of the mapped session gets memory instead of the file's page. */
#include "recorder/session_guard.h"

#include <signal.h>

#include "guard.h"

static struct sigaction session_guard_before;

static void session_guard_handle(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code > 0 && guard_replace(info->si_addr))
        return;
    signal(number, SIG_DFL);
    if (info->si_code <= 0)
        raise(number); /* a fault comes again by itself */
}

void session_guard_begin(void)
{
    struct sigaction action = { .sa_sigaction = session_guard_handle, .sa_flags = SA_SIGINFO | SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &session_guard_before);
}

void session_guard_end(void)
{
    sigaction(SIGBUS, &session_guard_before, NULL);
}
