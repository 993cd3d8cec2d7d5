/* Reads the beginning of a program, to find its loader. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "executed.h"
#include "sys.h"

#if defined(__x86_64__)
#define THIS_MACHINE EM_X86_64
#else
#define THIS_MACHINE EM_AARCH64
#endif

enum {
    MAX_PATH = 1024,       /* the stack may be small; a program with a longer path is taken for one of glibc */
    MAX_INTERPRETERS = 5,  /* as many as the kernel follows */
    MAX_PROGRAM_PARTS = 64 /* headers to look at */
};

static int executed_open(int folder, const char *path)
{
    return (int)SYS4(openat, folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
}

/* As execvp does: the first file in PATH that may be executed. */
static int executed_search(const char *name)
{
    char path[MAX_PATH];
    const char *folders = getenv("PATH");
    for (const char *at = folders ? folders : "/bin:/usr/bin";; at++) {
        const size_t length = (size_t)(strchrnul(at, ':') - at);
        if (length + strlen(name) + 2 <= sizeof path) {
            char *end = mempcpy(path, at, length);
            if (length > 0)
                *end++ = '/';
            strcpy(end, name);
            if (SYS3(faccessat, AT_FDCWD, path, X_OK) == 0)
                return executed_open(AT_FDCWD, path);
        }
        at += length;
        if (!*at)
            return -ENOENT;
    }
}

/* Reads `size` bytes. Returns false if there are fewer. */
static bool executed_read(int fd, void *to, size_t size, uint64_t offset)
{
    return SYS4(pread64, fd, to, size, offset) == (long)size;
}

/* Reads the path of a script's interpreter. Returns false if the file is no script. */
static bool executed_read_interpreter(int fd, char path[MAX_PATH])
{
    const long got = SYS4(pread64, fd, path, MAX_PATH - 1, 0);
    if (got < 2 || path[0] != '#' || path[1] != '!')
        return false;
    path[got] = '\0';
    char *from = path + 2;
    while (*from == ' ' || *from == '\t')
        from++;
    const size_t length = strcspn(from, " \t\n");
    memmove(path, from, length);
    path[length] = '\0';
    return length > 0;
}

static bool executed_refuses(int fd)
{
    Elf64_Ehdr header;
    if (!executed_read(fd, &header, sizeof header, 0) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != THIS_MACHINE)
        return true;
    for (int i = 0; i < header.e_phnum && i < MAX_PROGRAM_PARTS; i++) {
        Elf64_Phdr part;
        char loader[256];
        if (!executed_read(fd, &part, sizeof part, header.e_phoff + (uint64_t)i * sizeof part))
            return false;
        if (part.p_type != PT_INTERP)
            continue;
        if (part.p_filesz >= sizeof loader || !executed_read(fd, loader, part.p_filesz, part.p_offset))
            return false;
        loader[part.p_filesz] = '\0';
        return strstr(loader, "/ld-musl-") != NULL;
    }
    return false;
}

bool executed_refuses_library(const struct executed *program)
{
    if (!program->path)
        return false;
    const bool given = !*program->path && !program->search; /* a descriptor of the program's own */
    const bool searched = program->search && !strchr(program->path, '/');
    int fd = given ? program->folder : -1;
    if (searched)
        fd = executed_search(program->path);
    else if (!given)
        fd = executed_open(program->folder, program->path);
    char path[MAX_PATH];
    bool refuses = false;
    for (int i = 0; fd >= 0; i++) {
        const bool script = i < MAX_INTERPRETERS && executed_read_interpreter(fd, path);
        refuses = !script && executed_refuses(fd);
        if (!given || i > 0)
            sys_close(fd);
        fd = script ? executed_open(AT_FDCWD, path) : -1;
    }
    return refuses;
}
