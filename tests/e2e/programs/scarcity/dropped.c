/* dropped: becomes another user, who may not open the session's file. Then a thread and a child run. */
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
