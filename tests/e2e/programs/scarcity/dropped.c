/* dropped: becomes another user in the middle, who may not open the session's file; then a thread and a child. */
#include <grp.h>

#include "work.h"

int main(void)
{
    begin();
    work(1000);
    need(setgroups(0, NULL) == 0 && setresgid(54321, 54321, 54321) == 0 && setresuid(54321, 54321, 54321) == 0,
         "setresuid");
    work(500000);
    run_thread(1000);
    run_child(1000);
    tell_counts();
    return 0;
}
