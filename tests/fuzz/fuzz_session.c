/*
 * The fuzzer's target for sessions: opens bytes as a session file, profiles it and rolls it up. An error
 * must have a message.
 */
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "support/swallow.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    const char *error = NULL;
    const int fd = fuzz_file(data, size, path);
    if (!swallow_session(path, &error))
        fuzz_require(error && error[0]);
    close(fd);
    return 0;
}
