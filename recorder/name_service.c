/* Takes the files one by one, at a low priority: the program goes first. */
#include "recorder/name_service.h"

#include <errno.h>
#include <unistd.h>

#include "recorder/service_thread.h"
#include "symbols/kept_files.h"

/* It gets a quarter of a processor that it shares with the program. At the end, `dwell record` waits for a step of this
 * thread, and Linux does not let it raise the priority again. So with less, the wait would be long on a machine that is
 * busy otherwise. */
enum { NICE = 5 };

/* A program's first moments are spared: then an overhead budget needs the processors to find its functions. */
enum { SPARED = 60 /* milliseconds */, GLANCE = 5 };

static void name_service_wait(const struct name_service *s)
{
    for (int i = 0; i < SPARED / GLANCE && !__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE); i++)
        usleep(GLANCE * 1000);
}

static void *name_service_run(void *argument)
{
    struct name_service *s = argument;
    struct symbol_module module;
    if (nice(NICE) < 0) /* Linux: of this thread alone; a high priority can stay below zero */
        errno = 0;
    for (size_t i = 0; kept_file_await(i, &module); i++) {
        if (i == 0)
            name_service_wait(s);
        module_names_add(s->names, &module);
        while (!__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE) && module_names_step(s->names))
            continue;
    }
    return NULL;
}

void name_service_start(struct name_service *s)
{
    *s = (struct name_service){ .names = module_names_new() };
    s->running = service_thread_start(&s->thread, name_service_run, s);
}

void name_service_stop(struct name_service *s)
{
    if (!s->running)
        return;
    __atomic_store_n(&s->stop, 1, __ATOMIC_RELEASE);
    kept_files_end();
    pthread_join(s->thread, NULL);
    s->running = false;
}
