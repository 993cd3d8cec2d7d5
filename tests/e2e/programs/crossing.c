/* crossing WHAT: waits that another process ends, or a signal. Their numbers and causes are known. Each wait begins
 * well before what ends it. Exits with 77 where the system lacks what is needed. */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "resting.h"

enum { ROUNDS = 3, SKIPPED = 77 };

static int end;     /* of a connection */
static mqd_t queue; /* has room for one message */
static int system_queue;
static pthread_t waiting;  /* for a signal */
static volatile int *turn; /* of both processes */
static int file;

UNSEEN static void must(int ok)
{
    if (!ok)
        abort();
}

/* ---- connections ---- */

static void give(void)
{
    must(write(end, "x", 1) == 1);
}

static void take(void)
{
    char text;
    must(read(end, &text, 1) == 1);
}

UNSEEN static struct sockaddr_un address_of(const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    strcpy(address.sun_path, path);
    return address;
}

UNSEEN static int make_listener(int type)
{
    const struct sockaddr_un address = address_of("socket");
    unlink(address.sun_path);
    const int fd = socket(AF_UNIX, type, 0);
    must(bind(fd, (const struct sockaddr *)&address, sizeof address) == 0);
    must(type == SOCK_DGRAM || listen(fd, 1) == 0);
    return fd;
}

static void call_in(int type)
{
    const struct sockaddr_un address = address_of("socket");
    end = socket(AF_UNIX, type, 0);
    must(connect(end, (const struct sockaddr *)&address, sizeof address) == 0);
}

static void answer(int listener)
{
    end = accept(listener, NULL, NULL);
    must(end >= 0);
}

/* ---- locks of files ---- */

static void lock_file(const char *how)
{
    struct flock part = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 5 };
    if (strcmp(how, "flock") == 0 || strcmp(how, "close") == 0)
        must(flock(file, LOCK_EX) == 0);
    else if (strcmp(how, "lockf") == 0)
        must(lockf(file, F_LOCK, 0) == 0);
    else
        must(fcntl(file, F_SETLKW, &part) == 0);
}

static void unlock_file(const char *how)
{
    struct flock part = { .l_type = F_UNLCK, .l_whence = SEEK_SET, .l_start = 10, .l_len = 5 };
    if (strcmp(how, "close") == 0)
        must(close(file) == 0);
    else if (strcmp(how, "flock") == 0)
        must(flock(file, LOCK_UN) == 0);
    else if (strcmp(how, "lockf") == 0)
        must(lockf(file, F_ULOCK, 0) == 0);
    else
        must(fcntl(file, F_SETLK, &part) == 0);
}

UNSEEN static void open_file(void)
{
    file = open("locked", O_RDWR | O_CREAT, 0600);
    must(file >= 0);
}

/* Waits without sleeping. */
UNSEEN static void await(int number)
{
    while (*turn < number)
        syscall(SYS_sched_yield);
}

UNSEEN static void hold_often(const char *how)
{
    for (int i = 0; i < ROUNDS; i++) {
        open_file();
        lock_file(how);
        *turn = 2 * i + 1;
        rest();
        unlock_file(how);
        await(2 * i + 2);
        close(file);
    }
}

UNSEEN static void want_often(const char *how)
{
    for (int i = 0; i < ROUNDS; i++) {
        open_file();
        await(2 * i + 1);
        lock_file(how);
        unlock_file(how);
        *turn = 2 * i + 2;
        close(file);
    }
}

/* ---- queues ---- */

UNSEEN static void make_queue(void)
{
    struct mq_attr size = { .mq_maxmsg = 1, .mq_msgsize = 8 };
    char name[64];
    snprintf(name, sizeof name, "/dwell-crossing-%d", (int)getpid());
    queue = mq_open(name, O_RDWR | O_CREAT, 0600, &size);
    if (queue < 0)
        exit(SKIPPED);
    mq_unlink(name);
}

static void send_message(void)
{
    must(mq_send(queue, "x", 1, 0) == 0);
}

static void receive_message(void)
{
    char text[8];
    must(mq_receive(queue, text, sizeof text, NULL) == 1);
}

struct message {
    long type;
    char text[8];
};

static void send_to_system(void)
{
    const struct message message = { 1, "x" };
    must(msgsnd(system_queue, &message, sizeof message.text, 0) == 0);
}

static void receive_from_system(void)
{
    struct message message;
    must(msgrcv(system_queue, &message, sizeof message.text, 0, 0) == sizeof message.text);
}

static int set; /* of semaphores: the second one is used */

UNSEEN static void operate(const struct sembuf *operations, size_t count)
{
    must(semop(set, (struct sembuf *)operations, count) == 0);
}

static void post_to_set(void)
{
    const struct sembuf post = { .sem_num = 1, .sem_op = 1 };
    operate(&post, 1);
}

/* The first one is nobody's. */
static void post_twice(void)
{
    const struct sembuf posts[] = { { .sem_num = 0, .sem_op = 1 }, { .sem_num = 1, .sem_op = 1 } };
    operate(posts, 2);
}

static void await_set(void)
{
    const struct sembuf take = { .sem_num = 1, .sem_op = -1 };
    operate(&take, 1);
}

/* ---- signals ---- */

UNSEEN static void ignore(int signal)
{
    (void)signal;
}

static void send_signal(void)
{
    must(kill(getppid(), SIGUSR1) == 0);
}

static void send_signal_to_thread(void)
{
    must(pthread_kill(waiting, SIGUSR1) == 0);
}

static void *send_to_thread_often(void *unused)
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        send_signal_to_thread();
    }
    return unused;
}

static void await_any_signal(void)
{
    pause();
}

static void await_signal(void)
{
    int number;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    must(sigwait(&set, &number) == 0);
}

UNSEEN static sigset_t block_signal(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return set;
}

static void read_signal(void)
{
    struct signalfd_siginfo info;
    must(read(file, &info, sizeof info) == sizeof info);
}

UNSEEN static void make_signalfd(void)
{
    const sigset_t set = block_signal();
    file = signalfd(-1, &set, 0);
    must(file >= 0);
}

/* ---- shared memory ---- */

struct shared {
    sem_t semaphore;
    pthread_mutex_t mutex;
    pthread_cond_t condition;
};

static struct shared *shared;
static sem_t *semaphore;

UNSEEN static void *map_shared(int fd)
{
    void *at = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | (fd < 0 ? MAP_ANONYMOUS : 0), fd, 0);
    must(at != MAP_FAILED);
    return at;
}

UNSEEN static void make_shared(void)
{
    pthread_mutexattr_t of_mutex;
    pthread_condattr_t of_condition;
    shared = map_shared(-1);
    sem_init(&shared->semaphore, 1, 0);
    pthread_mutexattr_init(&of_mutex);
    pthread_mutexattr_setpshared(&of_mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->mutex, &of_mutex);
    pthread_condattr_init(&of_condition);
    pthread_condattr_setpshared(&of_condition, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&shared->condition, &of_condition);
}

static void post(void)
{
    must(sem_post(semaphore) == 0);
}

static void await_post(void)
{
    must(sem_wait(semaphore) == 0);
}

static void give_signal(void)
{
    pthread_mutex_lock(&shared->mutex);
    pthread_cond_signal(&shared->condition);
    pthread_mutex_unlock(&shared->mutex);
}

static void await_condition(void)
{
    pthread_mutex_lock(&shared->mutex);
    pthread_cond_wait(&shared->condition, &shared->mutex);
    pthread_mutex_unlock(&shared->mutex);
}

/* The process has the semaphore at an address of its own. */
UNSEEN static void open_semaphore(const char *name, int child)
{
    if (child)
        map_shared(-1);
    if (*name == '/') {
        semaphore = sem_open(name, O_CREAT, 0600, 0);
        must(semaphore != SEM_FAILED);
    } else {
        file = open(name, O_RDWR);
        must(file >= 0);
        semaphore = &((struct shared *)map_shared(file))->semaphore;
    }
}

UNSEEN static void make_file(const char *name)
{
    file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
    must(file >= 0 && ftruncate(file, sizeof *shared) == 0);
    sem_init(&((struct shared *)map_shared(file))->semaphore, 1, 0);
}

/* ---- all ---- */

static void act_often(void (*act)(void))
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        act();
    }
}

static void wait_often(void (*wait_once)(void))
{
    for (int i = 0; i < ROUNDS; i++)
        wait_once();
}

/* The child acts, and the parent waits. */
UNSEEN static void run_both(void (*act)(void), void (*wait_once)(void))
{
    if (fork() == 0) {
        act_often(act);
        exit(0);
    }
    wait_often(wait_once);
    wait(NULL);
}

static void run_semaphore(const char *name)
{
    const pid_t child = fork();
    open_semaphore(name, child == 0);
    if (child == 0) {
        act_often(post);
        exit(0);
    }
    wait_often(await_post);
    wait(NULL);
}

static void run_locks(const char *how)
{
    if (fork() == 0) {
        hold_often(how);
        exit(0);
    }
    want_often(how);
    wait(NULL);
}

/* The one that has called in waits, or the one that has answered. */
static void run_connection(int type, int caller_waits)
{
    const int listener = make_listener(type);
    const pid_t child = fork();
    if ((child == 0) == !caller_waits)
        call_in(type);
    else if (type == SOCK_DGRAM)
        end = listener;
    else
        answer(listener);
    if (child == 0) {
        act_often(give);
        exit(0);
    }
    wait_often(take);
    wait(NULL);
}

static void run_thread(void)
{
    pthread_t thread;
    waiting = pthread_self();
    pthread_create(&thread, NULL, send_to_thread_often, NULL);
    wait_often(await_any_signal);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    turn = mmap(NULL, sizeof *turn, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(turn != MAP_FAILED);
    signal(SIGUSR1, ignore);
    if (strcmp(what, "answered") == 0 || strcmp(what, "called") == 0) {
        run_connection(SOCK_STREAM, strcmp(what, "called") == 0);
    } else if (strcmp(what, "datagram") == 0) {
        run_connection(SOCK_DGRAM, 0);
    } else if (strcmp(what, "queue") == 0) {
        make_queue();
        run_both(send_message, receive_message);
    } else if (strcmp(what, "full") == 0) {
        make_queue();
        must(mq_send(queue, "x", 1, 0) == 0);
        run_both(receive_message, send_message);
    } else if (strcmp(what, "system") == 0) {
        system_queue = msgget(IPC_PRIVATE, 0600);
        if (system_queue < 0)
            return SKIPPED;
        run_both(send_to_system, receive_from_system);
        msgctl(system_queue, IPC_RMID, NULL);
    } else if (strncmp(what, "set", 3) == 0) {
        set = semget(IPC_PRIVATE, 2, 0600);
        if (set < 0)
            return SKIPPED;
        run_both(what[3] ? post_twice : post_to_set, await_set);
        semctl(set, 0, IPC_RMID);
    } else if (strcmp(what, "signalfd") == 0) {
        make_signalfd();
        run_both(send_signal, read_signal);
    } else if (strcmp(what, "kill") == 0) {
        run_both(send_signal, await_any_signal);
    } else if (strcmp(what, "sigwait") == 0) {
        block_signal();
        run_both(send_signal, await_signal);
    } else if (strcmp(what, "semaphore") == 0) {
        make_shared();
        semaphore = &shared->semaphore;
        run_both(post, await_post);
    } else if (strcmp(what, "condition") == 0) {
        make_shared();
        run_both(give_signal, await_condition);
    } else if (strcmp(what, "named") == 0) {
        char name[64];
        snprintf(name, sizeof name, "/dwell-crossing-%d", (int)getpid());
        run_semaphore(name);
        sem_unlink(name);
    } else if (strcmp(what, "mapped") == 0) {
        make_file("memory");
        run_semaphore("memory");
    } else if (strcmp(what, "thread") == 0) {
        run_thread();
    } else {
        run_locks(what);
    }
    return 0;
}
