/* The kernel's code for programs, the vDSO, as a file: sessions have it as a module, but it is in none. */
#ifndef DWELL_SYMBOLS_KERNELS_MODULE_H
#define DWELL_SYMBOLS_KERNELS_MODULE_H

#include <stdbool.h>

/* Whether a module has that path. */
bool kernels_module_is(const char *path);

/* Opens that of the kernel that runs now. A session of another kernel has another build-id. Returns a descriptor that
 * the caller closes; -1 with errno if there is none. */
int kernels_module_open(void);

#endif
