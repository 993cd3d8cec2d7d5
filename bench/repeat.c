/* repeat SESSION TIMES OUT: writes a session whose threads repeat TIMES times what they do in SESSION. */
#include <stdio.h>
#include <stdlib.h>

#include "support/repeat.h"

int main(int argc, char **argv)
{
    const int times = argc == 4 ? atoi(argv[2]) : 0;
    if (times < 1 || times > 1 << 15) {
        fputs("usage: repeat SESSION TIMES OUT\n", stderr);
        return 2;
    }
    const char *error = repeat_session(argv[1], argv[3], (uint32_t)times);
    if (error)
        fprintf(stderr, "repeat: %s\n", error);
    return error ? 2 : 0;
}
