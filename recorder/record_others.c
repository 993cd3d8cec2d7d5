/*
 * A process counts as recorded while it holds the lock of a writer, or while it is watched. It has no lock for a moment
 * when it executes another program. A new child has none yet, and is not watched. So nobody must be seen for a while.
 */
#include "recorder/record_others.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/memory.h"
#include "base/message.h"
#include "session_lock.h"

enum {
    LOOK_INTERVAL = 50, /* milliseconds */
    LOOKS = 6,          /* without anybody */
};

void record_others_adopt(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1); /* if it fails, their exit status may be unknown */
}

/* Takes the ends of dwell's children. */
static void record_others_reap(struct process_watch *watch, struct keep_handing *handing)
{
    siginfo_t info = { .si_pid = 0 };
    int status;
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid > 0) {
        const pid_t pid = info.si_pid;
        const int how = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
        process_watch_ended(watch, pid, how);
        keep_handing_ended(handing, pid, how);
        if (waitpid(pid, &status, WNOHANG) != pid)
            return;
        info.si_pid = 0;
    }
}

void record_others_wait(struct signal_relay *relay, struct process_watch *watch, struct keep_handing *handing, int fd)
{
    unsigned late = 0; /* looks since a signal came that nobody has had: whom it is for may be found a moment later */
    for (unsigned looks = 0; looks < LOOKS;) {
        record_others_reap(watch, handing);
        struct record_others others = record_others_find(watch);
        const pid_t oldest = others.count ? others.pids[0] : 0;
        record_others_drop(&others);
        looks = oldest || session_has_other_writers(fd) ? 0 : looks + 1;
        signal_relay_serve(relay, oldest, LOOK_INTERVAL);
        if (!oldest && relay->ending && (!relay->is_late || ++late == LOOKS))
            return; /* whoever is recorded cannot be found */
    }
}

struct record_others record_others_find(struct process_watch *watch)
{
    struct record_others o = { NULL, 0 };
    o.count = process_watch_living(watch, &o.pids);
    return o;
}

void record_others_drop(struct record_others *o)
{
    free(o->pids);
    *o = (struct record_others){ NULL, 0 };
}

static char *record_others_name(pid_t pid)
{
    char path[64], name[64] = "";
    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    FILE *in = fopen(path, "re");
    if (in && fgets(name, sizeof name, in))
        name[strcspn(name, "\n")] = '\0';
    if (in)
        fclose(in);
    return need_text("%s%sPID %d%s", name, *name ? " (" : "", (int)pid, *name ? ")" : "");
}

void record_others_say(const struct record_others *o, int fd)
{
    size_t living = 0;
    pid_t first = 0;
    for (size_t i = o->count; i-- > 0;)
        if (kill(o->pids[i], 0) == 0) {
            living++;
            first = o->pids[i];
        }
    if (!session_has_other_writers(fd))
        return;
    char *name = living ? record_others_name(first) : need_text("a process"); /* not found until the program ended */
    if (living <= 1)
        say("%s is still recorded, without samples, budget and exit status; record --wait-all waits for its end", name);
    else
        say("%zu processes are still recorded, such as %s, without samples, budget and exit status; record --wait-all "
            "waits for their end",
            living, name);
    free(name);
}
