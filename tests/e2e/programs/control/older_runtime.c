/* A runtime that has one of the functions of dwell/dwell.h, as those that came later are missing in an older one. */
#include <stdint.h>

uint64_t dwell_runtime_time(void);

uint64_t dwell_runtime_time(void)
{
    return 1;
}
