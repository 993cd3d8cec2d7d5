/* The names of libc's functions by which a program calls the operating system, and of libgomp's that wait. The runtime
 * interposes each and makes its calls rows (oscalls.c). The analyzer uses the names to recognize these functions. */
#ifndef DWELL_RUNTIME_OSCALLS_NAMES_H
#define DWELL_RUNTIME_OSCALLS_NAMES_H

/* clang-format off */
#define OS_CALLS(X) \
    /* files */ \
    X(open) X(open64) X(openat) X(openat64) X(creat) X(creat64) X(close) \
    X(read) X(pread) X(pread64) X(readv) X(preadv) X(preadv64) X(preadv2) X(preadv64v2) \
    X(write) X(pwrite) X(pwrite64) X(writev) X(pwritev) X(pwritev64) X(pwritev2) X(pwritev64v2) \
    X(lseek) X(lseek64) X(fsync) X(fdatasync) X(sync) X(syncfs) X(sync_file_range) X(posix_fadvise) X(posix_fadvise64) \
    X(ftruncate) X(ftruncate64) X(truncate) X(truncate64) X(fallocate) X(fallocate64) \
    X(posix_fallocate) X(posix_fallocate64) X(sendfile) X(sendfile64) X(copy_file_range) X(splice) X(tee) X(vmsplice) \
    X(ioctl) X(fcntl) X(fcntl64) X(flock) X(lockf) X(lockf64) X(dup) X(dup2) X(dup3) X(pipe) X(pipe2) \
    /* names of files */ \
    X(stat) X(stat64) X(lstat) X(lstat64) X(fstat) X(fstat64) X(fstatat) X(fstatat64) X(statx) X(access) X(faccessat) \
    X(unlink) X(unlinkat) X(rename) X(renameat) X(link) X(symlink) X(readlink) X(mkdir) X(rmdir) X(chdir) \
    X(opendir) X(closedir) \
    /* streams */ \
    X(fopen) X(fopen64) X(freopen) X(freopen64) X(fclose) X(fflush) X(fread) X(fgets) X(getline) X(getdelim) \
    X(fwrite) X(fputs) X(puts) X(fputc) X(fprintf) X(popen) X(pclose) \
    /* sockets, and waiting for descriptors */ \
    X(socket) X(socketpair) X(bind) X(listen) X(accept) X(accept4) X(connect) X(shutdown) \
    X(recv) X(recvfrom) X(recvmsg) X(recvmmsg) X(send) X(sendto) X(sendmsg) X(sendmmsg) \
    X(poll) X(ppoll) X(select) X(pselect) X(epoll_wait) X(epoll_pwait) X(epoll_pwait2) X(epoll_ctl) \
    X(mq_send) X(mq_timedsend) X(mq_receive) X(mq_timedreceive) X(msgsnd) X(msgrcv) X(semop) X(semtimedop) \
    X(epoll_create1) X(eventfd_read) X(eventfd_write) X(getrandom) \
    /* sleeping, and waiting for signals */ \
    X(sleep) X(usleep) X(nanosleep) X(clock_nanosleep) X(pause) X(sigsuspend) X(sigwait) X(sigwaitinfo) X(sigtimedwait) \
    X(kill) X(tgkill) X(sigqueue) X(pthread_kill) X(pthread_sigqueue) \
    X(sched_yield) X(thrd_sleep) X(thrd_yield) X(syscall) \
    /* processes */ \
    X(wait) X(waitpid) X(wait3) X(wait4) X(waitid) X(posix_spawn) X(posix_spawnp) X(system) \
    /* threads */ \
    X(pthread_create) X(pthread_join) X(pthread_tryjoin_np) X(pthread_timedjoin_np) X(pthread_clockjoin_np) \
    X(pthread_mutex_lock) X(pthread_mutex_timedlock) X(pthread_mutex_clocklock) \
    X(pthread_cond_wait) X(pthread_cond_timedwait) X(pthread_cond_clockwait) \
    X(pthread_rwlock_rdlock) X(pthread_rwlock_timedrdlock) X(pthread_rwlock_clockrdlock) \
    X(pthread_rwlock_wrlock) X(pthread_rwlock_timedwrlock) X(pthread_rwlock_clockwrlock) \
    X(pthread_barrier_wait) X(sem_wait) X(sem_timedwait) X(sem_clockwait) \
    X(thrd_create) X(thrd_join) X(mtx_lock) X(mtx_timedlock) X(cnd_wait) X(cnd_timedwait) \
    X(pthread_mutex_unlock) X(pthread_cond_signal) X(pthread_cond_broadcast) X(pthread_rwlock_unlock) X(sem_post) \
    X(mtx_unlock) X(cnd_signal) X(cnd_broadcast) \
    /* teams of OpenMP, which libgomp has */ \
    X(GOMP_parallel) X(GOMP_parallel_end) X(GOMP_barrier) X(GOMP_barrier_cancel) X(GOMP_loop_end) \
    X(GOMP_loop_end_cancel) X(GOMP_sections_end) X(GOMP_sections_end_cancel) X(GOMP_single_copy_start) \
    X(GOMP_single_copy_end) X(GOMP_taskwait) X(GOMP_taskgroup_end) \
    /* memory */ \
    X(mmap) X(mmap64) X(munmap) X(mprotect) X(mremap) X(madvise) X(msync) X(mlock) X(munlock)
/* clang-format on */

#endif
