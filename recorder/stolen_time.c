/* Stolen time is on the CPU by the records of switches, and in no thread's CPU time: no thread is switched for it. */
#include "recorder/stolen_time.h"

#include <inttypes.h>
#include <unistd.h>

enum { SECOND = 1000000000 };

uint64_t stolen_time_read(FILE *stat, uint64_t rate)
{
    uint64_t ticks;
    if (fscanf(stat, "cpu %*u %*u %*u %*u %*u %*u %*u %" SCNu64, &ticks) != 1)
        return 0;
    return ticks * (SECOND / rate);
}

uint64_t stolen_time_now(void)
{
    FILE *stat = fopen("/proc/stat", "re");
    const long rate = sysconf(_SC_CLK_TCK);
    const uint64_t time = stat && rate > 0 ? stolen_time_read(stat, (uint64_t)rate) : 0;
    if (stat)
        fclose(stat);
    return time;
}
