/* Changes of the process' privileges, made without the helper thread. */
#ifndef DWELL_RUNTIME_INTERPOSE_PRIVILEGE_H
#define DWELL_RUNTIME_INTERPOSE_PRIVILEGE_H

#include <stdbool.h>

/* True: changes of privileges are seen. There must be no helper without that, so upward.c takes these functions into
 * programs that contain libdwell.a. */
__attribute__((visibility("hidden"))) bool privilege_is_watched(void);

#endif
