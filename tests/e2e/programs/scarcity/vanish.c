/* vanish FOLDER FILE LINK: removes the first two while it is recorded into them, and keeps the file under another name.
 * Then much work, a thread and a child run. */
#include "work.h"

int main(int argc, char **argv)
{
    begin();
    if (argc != 4)
        return 2;
    work(1000);
    need(link(argv[2], argv[3]) == 0 && unlink(argv[2]) == 0, "link");
    need(rmdir(argv[1]) == 0, "rmdir");
    work(500000);
    run_thread(1000);
    run_child(1000);
    tell_counts();
    return 0;
}
