/*
 * Runs a seccomp filter (classic BPF) as the kernel would. The runtime asks it before each system call of its own in a
 * program that has forbidden itself some (sandbox.c).
 */
#ifndef DWELL_RUNTIME_BPF_H
#define DWELL_RUNTIME_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>

/*
 * Returns the filter's answer to the system call `data`: SECCOMP_RET_... with its 16 bits of data. A malformed program
 * gives SECCOMP_RET_KILL_PROCESS: it has more than BPF_MAXINSNS instructions, reaches one that seccomp does not have,
 * or leaves the program without a return. Always ends. Safe in signal handlers and in any thread.
 */
__attribute__((visibility("hidden"))) uint32_t bpf_run(const struct sock_filter *code, uint32_t length,
                                                       const struct seccomp_data *data);

#endif
