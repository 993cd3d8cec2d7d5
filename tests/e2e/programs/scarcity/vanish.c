/* vanish FOLDER FILE: removes both while it is recorded into them; then much work, a thread and a child. */
#include "work.h"

int main(int argc, char **argv)
{
    begin();
    if (argc != 3)
        return 2;
    work(1000);
    unlink(argv[2]);
    rmdir(argv[1]);
    work(500000);
    run_thread(1000);
    run_child(1000);
    tell_counts();
    return 0;
}
