/* A program with its own read, malloc and free. Its functions are called, and those of libc are not. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int reads, written;

ssize_t read(int fd, void *buffer, size_t size)
{
    reads++;
    return syscall(SYS_read, fd, buffer, size);
}

/* This one looks up the next definition, which is libc's. */
ssize_t write(int fd, const void *buffer, size_t size)
{
    static ssize_t (*next)(int, const void *, size_t);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "write");
    written++;
    return next(fd, buffer, size);
}

/* Each from a mapping of its own, also before main. */
__attribute__((no_instrument_function)) void *malloc(size_t size)
{
    size_t *at = mmap(NULL, size + 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    *at = size + 16;
    return at + 2;
}

__attribute__((no_instrument_function)) void free(void *at)
{
    if (at)
        munmap((size_t *)at - 2, ((size_t *)at)[-2]);
}

__attribute__((no_instrument_function)) void *calloc(size_t count, size_t size)
{
    return malloc(count * size);
}

__attribute__((no_instrument_function)) void *realloc(void *at, size_t size)
{
    void *fresh = malloc(size);
    if (fresh && at) {
        const size_t before = ((size_t *)at)[-2] - 16;
        memcpy(fresh, at, before < size ? before : size);
        free(at);
    }
    return fresh;
}

int main(void)
{
    char buffer[8];
    int ends[2];
    if (pipe(ends) != 0)
        return 1;
    for (int i = 0; i < 10; i++) {
        char *volatile copy = malloc(8);
        if (write(ends[1], "whatever", 8) != 8 || read(ends[0], buffer, 8) != 8)
            return 2;
        memcpy(copy, buffer, 8);
        free(copy);
    }
    printf("own read %d, own write %d\n", reads, written);
    return 0;
}
