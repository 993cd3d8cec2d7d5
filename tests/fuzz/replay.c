/* Passes the named files, and those in the named folders, to the fuzzer's target. */
#include <errno.h>
#include <ftw.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"

static unsigned long tried;

static int try_file(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
    (void)ftw;
    if (type != FTW_F)
        return 0;
    FILE *in = fopen(path, "rb");
    uint8_t *data = malloc((size_t)status->st_size + 1);
    if (!in || !data || fread(data, 1, (size_t)status->st_size, in) != (size_t)status->st_size) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return 1;
    }
    fclose(in);
    LLVMFuzzerTestOneInput(data, (size_t)status->st_size);
    free(data);
    tried++;
    return 0;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (nftw(argv[i], try_file, 16, FTW_PHYS) != 0)
            return 1;
    printf("%lu files tried\n", tried);
    return tried == 0;
}
