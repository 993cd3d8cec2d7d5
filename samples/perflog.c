/*
 * perflog [TIMES [BYTES]]: times writing and reading a block of BYTES bytes by PerfLog.
 *
 * It looks like a program that was written for PerfLog. It has markers with strings, a timer around each operation, a
 * value of its own, and the memory in use at the end. The log is perflog-sample_..._.log in the current folder, or
 * where DWELL_PERFLOG says. The string of a marker holds the size, from which readers of the log calculate `%Bytes%`
 * and the like.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dwell/perflog.h"
#include "sample.h"

enum { MARK_WRITE, MARK_READ, MARK_MEMORY };

static unsigned long write_calls, read_calls;

static BOOL write_block(FILE *file, const char *block, size_t size)
{
    write_calls++;
    rewind(file);
    return fwrite(block, 1, size, file) == size && fflush(file) == 0;
}

static BOOL read_block(FILE *file, char *block, size_t size)
{
    read_calls++;
    rewind(file);
    return fread(block, 1, size, file) == size;
}

static BOOL time_them(FILE *file, char *block, size_t size, long times)
{
    Perf_RegisterMark(MARK_WRITE, TEXT("Test=WriteFile,Bytes=%zu,Bps=%%Bytes%%/%%AVG%%"), size);
    Perf_RegisterMark(MARK_READ, TEXT("Test=ReadFile,Bytes=%zu,Bps=%%Bytes%%/%%AVG%%"), size);
    for (long i = 0; i < times; i++) {
        Perf_MarkBegin(MARK_WRITE);
        if (!write_block(file, block, size))
            return Perf_MarkError(MARK_WRITE) && FALSE;
        Perf_MarkEnd(MARK_WRITE);
        Perf_MarkBegin(MARK_READ);
        if (!read_block(file, block, size))
            return Perf_MarkError(MARK_READ) && FALSE;
        Perf_MarkEnd(MARK_READ);
    }
    Perf_MarkAttribute(MARK_WRITE, TEXT("Times"), (DWORD)times);
    Perf_RegisterMark(MARK_MEMORY, TEXT("MEM: perflog-sample"));
    Perf_MarkMem(MARK_MEMORY);
    return TRUE;
}

int main(int argc, char **argv)
{
    if (argc > 3)
        sample_usage("perflog [TIMES [BYTES]]");
    const long times = argc > 1 ? sample_number(argv[1], 0, 1000000) : 4;
    const long size = argc > 2 ? sample_number(argv[2], 1, 1L << 30) : 1L << 20;
    Perf_SetTestName(TEXT("perflog-sample"));
    if (!Perf_LibInit())
        fprintf(stderr, "the log cannot be written\n");
    char *block = calloc(1, (size_t)size);
    FILE *file = tmpfile();
    const BOOL done = block && file && time_them(file, block, (size_t)size, times);
    if (file)
        fclose(file);
    free(block);
    Perf_LibDeinit();
    printf("calls write_block %lu\n", write_calls);
    printf("calls read_block %lu\n", read_calls);
    printf("calls time_them 1\n");
    printf("calls main 1\n");
    return done ? EXIT_SUCCESS : EXIT_FAILURE;
}
