/* Where libdwell.so is. */
#ifndef DWELL_COMMANDS_RUNTIME_LIBRARY_H
#define DWELL_COMMANDS_RUNTIME_LIBRARY_H

struct runtime_library {
    char *path;  /* owned by the caller; NULL where there is none */
    char *wrong; /* why it cannot be preloaded, likewise; NULL: it can */
};

/* Beside this program in its build folder, else where it was installed. */
struct runtime_library runtime_library_find(void);

#endif
