/* Where libdwell.so is. */
#ifndef DWELL_COMMANDS_RUNTIME_LIBRARY_H
#define DWELL_COMMANDS_RUNTIME_LIBRARY_H

struct runtime_library {
    char *path;  /* the caller frees it; NULL if there is none */
    char *wrong; /* why it cannot be preloaded, likewise; NULL if it can */
};

/* Looks beside this program in its build directory, else where it was installed. */
struct runtime_library runtime_library_find(void);

#endif
