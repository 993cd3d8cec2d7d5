/*
 * The fuzzer's target for sessions: opens bytes as a session file, profiles it and rolls it up. Built with
 * -Dfuzzing=libfuzzer it is the fuzzer (fuzz-session CORPUS-FOLDER). Otherwise it is a program that tries the given
 * files, see replay.c.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "support/swallow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    const char *error = NULL;
    int fd = memfd_create("session", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (!swallow_session(path, &error) && (!error || !error[0]))
        abort(); /* an error must have a message */
    close(fd);
    return 0;
}
