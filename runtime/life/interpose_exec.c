/* The functions by which a program executes another one. Each passes on the program's environment with the recording's
 * variables (environment.h). They may be called in a child by vfork and in a signal handler, so they take no lock and
 * leave nothing allocated. system and popen read `environ` themselves, so the variables are in it while they run. */
#include "oscalls.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "endings.h"
#include "environment.h"
#include "executed.h"
#include "fault_signals.h"
#include "interpose_exec.h"
#include "lock.h"
#include "runtime.h"
#include "sys.h"

enum { MAX_ON_STACK = 4 << 10 }; /* a thread's stack may be as small as that allows */

extern char **environ;

static void *exec_next_of(void **cache, const char *name)
{
    void *found = __atomic_load_n(cache, __ATOMIC_RELAXED);
    if (!found) {
        found = dlsym(RTLD_NEXT, name);
        __atomic_store_n(cache, found, __ATOMIC_RELAXED);
    }
    return found;
}

/* libc's functions. They are looked up when the library is loaded, because dlsym takes a lock. */
static struct {
    void *execve, *execvpe, *fexecve, *execveat, *posix_spawn, *posix_spawnp, *system, *popen;
} next;

#define NEXT(name) ((typeof(&name))exec_next_of(&next.name, #name))

__attribute__((constructor(103))) static void exec_look_up(void)
{
    int error = errno;
    NEXT(execve);
    NEXT(execvpe);
    NEXT(fexecve);
    NEXT(posix_spawn);
    NEXT(posix_spawnp);
    exec_next_of(&next.execveat, "execveat");
    errno = error;
}

/* Evaluates `call`, a call of libc that starts a program. Nothing is recorded in it: there may be no guard. */
#define STARTING(call)                                                                                                 \
    ({                                                                                                                 \
        const struct fault_shown shown_ = fault_show(true);                                                            \
        typeof(call) started_ = (call);                                                                                \
        fault_hide(shown_);                                                                                            \
        started_;                                                                                                      \
    })

/* Whether the program should get this library by LD_PRELOAD. It is read only if the environment changes. */
static bool exec_gets_library(char *const *given, bool in_place, const struct executed *program)
{
    return environment_room(given, in_place, true) == 0 || !executed_refuses_library(program);
}

#define PROGRAM(folder, path, search) (&(const struct executed){ folder, path, search })

/* Evaluates `call` with `list` as the environment to pass on to the program. */
#define WITH_ENVIRONMENT(list, given, in_place, program, call)                                                         \
    ({                                                                                                                 \
        const bool preload_ = exec_gets_library(given, in_place, program);                                             \
        const size_t size_ = environment_room(given, in_place, preload_);                                              \
        char *const *list = given;                                                                                     \
        void *room_ = size_ == 0 ? NULL : size_ <= MAX_ON_STACK ? alloca(size_) : sys_memory(size_);                   \
        if (room_)                                                                                                     \
            list = environment_fill(given, room_, preload_);                                                           \
        int result_ = (call);                                                                                          \
        if (room_ && size_ > MAX_ON_STACK)                                                                             \
            sys_unmap(room_, size_);                                                                                   \
        result_;                                                                                                       \
    })

/* Evaluates `call`, which replaces the program unless it fails. */
#define EXECUTING(call)                                                                                                \
    ({                                                                                                                 \
        struct ending ending_;                                                                                         \
        ending_begin(&ending_);                                                                                        \
        int failed_ = STARTING(call);                                                                                  \
        ending_take_back(&ending_);                                                                                    \
        failed_;                                                                                                       \
    })

DWELL_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    return WITH_ENVIRONMENT(list, envp, true, PROGRAM(AT_FDCWD, path, false),
                            EXECUTING(NEXT(execve)(path, argv, list)));
}

DWELL_EXPORT int execv(const char *path, char *const argv[])
{
    return WITH_ENVIRONMENT(list, environ, true, PROGRAM(AT_FDCWD, path, false),
                            EXECUTING(NEXT(execve)(path, argv, list)));
}

DWELL_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    return WITH_ENVIRONMENT(list, envp, true, PROGRAM(AT_FDCWD, file, true),
                            EXECUTING(NEXT(execvpe)(file, argv, list)));
}

DWELL_EXPORT int execvp(const char *file, char *const argv[])
{
    return WITH_ENVIRONMENT(list, environ, true, PROGRAM(AT_FDCWD, file, true),
                            EXECUTING(NEXT(execvpe)(file, argv, list)));
}

DWELL_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    return WITH_ENVIRONMENT(list, envp, true, PROGRAM(fd, "", false), EXECUTING(NEXT(fexecve)(fd, argv, list)));
}

/* In glibc 2.34 and later. With an older one no program calls it. */
DWELL_EXPORT int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    int (*real)(int, const char *, char *const[], char *const[], int) =
        (int (*)(int, const char *, char *const[], char *const[], int))exec_next_of(&next.execveat, "execveat");
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    return WITH_ENVIRONMENT(list, envp, true, PROGRAM(folder, path, false),
                            EXECUTING(real(folder, path, argv, list, flags)));
}

/* ---- with the arguments one by one ---- */

static size_t exec_count_arguments(va_list arguments)
{
    size_t count = 1;
    while (va_arg(arguments, char *))
        count++;
    return count;
}

/* Collects the arguments up to NULL. `arguments` is then positioned after the NULL. */
static void exec_collect_arguments(char **argv, const char *first, va_list *arguments)
{
    *argv = (char *)first;
    while (*argv)
        *++argv = va_arg(*arguments, char *);
}

#define COLLECT(argv, first, arguments)                                                                                \
    va_list arguments, counted_;                                                                                       \
    va_start(arguments, first);                                                                                        \
    va_copy(counted_, arguments);                                                                                      \
    char **argv = alloca(((first) ? exec_count_arguments(counted_) + 1 : 1) * sizeof *argv);                           \
    va_end(counted_);                                                                                                  \
    exec_collect_arguments(argv, first, &arguments)

DWELL_EXPORT int execl(const char *path, const char *first, ...)
{
    COLLECT(argv, first, arguments);
    va_end(arguments);
    return execv(path, argv);
}

DWELL_EXPORT int execlp(const char *file, const char *first, ...)
{
    COLLECT(argv, first, arguments);
    va_end(arguments);
    return execvp(file, argv);
}

DWELL_EXPORT int execle(const char *path, const char *first, ...)
{
    COLLECT(argv, first, arguments);
    char *const *envp = va_arg(arguments, char *const *);
    va_end(arguments);
    return execve(path, argv, envp);
}

/* ---- in a child made for it ---- */

/* Evaluates `call` as a row. */
#define AS_ROW(name, call)                                                                                             \
    ({                                                                                                                 \
        const bool row_ = os_call_begin(OS_##name, __builtin_return_address(0));                                       \
        typeof(call) answer_ = (call);                                                                                 \
        if (row_)                                                                                                      \
            os_call_end(OS_##name);                                                                                    \
        answer_;                                                                                                       \
    })

DWELL_EXPORT OS_CALL_CODE int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                                          const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    return WITH_ENVIRONMENT(
        list, envp, false, PROGRAM(AT_FDCWD, path, false),
        AS_ROW(posix_spawn, STARTING(NEXT(posix_spawn)(pid, path, actions, attributes, argv, list))));
}

DWELL_EXPORT OS_CALL_CODE int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                                           const posix_spawnattr_t *attributes, char *const argv[], char *const envp[])
{
    return WITH_ENVIRONMENT(
        list, envp, false, PROGRAM(AT_FDCWD, file, true),
        AS_ROW(posix_spawnp, STARTING(NEXT(posix_spawnp)(pid, file, actions, attributes, argv, list))));
}

/* ---- by a shell ---- */

static uint32_t shown_lock;
static struct {
    int users;
    char **before, **list;
    size_t size;
} shown;

static void exec_show_environment(void)
{
    lock_take(&shown_lock);
    if (shown.users++ == 0) {
        shown.size = environment_room(environ, false, true);
        void *room = shown.size ? sys_memory(shown.size) : NULL;
        if (room) {
            shown.before = environ;
            environ = shown.list = environment_fill(environ, room, true);
        }
    }
    lock_release(&shown_lock);
}

/* If the program has changed its environment meanwhile, libc has copied the list, and the variables are removed from
 * it. */
static void exec_hide_environment(void *unused)
{
    (void)unused;
    lock_take(&shown_lock);
    if (--shown.users == 0 && shown.list) {
        if (environ == shown.list) {
            environ = shown.before;
            sys_unmap(shown.list, shown.size);
        } else if (environ) {
            environment_hide(environ);
        }
        shown.list = NULL;
    }
    lock_release(&shown_lock);
}

/* The other threads are not in the child. One of them may have held the lock, or been in system or popen. */
void interpose_exec_forked(void)
{
    if (!shown.users)
        return;
    shown.users = 0;
    shown.list = NULL;
    shown_lock = 0;
    if (environ)
        environment_hide(environ);
}

DWELL_EXPORT OS_CALL_CODE int system(const char *command)
{
    int result, error;
    exec_show_environment();
    pthread_cleanup_push(exec_hide_environment, NULL);
    result = AS_ROW(system, STARTING(NEXT(system)(command)));
    error = errno;
    pthread_cleanup_pop(1);
    errno = error;
    return result;
}

DWELL_EXPORT OS_CALL_CODE FILE *popen(const char *command, const char *mode)
{
    exec_show_environment();
    FILE *result = AS_ROW(popen, STARTING(NEXT(popen)(command, mode)));
    int error = errno;
    exec_hide_environment(NULL);
    errno = error;
    return result;
}
