/* chrooted FOLDER: changes its root to an empty folder, where the session's path does not exist. Then a thread and a
 * child run. */
#include "work.h"

int main(int argc, char **argv)
{
    begin();
    work(1000);
    need(argc == 2 && chroot(argv[1]) == 0 && chdir("/") == 0, "chroot");
    work(500000);
    run_thread(1000);
    run_child(1000);
    tell_counts();
    return 0;
}
