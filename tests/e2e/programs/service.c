/* Works until the file of its argument exists: threads come and go, and children that fork and execute. When the last
 * child has ended, it makes the file of its second argument. Status: 7. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

__attribute__((noinline)) void leaf(int n)
{
    for (int i = 0; i < n; i++)
        sink += i;
}

__attribute__((noinline)) void late(int n)
{
    leaf(n);
}

__attribute__((noinline)) void work(int round, int turn)
{
    leaf(100);
    if (turn > 3)
        late(10);
    if (round % 100 == 99)
        usleep(1000);
}

static void *thread(void *turn)
{
    for (int i = 0; i < 1000; i++)
        work(i, *(int *)turn);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t t;
    for (int turn = 0; argc > 1 && access(argv[1], F_OK) != 0; turn++) {
        if (pthread_create(&t, NULL, thread, &turn) != 0)
            return 1;
        if (turn < 4) {
            const pid_t child = fork();
            if (child == 0) {
                work(99, turn);
                if (turn % 2)
                    execl(argv[0], argv[0], (char *)NULL);
                _exit(3);
            }
            waitpid(child, NULL, 0);
        }
        if (turn == 4 && argc > 2)
            close(open(argv[2], O_WRONLY | O_CREAT, 0600));
        pthread_join(t, NULL);
        usleep(20000);
    }
    return 7;
}
