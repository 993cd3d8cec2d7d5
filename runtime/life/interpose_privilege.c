/*
 * Calls that change the privileges or namespaces of a process. The kernel refuses some of them to a process of several
 * threads. A helper that kept its privileges would keep them for the program. So the helper ends before the call, and a
 * new one with the new privileges begins after it. If that is impossible, threads prepare their chunks themselves.
 *
 * A program or a forked child that has not recorded yet enters the session first, because it might not be able to open
 * the file afterwards.
 *
 * libdwell.a has these functions, too: as weak ones, so that it can be linked into a program that has some itself.
 * There the function that is called is libc's, or in a static program what libc's does.
 */
#include "interpose_privilege.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <unistd.h>

#include "helper.h"
#include "interposed.h"
#include "libc.h"
#include "metadata_records.h"
#include "osevents.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"

enum { NOTHING = -1 };

/* False in a child by vfork, which shares its parent's memory and helper. */
static bool privilege_is_recorded(void)
{
    process_begin_early();
    return !runtime.off && runtime.process && process_begin() && (uint32_t)SYS0(getpid) == runtime.process->pid;
}

static int privilege_pause_helper(void)
{
    const uint64_t mask = sys_block_signals();
    const int fd = privilege_is_recorded() ? helper_pause() : NOTHING;
    sys_restore_signals(mask);
    return fd;
}

static void privilege_resume_helper(int fd)
{
    const uint64_t mask = sys_block_signals();
    helper_resume(fd);
    if (fd >= 0 && !runtime.process->helper.tid)
        metadata_note("after a change of privileges or namespaces no helper thread could be started: chunks are "
                      "prepared by the program's threads");
    if (fd >= 0)
        os_compare_clocks(); /* the time namespace may be another one */
    sys_restore_signals(mask);
}

#if defined(DWELL_ARCHIVE)

/* How libc tells the threads of a static program to make a system call, if it contains that at all. Without it, the
 * program makes no threads. */
struct xid_command {
    int number;
    long arguments[3];
    volatile int left, error;
};
extern int __nptl_setxid(struct xid_command *command) __attribute__((weak));

static long privilege_ask_kernel(long number, long a, long b)
{
    const long result = sys_bare(number, a, b, 0, 0, 0, 0);
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

static long privilege_ask_for_all(long number, long a, long b, long c)
{
    struct xid_command command = { .number = (int)number, .arguments = { a, b, c } };
    if (&__nptl_setxid)
        return __nptl_setxid(&command);
    const long result = sys_bare(number, a, b, c, 0, 0, 0);
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

static long privilege_refuse(void)
{
    errno = EINVAL;
    return -1;
}

#define PRIVILEGE_FUNCTION(name) DWELL_EXPORT __attribute__((weak)) int name
#define PRIVILEGE_CALL(name, parameters, arguments, in_static)                                                         \
    ({                                                                                                                 \
        int(*real_) parameters = (int(*) parameters)libc_function(#name);                                              \
        real_ ? real_ arguments : (int)(in_static);                                                                    \
    })

#else

#define PRIVILEGE_FUNCTION(name)                                                                                       \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT int name
#define PRIVILEGE_CALL(name, parameters, arguments, in_static)                                                         \
    ((int(*) parameters)interpose_next(&next_##name, #name)) arguments

#endif

bool privilege_is_watched(void)
{
    return true;
}

/* `condition`: whether this call is affected by a helper. `in_static`: what libc's function does in a static program.
 */
#define WITHOUT_HELPER(name, parameters, arguments, condition, in_static)                                              \
    PRIVILEGE_FUNCTION(name) parameters                                                                                \
    {                                                                                                                  \
        int error = errno;                                                                                             \
        const int session = (condition) ? privilege_pause_helper() : NOTHING;                                          \
        errno = error;                                                                                                 \
        const int result = PRIVILEGE_CALL(name, parameters, arguments, in_static);                                     \
        error = errno;                                                                                                 \
        privilege_resume_helper(session);                                                                              \
        errno = error;                                                                                                 \
        return result;                                                                                                 \
    }

#define FOR_ALL(name, a, b, c) privilege_ask_for_all(SYS_##name, (long)(a), (long)(b), (long)(c))
#define FOR_ONE(name, a, b) privilege_ask_kernel(SYS_##name, (long)(a), (long)(b))
#define FOR_EFFECTIVE(name, id) ((id) == (__typeof__(id))-1 ? privilege_refuse() : FOR_ALL(name, -1, id, -1))

WITHOUT_HELPER(setuid, (uid_t id), (id), true, FOR_ALL(setuid, id, 0, 0))
WITHOUT_HELPER(seteuid, (uid_t id), (id), true, FOR_EFFECTIVE(setresuid, id))
WITHOUT_HELPER(setreuid, (uid_t real, uid_t effective), (real, effective), true, FOR_ALL(setreuid, real, effective, 0))
WITHOUT_HELPER(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved), true,
               FOR_ALL(setresuid, real, effective, saved))
WITHOUT_HELPER(setgid, (gid_t id), (id), true, FOR_ALL(setgid, id, 0, 0))
WITHOUT_HELPER(setegid, (gid_t id), (id), true, FOR_EFFECTIVE(setresgid, id))
WITHOUT_HELPER(setregid, (gid_t real, gid_t effective), (real, effective), true, FOR_ALL(setregid, real, effective, 0))
WITHOUT_HELPER(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved), true,
               FOR_ALL(setresgid, real, effective, saved))
WITHOUT_HELPER(setgroups, (size_t count, const gid_t *groups), (count, groups), true,
               FOR_ALL(setgroups, count, groups, 0))
WITHOUT_HELPER(capset, (cap_user_header_t header, const cap_user_data_t data), (header, data), true,
               FOR_ONE(capset, header, data))
WITHOUT_HELPER(chroot, (const char *path), (path), true, FOR_ONE(chroot, path, 0))
WITHOUT_HELPER(unshare, (int flags), (flags), flags &(CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM),
               FOR_ONE(unshare, flags, 0))
WITHOUT_HELPER(setns, (int fd, int kind), (fd, kind), kind == 0 || kind & (CLONE_NEWUSER | CLONE_NEWTIME),
               FOR_ONE(setns, fd, kind))
/* In a static program, it calls setgroups, and getgrouplist comes with it. A program that calls it in order to give up
 * privileges gives them up by one of the others. */
#if !defined(DWELL_ARCHIVE)
WITHOUT_HELPER(initgroups, (const char *user, gid_t group), (user, group), true, 0)
#endif
