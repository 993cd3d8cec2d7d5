/*
 * The functions of libc that the runtime calls. own_libc.h gives each of these names another, hidden meaning: a jump to
 * libc's own function, which libc.c finds. The macro F gets a name.
 */
#ifndef DWELL_LIBC_NAMES_H
#define DWELL_LIBC_NAMES_H

#define LIBC_COMMON(F)                                                                                                 \
    F(__cxa_at_quick_exit)                                                                                             \
    F(__errno_location)                                                                                                \
    F(__register_atfork)                                                                                               \
    F(dl_iterate_phdr)                                                                                                 \
    F(duplocale)                                                                                                       \
    F(freelocale)                                                                                                      \
    F(getauxval)                                                                                                       \
    F(newlocale)                                                                                                       \
    F(pthread_condattr_destroy)                                                                                        \
    F(pthread_condattr_init)                                                                                           \
    F(pthread_condattr_setclock)                                                                                       \
    F(pthread_detach)                                                                                                  \
    F(pthread_getspecific)                                                                                             \
    F(pthread_key_create)                                                                                              \
    F(pthread_setcancelstate)                                                                                          \
    F(pthread_setspecific)                                                                                             \
    F(snprintf)                                                                                                        \
    F(strtod)                                                                                                          \
    F(sysconf)                                                                                                         \
    F(uname)                                                                                                           \
    F(uselocale)                                                                                                       \
    F(vsnprintf)

/* Newer C libraries have it. */
#define LIBC_OPTIONAL(F) F(_dl_find_object)

#if defined(DWELL_ARCHIVE)
/* The shared library has functions of its own in place of these, and calls those. */
#define LIBC_ONE_SIDED(F)                                                                                              \
    F(pthread_cond_destroy)                                                                                            \
    F(pthread_cond_init)                                                                                               \
    F(pthread_cond_signal)                                                                                             \
    F(pthread_cond_timedwait)                                                                                          \
    F(pthread_mutex_lock)                                                                                              \
    F(pthread_mutex_unlock)                                                                                            \
    F(sigaction)
#else
/* What only the interposed functions need. */
#define LIBC_ONE_SIDED(F)                                                                                              \
    F(__pthread_register_cancel)                                                                                       \
    F(__pthread_unregister_cancel)                                                                                     \
    F(__pthread_unwind_next)                                                                                           \
    F(dlsym)                                                                                                           \
    F(dlvsym)                                                                                                          \
    F(sem_getvalue)
#endif

#define LIBC_FUNCTIONS(F)                                                                                              \
    LIBC_COMMON(F)                                                                                                     \
    LIBC_OPTIONAL(F)                                                                                                   \
    LIBC_ONE_SIDED(F)

#endif
