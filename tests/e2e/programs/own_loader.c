/*
 * A program with instrumented functions of its own under those names of libc that the runtime calls, as caches of the
 * loader's list have them. Each passes on to libc's. The program prints how often it has called each. A call more would
 * be the runtime's.
 */
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <locale.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/utsname.h>
#include <unistd.h>

#define UNPROFILED __attribute__((no_instrument_function))

#ifdef STATIC
#define LIST(F)                                                                                                        \
    F(int, dl_iterate_phdr, (int (*visit)(struct dl_phdr_info *, size_t, void *), void *data), (visit, data))
#else
#define LIST(F)                                                                                                        \
    F(int, dl_iterate_phdr, (int (*visit)(struct dl_phdr_info *, size_t, void *), void *data), (visit, data))          \
    F(int *, __errno_location, (void), ())                                                                             \
    F(unsigned long, getauxval, (unsigned long type), (type))                                                          \
    F(long, sysconf, (int name), (name))                                                                               \
    F(int, uname, (struct utsname * names), (names))                                                                   \
    F(int, pthread_key_create, (pthread_key_t * key, void (*end)(void *)), (key, end))                                 \
    F(int, pthread_setspecific, (pthread_key_t key, const void *value), (key, value))                                  \
    F(void *, pthread_getspecific, (pthread_key_t key), (key))                                                         \
    F(int, pthread_mutex_lock, (pthread_mutex_t * mutex), (mutex))                                                     \
    F(int, pthread_mutex_unlock, (pthread_mutex_t * mutex), (mutex))                                                   \
    F(int, sem_getvalue, (sem_t * semaphore, int *value), (semaphore, value))                                          \
    F(int, sigaction, (int number, const struct sigaction *action, struct sigaction *old), (number, action, old))      \
    F(locale_t, uselocale, (locale_t locale), (locale))                                                                \
    F(void *, dlsym, (void *handle, const char *name), (handle, name))
#endif

enum {
#define F(result, name, parameters, arguments) COUNT_##name,
    LIST(F)
#undef F
        COUNTS
};
static unsigned long counts[COUNTS];
static const char *const names[] = {
#define F(result, name, parameters, arguments) #name,
    LIST(F)
#undef F
};

#ifdef STATIC
/* The program itself is the only one in the list. */
int dl_iterate_phdr(int (*visit)(struct dl_phdr_info *, size_t, void *), void *data)
{
    __atomic_fetch_add(&counts[COUNT_dl_iterate_phdr], 1, __ATOMIC_RELAXED);
    struct dl_phdr_info info = {
        .dlpi_name = "",
        .dlpi_phdr = (const ElfW(Phdr) *)getauxval(AT_PHDR),
        .dlpi_phnum = (ElfW(Half))getauxval(AT_PHNUM),
    };
    return visit(&info, sizeof info, data);
}
#else
UNPROFILED static void *next(const char *name)
{
    static const char *const versions[] = { "GLIBC_2.2.5", "GLIBC_2.34", "GLIBC_2.35",
                                            "GLIBC_2.16",  "GLIBC_2.17", "GLIBC_2.3" };
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        void *found = dlvsym(RTLD_NEXT, name, versions[i]);
        if (found)
            return found;
    }
    abort();
}

#define F(result, name, parameters, arguments)                                                                         \
    result name parameters                                                                                             \
    {                                                                                                                  \
        static union {                                                                                                 \
            void *found;                                                                                               \
            result(*real) parameters;                                                                                  \
        } libc;                                                                                                        \
        __atomic_fetch_add(&counts[COUNT_##name], 1, __ATOMIC_RELAXED);                                                \
        if (!libc.found)                                                                                               \
            libc.found = next(#name);                                                                                  \
        return libc.real arguments;                                                                                    \
    }
LIST(F)
#undef F
#endif

__attribute__((noinline)) static void leaf(void)
{
    __asm__ volatile("");
}

UNPROFILED static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)info, (void)size, (void)data;
    return 1;
}

static void *use(void *unused)
{
    for (int i = 0; i < 100; i++) {
        dl_iterate_phdr(visit, NULL);
        leaf();
#ifndef STATIC
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        static sem_t semaphore;
        struct utsname name;
        struct sigaction action;
        int value = 0;
        errno = 0;
        getauxval(AT_PAGESZ);
        sysconf(_SC_PAGESIZE);
        uname(&name);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        sem_getvalue(&semaphore, &value);
        sigaction(SIGUSR1, NULL, &action);
        uselocale((locale_t)0);
        dlsym(RTLD_DEFAULT, "main");
#endif
    }
    return unused;
}

int main(void)
{
    pthread_t thread;
#ifndef STATIC
    pthread_key_t key;
    pthread_key_create(&key, NULL);
    pthread_setspecific(key, "x");
    pthread_getspecific(key);
    use(NULL);
    void *library = dlopen("libm.so.6", RTLD_NOW); /* the loader's list is read again */
    use(NULL);
    if (library)
        dlclose(library);
#else
    use(NULL);
#endif
    pthread_create(&thread, NULL, use, NULL);
    pthread_join(thread, NULL);
    use(NULL);
    unsigned long now[COUNTS]; /* as printing may call some of them */
    for (int i = 0; i < COUNTS; i++)
        now[i] = counts[i];
    for (int i = 0; i < COUNTS; i++)
        dprintf(STDOUT_FILENO, "calls %s %lu\n", names[i], now[i]);
    dprintf(STDOUT_FILENO, "calls leaf %lu\n", now[COUNT_dl_iterate_phdr]);
    return 0;
}
