/* A compiler's command line: what it asks for, and the flags that instrument what it compiles. */
#ifndef DWELL_BASE_COMPILER_LINE_H
#define DWELL_BASE_COMPILER_LINE_H

#include <stdbool.h>
#include <stddef.h>

enum compiler_kind { COMPILER_GCC, COMPILER_CLANG, COMPILER_OTHER };

/* How to instrument. */
struct instrumentation {
    bool headers;        /* also functions of the system's headers */
    bool frame_pointers; /* keep frame pointers, so that stacks can be read without unwind tables */
    const char *exclude; /* more parts of file names, separated by commas; NULL if none. GCC alone has it */
};

/* Whether this line compiles source of C, C++ or Fortran that shall be instrumented. These lines stay as they are:
 * those that only preprocess, check syntax, assemble, link or print something; the trials of configure, CMake and
 * meson, known by their file names or by `folder`, the current one; and those that already instrument or forbid to.
 * `arguments` ends with NULL and is without the compiler itself. */
bool compiler_line_compiles(char *const *arguments, const char *folder);

/* The kind by a program's file name, such as "x86_64-linux-gnu-gcc-12". COMPILER_OTHER if the name does not say. */
enum compiler_kind compiler_kind_of_name(const char *name);

/* The kind by the first lines that the compiler prints for --version. */
enum compiler_kind compiler_kind_of_version(const char *text);

/* Whether this program runs the compiler that its first argument names: ccache, distcc. */
bool compiler_is_launcher(const char *name);

enum { COMPILER_MAX_FLAGS = 6 };

/* The flags to append to the line. Returns their number. The one that is made for this call is in *made, for the caller
 * to free. */
size_t compiler_flags(enum compiler_kind kind, char *const *arguments, const struct instrumentation *i,
                      const char *flags[COMPILER_MAX_FLAGS], char **made);

#endif
