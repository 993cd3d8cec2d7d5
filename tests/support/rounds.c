/* How much a test tries that samples a large number of cases. */
#include "support/rounds.h"

#include <stdlib.h>
#include <string.h>

int test_rounds(int all)
{
    const char *wanted = getenv("TEST_ROUNDS");
    if (wanted && strcmp(wanted, "all") == 0)
        return all;
    return all < 4 ? 1 : all / 4;
}
