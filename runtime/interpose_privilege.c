/*
 * Calls that change the privileges or namespaces of a process. The kernel refuses some of them to a process of several
 * threads. A helper that kept its privileges would keep them for the program. So the helper ends before the call, and a
 * new one with the new privileges begins after it. If that is impossible, threads prepare their chunks themselves.
 *
 * A forked child that has not recorded yet enters the session first, because it might not be able to open the file
 * afterwards.
 */
#include <dlfcn.h>
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <unistd.h>

#include "helper.h"
#include "interpose.h"
#include "metadata.h"
#include "osevents.h"
#include "process.h"
#include "runtime.h"
#include "sys.h"

enum { NOTHING = -1 };

/* False in a child by vfork, which shares its parent's memory and helper. */
static bool privilege_is_recorded(void)
{
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

/* `condition`: whether this call is affected by a helper. */
#define WITHOUT_HELPER(name, parameters, arguments, condition)                                                         \
    INTERPOSED(name);                                                                                                  \
    DWELL_EXPORT int name parameters                                                                                   \
    {                                                                                                                  \
        int error = errno;                                                                                             \
        const int session = (condition) ? privilege_pause_helper() : NOTHING;                                          \
        errno = error;                                                                                                 \
        const int result = ((int(*) parameters)interpose_next(&next_##name, #name))arguments;                          \
        error = errno;                                                                                                 \
        privilege_resume_helper(session);                                                                              \
        errno = error;                                                                                                 \
        return result;                                                                                                 \
    }

WITHOUT_HELPER(setuid, (uid_t id), (id), true)
WITHOUT_HELPER(seteuid, (uid_t id), (id), true)
WITHOUT_HELPER(setreuid, (uid_t real, uid_t effective), (real, effective), true)
WITHOUT_HELPER(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved), true)
WITHOUT_HELPER(setgid, (gid_t id), (id), true)
WITHOUT_HELPER(setegid, (gid_t id), (id), true)
WITHOUT_HELPER(setregid, (gid_t real, gid_t effective), (real, effective), true)
WITHOUT_HELPER(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved), true)
WITHOUT_HELPER(setgroups, (size_t count, const gid_t *groups), (count, groups), true)
WITHOUT_HELPER(initgroups, (const char *user, gid_t group), (user, group), true)
WITHOUT_HELPER(capset, (cap_user_header_t header, const cap_user_data_t data), (header, data), true)
WITHOUT_HELPER(chroot, (const char *path), (path), true)
WITHOUT_HELPER(unshare, (int flags), (flags), flags &(CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM))
WITHOUT_HELPER(setns, (int fd, int kind), (fd, kind), kind == 0 || kind & (CLONE_NEWUSER | CLONE_NEWTIME))
