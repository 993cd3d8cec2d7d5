/* Asks the loader which libraries a program is linked with. */
#include "recorder/program_modules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "symbols/elf_facts.h"

/* With LD_TRACE_LOADED_OBJECTS, the loader lists the libraries and does not run the program. */
static bool program_modules_list_libraries(const char *path, program_module_taker *take, void *context,
                                           struct error *error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) < 0)
        return error_set(error, "pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0) {
        setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
        dup2(ends[1], STDOUT_FILENO);
        dup2(open("/dev/null", O_RDWR), STDERR_FILENO);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    FILE *in = pid < 0 ? NULL : fdopen(ends[0], "r");
    char *line = NULL;
    size_t room = 0;
    while (in && getline(&line, &room, in) >= 0) {
        char *name = line + strspn(line, "\t "), *arrow = strstr(name, "=> "), *end = strstr(name, " (0x");
        const char *file = arrow ? arrow + 3 : name; /* a path may be relative */
        if (!end || !strchr(file, '/'))
            continue;
        *end = '\0';
        take(context, file);
    }
    free(line);
    if (in)
        fclose(in);
    int status;
    struct interruptions interruptions = { 0 };
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && interrupted(&interruptions))
        ;
    return true;
}

/* A static program has no loader that could list them: it would run. */
bool program_modules_list(const char *path, program_module_taker *take, void *context, struct error *error)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    elf_version(EV_CURRENT);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    const bool binary = elf && elf_kind(elf) == ELF_K_ELF, loaded = binary && elf_has_segment(elf, PT_INTERP);
    elf_end(elf);
    if (fd >= 0)
        close(fd);
    if (binary)
        take(context, path);
    return !loaded || program_modules_list_libraries(path, take, context, error);
}
