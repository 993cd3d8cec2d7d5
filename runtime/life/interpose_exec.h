/* The environment that programs which are executed get (interpose_exec.c). */
#ifndef DWELL_RUNTIME_INTERPOSE_EXEC_H
#define DWELL_RUNTIME_INTERPOSE_EXEC_H

/* In a forked child: removes the recording's variables again if other threads of its parent were in system or popen. */
__attribute__((visibility("hidden"))) void interpose_exec_forked(void);

#endif
