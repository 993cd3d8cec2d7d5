/* Sleeps after its last probe, and ends without running destructors. */
#include <unistd.h>

int main(void)
{
    usleep(50000);
    _exit(0);
}
