/* Finds a program along PATH and reads its ELF headers, to see if it can be run and recorded. */
#include "recorder/executable.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/exit_status.h"
#include "base/memory.h"
#include "symbols/elf_facts.h"

#if defined(__x86_64__)
#define THIS_MACHINE EM_X86_64
#else
#define THIS_MACHINE EM_AARCH64
#endif

static bool executable_is_program(const char *path, int *error)
{
    struct stat status;
    if (stat(path, &status) < 0) {
        *error = errno;
        return false;
    }
    if (!S_ISREG(status.st_mode) || access(path, X_OK) < 0) {
        *error = EACCES;
        return false;
    }
    return true;
}

/* Like execvp, looks for a name without a slash along PATH. */
static char *executable_find_program(const char *program, int *error)
{
    *error = ENOENT;
    if (strchr(program, '/'))
        return executable_is_program(program, error) ? need_copy(program, strlen(program)) : NULL;
    const char *path = getenv("PATH");
    if (!path)
        path = "/bin:/usr/bin";
    int worst = ENOENT;
    while (*program) {
        size_t length = strcspn(path, ":");
        char *candidate = need_memory(length + strlen(program) + 3, 1);
        sprintf(candidate, "%.*s%s%s", (int)length, path, length ? "/" : "./", program);
        if (executable_is_program(candidate, error))
            return candidate;
        free(candidate);
        if (*error == EACCES)
            worst = EACCES;
        if (path[length] == '\0')
            break;
        path += length + 1;
    }
    *error = worst;
    return NULL;
}

static void executable_examine_elf(struct executable *e, Elf *elf)
{
    GElf_Ehdr header;
    if (!gelf_getehdr(elf, &header))
        return; /* execv will report the error */
    e->has_runtime = elf_has_runtime(elf);
    if (header.e_machine != THIS_MACHINE || gelf_getclass(elf) != ELFCLASS64) {
        e->wrong = "is for another architecture than this dwell, which records 64-bit programs of its own";
        e->status = STATUS_OWN_FAILURE;
    } else if (elf_is_loader(elf)) {
        e->is_loader = true;
        e->wrong = "is the loader of other programs: name the program to load";
        e->status = STATUS_OWN_FAILURE;
    } else if (!elf_has_segment(elf, PT_INTERP) && !e->has_runtime) {
        e->wrong = "is statically linked, so libdwell.so cannot be loaded into it; link it with libdwell.a";
        e->status = STATUS_OWN_FAILURE;
    } else if (elf_needs_musl(elf)) { /* preloading would make its loader fail */
        e->wrong = "uses musl, and libdwell.so needs glibc; build it for glibc to record it";
        e->status = STATUS_OWN_FAILURE;
    }
}

struct executable executable_examine(const char *program)
{
    struct executable e = { .path = NULL };
    int error;
    e.path = executable_find_program(program, &error);
    if (!e.path) {
        e.status = error == ENOENT || error == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
        int ignored;
        const bool here = !strchr(program, '/') && executable_is_program(program, &ignored);
        e.wrong = error == ENOENT && here ? "not in PATH; write ./ before the name of a program in this folder"
                  : error == ENOENT       ? "no such program"
                  : error == EACCES       ? "not executable"
                                          : strerror(error);
        return e;
    }
    int fd = open(e.path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return e; /* executable, but not readable */
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) == ELF_K_ELF)
        executable_examine_elf(&e, elf);
    elf_end(elf);
    close(fd);
    return e;
}

/* glibc's options with a value of their own. */
static bool executable_is_option_with_value(const char *word)
{
    static const char *const options[] = { "--library-path",     "--inhibit-rpath", "--audit",
                                           "--preload",          "--argv0",         "--glibc-hwcaps-prepend",
                                           "--glibc-hwcaps-mask" };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strcmp(word, options[i]) == 0)
            return true;
    return false;
}

/* The word of a loader's command that names the program, or NULL. */
static const char *executable_find_loaded(char *const *command)
{
    for (char *const *word = command + 1; *word; word++) {
        if (strncmp(*word, "--", 2) != 0)
            return *word;
        if (executable_is_option_with_value(*word) && !*++word)
            return NULL;
    }
    return NULL;
}

struct executable executable_examine_command(char *const *command, const char **file)
{
    struct executable e = executable_examine(command[0]);
    const char *loaded = e.is_loader ? executable_find_loaded(command) : NULL;
    *file = loaded ? loaded : e.path;
    if (!loaded)
        return e;
    e.status = 0;
    if (!strchr(loaded, '/') || access(loaded, R_OK) < 0) /* the loader will find it where libraries are, or not */
        return e;
    const struct executable program = executable_examine(loaded);
    free(program.path);
    /* The loader needs no permission to execute it. */
    e.status = program.status == STATUS_NOT_EXECUTABLE ? 0 : program.status;
    e.wrong = program.wrong;
    e.has_runtime = program.has_runtime;
    return e;
}

bool executable_has_own_hooks(const struct executable *e, const char *file)
{
    return !e->has_runtime && !e->status && elf_defines(file, "__cyg_profile_func_enter");
}
