/* Reads a compiler's command line, as GCC and clang take it, and chooses the flags that instrument. */
#include "base/compiler_line.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/path_text.h"

static bool compiler_line_has_word(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

/* Options whose value is the next argument, which is no source then. */
static bool compiler_line_takes_value(const char *option)
{
    static const char *const list[] = {
        "-o",
        "-I",
        "-D",
        "-U",
        "-L",
        "-l",
        "-T",
        "-u",
        "-x",
        "-z",
        "-e",
        "-A",
        "-B",
        "-MF",
        "-MT",
        "-MQ",
        "-include",
        "-imacros",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-iprefix",
        "-isysroot",
        "-iwithprefix",
        "-iwithprefixbefore",
        "-imultilib",
        "-aux-info",
        "-arch",
        "-target",
        "-Xlinker",
        "-Xpreprocessor",
        "-Xassembler",
        "-Xclang",
        "-Xanalyzer",
        "-mllvm",
        "--param",
        "--sysroot",
        "-dumpbase",
        "-dumpdir",
        "-dumpbase-ext",
        "-wrapper",
        "-specs",
        NULL,
    };
    return compiler_line_has_word(list, option);
}

/* Options with which nothing is compiled to code that runs. */
static bool compiler_line_only_looks(const char *option)
{
    static const char *const list[] = { "-E",         "-M",           "-MM",          "-fsyntax-only",
                                        "-###",       "--version",    "--help",       "--analyze",
                                        "-dumpspecs", "-dumpversion", "-dumpmachine", "--target-help",
                                        NULL };
    return compiler_line_has_word(list, option) || strncmp(option, "-print-", 7) == 0 ||
           strncmp(option, "--print-", 8) == 0 || strncmp(option, "--help=", 7) == 0;
}

/* Lists of what is left out (dwell advise --flags gcc) only add to dwell's flags. */
static bool compiler_line_decides_itself(const char *option)
{
    if (strncmp(option, "-finstrument-functions-exclude-", 31) == 0)
        return false;
    return strncmp(option, "-finstrument-functions", 22) == 0 || strcmp(option, "-fno-instrument-functions") == 0;
}

static bool compiler_line_is_source(const char *name)
{
    static const char *const list[] = { ".c",    ".i",   ".cc",  ".cp",  ".cxx", ".cpp", ".CPP", ".c++", ".C",
                                        ".ii",   ".m",   ".mm",  ".h",   ".hh",  ".hpp", ".hxx", ".H",   ".ixx",
                                        ".cppm", ".f",   ".for", ".ftn", ".f90", ".f95", ".f03", ".f08", ".F",
                                        ".FOR",  ".FTN", ".F90", ".F95", ".F03", ".F08", NULL };
    const char *end = strrchr(name, '.');
    return end && !strchr(end, '/') && compiler_line_has_word(list, end);
}

/* Whether -x names a language that is compiled, so that files of any name are sources. "none" goes back to names. */
static bool compiler_line_is_language(const char *language)
{
    return strncmp(language, "assembler", 9) != 0 && strcmp(language, "none") != 0;
}

/* Build systems compile small programs to see what the compiler can do. They look at the code and at what is printed.
 */
static bool compiler_line_is_trial(const char *path)
{
    static const char *const parts[] = { "CMakeFiles/CMakeTmp", "CMakeFiles/CMakeScratch", "CompilerIdC",
                                         "meson-private/",      "CMakeCCompilerABI.c",     "CMakeCXXCompilerABI.cpp" };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strstr(path, parts[i]))
            return true;
    return strncmp(path_file_name(path), "conftest.", 9) == 0;
}

bool compiler_line_compiles(char *const *arguments, const char *folder)
{
    bool has_source = false, any_name = false, assembler = false;
    for (; *arguments; arguments++) {
        const char *a = *arguments;
        if (compiler_line_only_looks(a) || compiler_line_decides_itself(a))
            return false;
        const bool apart = strcmp(a, "-x") == 0;
        if (apart || strncmp(a, "-x", 2) == 0) {
            const char *language = !apart ? a + 2 : arguments[1] ? arguments[1] : "none";
            any_name = compiler_line_is_language(language);
            assembler = strncmp(language, "assembler", 9) == 0;
        }
        if (compiler_line_takes_value(a)) {
            if (arguments[1])
                arguments++;
            continue;
        }
        if (a[0] == '@') /* a file of arguments */
            has_source = true;
        else if ((a[0] != '-' || !a[1]) && !assembler && (any_name || compiler_line_is_source(a))) {
            if (compiler_line_is_trial(a))
                return false;
            has_source = true;
        }
    }
    char *inside = need_text("%s/", folder);
    const bool trial = compiler_line_is_trial(inside);
    free(inside);
    return has_source && !trial;
}

enum compiler_kind compiler_kind_of_name(const char *name)
{
    name = path_file_name(name);
    if (strstr(name, "clang"))
        return COMPILER_CLANG;
    return strstr(name, "gcc") || strstr(name, "g++") ? COMPILER_GCC : COMPILER_OTHER;
}

enum compiler_kind compiler_kind_of_version(const char *text)
{
    if (strstr(text, "clang"))
        return COMPILER_CLANG;
    return strstr(text, "Free Software Foundation") ? COMPILER_GCC : COMPILER_OTHER;
}

bool compiler_is_launcher(const char *name)
{
    static const char *const list[] = { "ccache", "sccache", "distcc", "icecc", "env", NULL };
    return compiler_line_has_word(list, path_file_name(name));
}

static bool compiler_line_chooses_debug(char *const *arguments)
{
    for (; *arguments; arguments++)
        if (strncmp(*arguments, "-g", 2) == 0)
            return true;
    return false;
}

size_t compiler_flags(enum compiler_kind kind, char *const *arguments, const struct instrumentation *i,
                      const char *flags[COMPILER_MAX_FLAGS], char **made)
{
    size_t count = 0;
    *made = NULL;
    flags[count++] =
        kind == COMPILER_CLANG && !i->headers ? "-finstrument-functions-after-inlining" : "-finstrument-functions";
    if (kind == COMPILER_GCC && (!i->headers || i->exclude)) {
        *made =
            need_text("-finstrument-functions-exclude-file-list=%s%s%s", i->headers ? "" : "/usr/include,/usr/lib/gcc",
                      !i->headers && i->exclude ? "," : "", i->exclude ? i->exclude : "");
        flags[count++] = *made;
    }
    if (!compiler_line_chooses_debug(arguments))
        flags[count++] = "-g";
    if (i->frame_pointers) {
        flags[count++] = "-fno-omit-frame-pointer";
        flags[count++] = "-mno-omit-leaf-frame-pointer";
    }
    return count;
}
