/* syscalls PROGRAM [ARGUMENT]...: runs the program and prints how many system calls its first thread made. */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    (void)argc;
    const pid_t child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execvp(argv[1], argv + 1);
        _exit(127);
    }
    long stops = 0;
    int status, signal = 0;
    waitpid(child, &status, 0);
    ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    for (;;) {
        ptrace(PTRACE_SYSCALL, child, NULL, (void *)(long)signal);
        if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
            break;
        const int stop = WSTOPSIG(status);
        stops += stop == (SIGTRAP | 0x80);
        signal = stop == (SIGTRAP | 0x80) || stop == SIGTRAP ? 0 : stop;
    }
    fprintf(stderr, "calls syscalls %ld\n", stops / 2);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
