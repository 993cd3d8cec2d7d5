/* Finds libdwell.so, which is preloaded into recorded programs. */
#ifndef DWELL_RECORDER_RUNTIME_LIBRARY_H
#define DWELL_RECORDER_RUNTIME_LIBRARY_H

struct runtime_library {
    char *path;  /* the caller frees it; NULL if there is none */
    char *wrong; /* why it cannot be preloaded; the caller frees it; NULL if it can */
};

/* Looks in the build directory if dwell runs from there, and otherwise in the place where it was installed. */
struct runtime_library runtime_library_find(void);

#endif
