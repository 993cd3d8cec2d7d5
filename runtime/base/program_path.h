/* The file of the recorded program. */
#ifndef DWELL_PROGRAM_PATH_H
#define DWELL_PROGRAM_PATH_H

#include "common.h"

#pragma GCC visibility push(hidden)

/* Writes the path of the program's file, without an end mark, and returns its length; zero if it is unknown. It is not
 * /proc/self/exe if the loader was started as a program. Without /proc, it is the path that was executed, made absolute
 * while the program is in the directory it started in. */
size_t program_path(char *path, size_t size);

/* The part of a relative path to which a folder is added: it has no ./ at its beginning. */
struct text program_path_below(struct text name);

#pragma GCC visibility pop

#endif
