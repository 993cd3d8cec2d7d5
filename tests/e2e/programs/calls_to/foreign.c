/* A program in place of one of another machine (scripts/test-aarch64), and its loader. With LD_TRACE_LOADED_OBJECTS, it
 * prints the file FOREIGN_MODULES as a list of modules. Otherwise it executes a shell with its arguments. It has no
 * libc: the kernel begins it with another program's headers. */
#include <fcntl.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long call(long number, long a, long b, long c)
{
    long result = number;
    __asm__ volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static const char *value_of(char **environment, const char *name)
{
    for (; *environment; environment++) {
        unsigned long i = 0;
        while (name[i] && (*environment)[i] == name[i])
            i++;
        if (!name[i] && (*environment)[i] == '=')
            return *environment + i + 1;
    }
    return NULL;
}

static void print(const char *path)
{
    static char buffer[4096];
    const long fd = call(SYS_open, (long)path, O_RDONLY, 0);
    for (long n; (n = call(SYS_read, fd, (long)buffer, sizeof buffer)) > 0;)
        call(SYS_write, STDOUT_FILENO, (long)buffer, n);
}

__attribute__((used)) void foreign_begin(long *stack)
{
    char **arguments = (char **)(stack + 1), **environment = arguments + stack[0] + 1;
    if (value_of(environment, "LD_TRACE_LOADED_OBJECTS")) {
        print(value_of(environment, "FOREIGN_MODULES"));
        call(SYS_exit, 0, 0, 0);
    }
    call(SYS_execve, (long)"/bin/sh", (long)arguments, (long)environment);
    call(SYS_exit, 127, 0, 0);
}

__asm__(".globl _start\n"
        "_start: movq %rsp, %rdi\n"
        "andq $-16, %rsp\n"
        "call foreign_begin\n");
