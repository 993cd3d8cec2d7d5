/* dwell cc and dwell c++: run a compiler with the flags that instrument what it compiles. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler_line.h"
#include "base/memory.h"
#include "commands/command_line.h"
#include "commands/commands.h"
#include "recorder/executable.h"

struct cc_settings {
    struct shared_options shared;
    struct instrumentation how;
    bool show;
};

static const struct option_row options[] = {
    { "frame-pointers", NULL, "Keep frame pointers, so that samples have their stacks",
      STORE_FLAG(struct cc_settings, how.frame_pointers) },
    { "headers", NULL,
      "Also instrument inline functions of the system's headers (GCC), and functions before they are inlined (clang)",
      STORE_FLAG(struct cc_settings, how.headers) },
    { "exclude", "LIST", "Leave out functions of files whose names contain one of these (GCC)",
      STORE_TEXT(struct cc_settings, how.exclude) },
    { "show", NULL, "Print the command instead of running it", STORE_FLAG(struct cc_settings, show) },
    { 0 },
};

#define CC_TEXT                                                                                                        \
    "Runs the compiler with the flags that instrument what it compiles.\v"                                             \
    "The first word is the compiler if it is a program; otherwise the compiler is cc (DWELL_CC) or c++ (DWELL_CXX). "  \
    "Options of dwell come before it.\n\n"                                                                             \
    "Functions of the system's headers are left out: small templates of the C++ library are most of a program's "      \
    "calls, and not its own. GCC gets -finstrument-functions-exclude-file-list, clang "                                \
    "-finstrument-functions-after-inlining. -g is added unless the line has an option that begins so.\n\n"             \
    "Source of C, C++ and Fortran is instrumented. For Ada, give gnatmake -cargs -finstrument-functions.\n\n"          \
    "Lines that only preprocess, assemble, link or print something stay as they are. So do trials of configure, "      \
    "CMake and meson, and lines that have -finstrument-functions already.\n\nExamples:\n"                              \
    "  make CC='dwell cc' CXX='dwell c++'\n"                                                                           \
    "  CC='dwell cc' CXX='dwell c++' ./configure\n"                                                                    \
    "  cmake -DCMAKE_C_COMPILER_LAUNCHER='dwell;cc' -DCMAKE_CXX_COMPILER_LAUNCHER='dwell;c++' ..\n"                    \
    "  CC='dwell cc' CXX='dwell c++' meson setup build\n"                                                              \
    "  dwell cc ccache gcc -O2 -c part.c\n"                                                                            \
    "  dwell cc --show gcc -O2 -c part.c"

static const struct command_line lines[] = {
    { .name = "cc",
      .arguments = "[COMPILER] [ARGUMENT...]",
      .text = CC_TEXT,
      .options = options,
      .program_follows = true },
    { .name = "c++",
      .arguments = "[COMPILER] [ARGUMENT...]",
      .text = CC_TEXT,
      .options = options,
      .program_follows = true },
};

/* The number of words that are options of dwell. A compiler's options may begin with any letters, so only these are. */
static int cc_count_options(int argc, char **argv)
{
    int count = 1;
    while (count < argc && strncmp(argv[count], "--", 2) == 0) {
        const size_t length = strcspn(argv[count] + 2, "=");
        bool own = strcmp(argv[count], "--help") == 0 || strcmp(argv[count], "--print-options") == 0 ||
                   strcmp(argv[count], "--print-text") == 0;
        for (const struct option_row *o = options; o->name && !own; o++) {
            own = strlen(o->name) == length && memcmp(o->name, argv[count] + 2, length) == 0;
            if (own && o->argument && !argv[count][2 + length])
                count++;
        }
        if (!own)
            break;
        count++;
    }
    return count < argc ? count : argc;
}

static char *cc_find_program(const char *word)
{
    if (word[0] == '-' || word[0] == '@')
        return NULL;
    struct executable e = executable_examine(word);
    if (e.path && e.status != STATUS_NOT_FOUND && access(e.path, X_OK) == 0)
        return e.path;
    free(e.path);
    return NULL;
}

static char *cc_ask_version(const char *compiler)
{
    char *text = need_memory(4096, 1);
    int ends[2];
    if (pipe(ends) < 0)
        return text;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDOUT_FILENO);
        close(ends[0]);
        close(ends[1]);
        execlp(compiler, compiler, "--version", (char *)NULL);
        _exit(STATUS_NOT_FOUND);
    }
    close(ends[1]);
    size_t size = 0;
    for (ssize_t got; size < 4095 && (got = read(ends[0], text + size, 4095 - size)) != 0;) {
        if (got > 0)
            size += (size_t)got;
        else if (errno != EINTR)
            break;
    }
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return text;
}

/* Compilers have many names: cc is a link to gcc or clang, and with ccache a link to ccache. */
static enum compiler_kind cc_kind_of(const char *compiler)
{
    enum compiler_kind kind = compiler_kind_of_name(compiler);
    char *path = kind == COMPILER_OTHER ? cc_find_program(compiler) : NULL, *real = path ? realpath(path, NULL) : NULL;
    if (real)
        kind = compiler_kind_of_name(real);
    free(real);
    free(path);
    if (kind != COMPILER_OTHER)
        return kind;
    char *text = cc_ask_version(compiler);
    kind = compiler_kind_of_version(text);
    free(text);
    return kind;
}

/* As a shell reads it. */
static void cc_print_word(const char *word)
{
    if (*word &&
        strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%") == strlen(word)) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word; word++) {
        if (*word == '\'')
            fputs("'\\'", stdout);
        putchar(*word);
    }
    putchar('\'');
}

static void cc_print_command(char *const *command)
{
    for (; *command; command++) {
        cc_print_word(*command);
        putchar(command[1] ? ' ' : '\n');
    }
}

static char **cc_make_command(int argc, char **argv, bool cxx, const struct instrumentation *how)
{
    const char *usual = getenv(cxx ? "DWELL_CXX" : "DWELL_CC");
    if (!usual || !*usual)
        usual = cxx ? "c++" : "cc";
    char **command = need_memory((size_t)argc + COMPILER_MAX_FLAGS + 2, sizeof *command);
    int count = 0, next = 0;
    char *path = argc ? cc_find_program(argv[0]) : NULL;
    if (!path)
        command[count++] = need_copy(usual, strlen(usual));
    free(path);
    while (next < argc)
        command[count++] = argv[next++];
    int compiler = 0;
    while (compiler_is_launcher(command[compiler]) && command[compiler + 1])
        compiler++;
    char *folder = getcwd(NULL, 0), **arguments = command + compiler + 1, *made;
    const char *flags[COMPILER_MAX_FLAGS];
    if (compiler_line_compiles(arguments, folder ? folder : "")) {
        const size_t flag_count = compiler_flags(cc_kind_of(command[compiler]), arguments, how, flags, &made);
        for (size_t i = 0; i < flag_count; i++)
            command[count++] = (char *)flags[i];
    }
    free(folder);
    return command;
}

static int cc_run(int argc, char **argv, bool cxx)
{
    struct cc_settings s = { .show = false };
    const int own = cc_count_options(argc, argv);
    command_line_parse(&lines[cxx], own, argv, &s, &s.shared);
    if (own == argc)
        die(STATUS_ERROR, "no command of a compiler; dwell %s --help has examples", lines[cxx].name);
    char **command = cc_make_command(argc - own, argv + own, cxx, &s.how);
    if (s.show) {
        cc_print_command(command);
        return finish_output();
    }
    execvp(command[0], command);
    const int status = errno == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
    die(status, "%s: cannot be run: %s", command[0], strerror(errno));
}

int command_cc(int argc, char **argv)
{
    return cc_run(argc, argv, false);
}

int command_cxx(int argc, char **argv)
{
    return cc_run(argc, argv, true);
}
