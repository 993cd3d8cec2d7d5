/* Reads its environment in a child that is forked while other threads are in system and popen. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int begun[2], go_on[2];

__attribute__((noinline)) static void step(void)
{
    __asm__ volatile("");
}

static void *wait_in_shell(void *unused)
{
    char command[128];
    snprintf(command, sizeof command, "echo >&%d; read line <&%d", begun[1], go_on[0]);
    if (system(command) != 0)
        abort();
    return unused;
}

static void count_variables(const char *who)
{
    int count = 0;
    for (char **variable = environ; *variable; variable++)
        count++;
    const char *preload = getenv("LD_PRELOAD");
    printf("%s: %d variables, LD_PRELOAD %s\n", who, count, preload ? preload : "(none)");
    fflush(stdout);
}

int main(void)
{
    pthread_t thread;
    char byte;
    if (pipe(begun) < 0 || pipe(go_on) < 0)
        return 1;
    pthread_create(&thread, NULL, wait_in_shell, NULL);
    if (read(begun[0], &byte, 1) != 1)
        return 1;
    pid_t child = fork();
    if (child == 0) {
        step();
        count_variables("child");
        int status = system("echo from a shell; exit 5");
        FILE *pipe = popen("cat", "w");
        fprintf(pipe, "status %d\n", status);
        pclose(pipe);
        count_variables("child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    int status = system("exit 6");
    if (write(go_on[1], "\n", 1) != 1)
        return 1;
    pthread_join(thread, NULL);
    setenv("ANOTHER", "one", 1);
    printf("status %d\n", status);
    count_variables("parent");
    return 0;
}
