/* Interposed calls on queues of messages, those of POSIX and those of System V, and on semaphores of System V. See
 * oscalls.c. */
#include "oscalls.h"

#include <errno.h>
#include <mqueue.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <time.h>

#define OS_QUEUE(sends, result, name, parameters, arguments)                                                           \
    OS_CALL_ON_DESCRIPTOR(true, fd, descriptor_queue(fd, sends), NOTHING, NOTHING, value_ >= 0, name, result, name,    \
                          parameters, arguments)

OS_QUEUE(true, int, mq_send, (mqd_t fd, const char *message, size_t size, unsigned priority),
         (fd, message, size, priority))
OS_QUEUE(true, int, mq_timedsend,
         (mqd_t fd, const char *message, size_t size, unsigned priority, const struct timespec *until),
         (fd, message, size, priority, until))
OS_QUEUE(false, ssize_t, mq_receive, (mqd_t fd, char *message, size_t size, unsigned *priority),
         (fd, message, size, priority))
OS_QUEUE(false, ssize_t, mq_timedreceive,
         (mqd_t fd, char *message, size_t size, unsigned *priority, const struct timespec *until),
         (fd, message, size, priority, until))

/* The numbers of the system's queues are small. */
static struct object queue_of_system(int queue, bool sends)
{
    enum { SYSTEM = 1 };
    return (struct object){
        .kind = DWELL_OBJECT_QUEUE,
        .role = sends ? DWELL_ROLE_WAITED_FOR_ROOM : DWELL_ROLE_WAITED,
        .id = (uint64_t)SYSTEM << 32 | (uint32_t)queue,
        .acts = !runtime.acts ? 0
                : sends       ? OBJECT_ACTED
                              : OBJECT_MAKES_ROOM,
    };
}

#define OS_SYSTEM_QUEUE(sends, result, name, parameters, arguments)                                                    \
    OS_CALL_ON_DESCRIPTOR(true, -1, queue_of_system(queue, sends), NOTHING, NOTHING, value_ >= 0, name, result, name,  \
                          parameters, arguments)

OS_SYSTEM_QUEUE(true, int, msgsnd, (int queue, const void *message, size_t size, int flags),
                (queue, message, size, flags))
OS_SYSTEM_QUEUE(false, ssize_t, msgrcv, (int queue, void *message, size_t size, long type, int flags),
                (queue, message, size, type, flags))

/* ---- semaphores of System V ---- */

/* Sets have small numbers, and so few that no number of shared memory is like them. */
static uint64_t semaphore_of_system(int set, const struct sembuf *operation)
{
    return DWELL_OBJECT_SHARED | (uint64_t)(uint32_t)set << 16 | operation->sem_num;
}

/* What one operation waits for, or lets others do. A wait for zero has no known act. */
static struct object semaphore_of_one(int set, const struct sembuf *operation)
{
    return (struct object){
        .kind = operation->sem_op ? DWELL_OBJECT_SEMAPHORE : 0,
        .role = operation->sem_op < 0    ? DWELL_ROLE_WAITED
                : operation->sem_op == 1 ? DWELL_ROLE_ACTED
                                         : DWELL_ROLE_ACTED_ON_ALL,
        .id = semaphore_of_system(set, operation),
    };
}

/* Several operations are done at once. It is not known which of them the call waited for. A record has two acts. */
static struct object semaphore_of_several(int set, const struct sembuf *operations, size_t count)
{
    struct object object = { .kind = 0 };
    for (size_t i = 0; i < count && !object.released; i++) {
        if (operations[i].sem_op <= 0)
            continue;
        const uint64_t id = semaphore_of_system(set, &operations[i]);
        if (object.kind)
            object.released = id;
        else
            object.id = id;
        object.kind = object.released_kind = DWELL_OBJECT_SEMAPHORE;
        object.role = DWELL_ROLE_ACTED_ON_ALL;
    }
    return object;
}

/* A call that has failed did nothing: its time was over, a signal came, or the set was removed. */
static void semaphore_end(enum os_call call, int set, const struct sembuf *operations, size_t count, int result)
{
    if (result != 0) {
        const struct object object = { .kind = DWELL_OBJECT_SEMAPHORE,
                                       .role = DWELL_ROLE_GAVE_UP,
                                       .id = DWELL_OBJECT_SHARED | (uint64_t)(uint32_t)set << 16 };
        os_call_end_wait(call, &object);
        return;
    }
    const struct object object =
        count == 1 ? semaphore_of_one(set, operations) : semaphore_of_several(set, operations, count);
    if (!object.kind)
        os_call_end(call);
    else if (object.role == DWELL_ROLE_WAITED)
        os_call_end_wait(call, &object);
    else
        os_call_end_act(call, &object);
}

#define OS_SEMAPHORES(name, parameters, arguments)                                                                     \
    OS_CALL_THEN(true, semaphore_end(OS_##name, set, operations, count, value_), name, int, name, parameters, arguments)

OS_SEMAPHORES(semop, (int set, struct sembuf *operations, size_t count), (set, operations, count))
OS_SEMAPHORES(semtimedop, (int set, struct sembuf *operations, size_t count, const struct timespec *time),
              (set, operations, count, time))
