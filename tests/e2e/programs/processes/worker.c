/* worker STEPS: main and STEPS calls. */
#include "ledger.h"

int main(int argc, char **argv)
{
    ledger_begin(getppid(), 1);
    for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
        step();
    ledger_write();
    return 0;
}
