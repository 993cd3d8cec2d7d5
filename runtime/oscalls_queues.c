/* Interposed calls on queues of messages, those of POSIX and those of System V. See oscalls.c. */
#include "oscalls.h"

#include <errno.h>
#include <mqueue.h>
#include <sys/msg.h>
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
