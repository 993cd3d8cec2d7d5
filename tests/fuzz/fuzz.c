/* What the fuzzer's targets share. */
#include "fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void fuzz_require(bool holds)
{
    if (!holds)
        abort();
}

int fuzz_file(const void *data, size_t size, char path[FUZZ_PATH])
{
    const int fd = memfd_create("input", MFD_CLOEXEC);
    fuzz_require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    snprintf(path, FUZZ_PATH, "/proc/self/fd/%d", fd);
    return fd;
}

uint8_t fuzz_byte(const uint8_t **data, size_t *size)
{
    if (*size == 0)
        return 0;
    --*size;
    return *(*data)++;
}

uint32_t fuzz_word(const uint8_t **data, size_t *size)
{
    uint32_t word = 0;
    for (int shift = 0; shift < 32; shift += 8)
        word |= (uint32_t)fuzz_byte(data, size) << shift;
    return word;
}
