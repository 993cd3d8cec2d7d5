/* A thread of `dwell record` that waits for recorded processes to load modules. It matches each module's functions
 * with the filter and writes the matches into the session. */
#include "commands/filter_service.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "commands/service_thread.h"
#include "symbols/elf_facts.h"
#include "sys.h"

static void filter_service_wake(uint32_t *word)
{
    __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
    sys_futex_wake_shared(word);
}

static bool filter_service_is_module(const char *file, const struct filter_loaded *module)
{
    struct stat status;
    uint8_t id[64];
    if (stat(file, &status) < 0 || !S_ISREG(status.st_mode))
        return false;
    const size_t length = elf_build_id_of(file, id, sizeof id);
    return length == module->build_id_length && memcmp(id, module->build_id, length) == 0;
}

char *filter_service_find_file(const struct filter_loaded *module, uint32_t pid)
{
    if (filter_service_is_module(module->path, module))
        return need_copy(module->path, strlen(module->path));
    char *there = need_text("/proc/%u/root%s", pid, module->path);
    if (filter_service_is_module(there, module))
        return there;
    free(there);
    return NULL;
}

static void filter_service_judge(struct filter_service *s, const struct dwell_control *question)
{
    const uint32_t id_length = question->build_id_length, path_length = question->path_length;
    if (id_length > 64 || path_length > sizeof question->module - 64)
        return;
    struct filter_loaded module = { .build_id_length = id_length };
    memcpy(module.build_id, question->module, id_length);
    module.path = need_copy(question->module + id_length, path_length);
    module.file = filter_service_find_file(&module, question->pid);
    if (filters_judge_loaded(s->filters, &module))
        filters_write(s->filters, s->session, s->fd);
    free(module.file);
    free(module.path);
}

/* Returns the offset of the control chunk that was made before. */
static uint64_t filter_service_visit(struct filter_service *s, uint64_t offset)
{
    const uint32_t nothing = 0;
    struct dwell_control c;
    if (pread(s->fd, &c, sizeof c, (off_t)offset) != sizeof c || c.chunk.kind != DWELL_CHUNK_CONTROL)
        return 0;
    if (c.asks) {
        filter_service_judge(s, &c);
        if (pwrite(s->fd, &nothing, sizeof nothing, (off_t)(offset + offsetof(struct dwell_control, asks))) < 0)
            return 0;
        s->answered++;
        filter_service_wake(&s->session->header->filter_answers);
    }
    return c.next;
}

static void filter_service_answer_all(struct filter_service *s, uint32_t asked)
{
    uint64_t offset = __atomic_load_n(&s->session->header->first_control, __ATOMIC_ACQUIRE);
    uint32_t most = s->session->header->next_process;
    while (offset && most-- > 0 && (s->answered != asked || s->stop))
        offset = filter_service_visit(s, offset);
    s->answered = asked;
}

static void *filter_service_run(void *argument)
{
    struct filter_service *s = argument;
    uint32_t *asks = &s->session->header->filter_asks;
    for (bool last = false; !last;) {
        last = __atomic_load_n(&s->stop, __ATOMIC_ACQUIRE);
        const uint32_t asked = __atomic_load_n(asks, __ATOMIC_SEQ_CST);
        filter_service_answer_all(s, asked);
        if (!last)
            sys_futex_wait_shared(asks, asked, SERVICE_PATIENCE);
    }
    return NULL;
}

void filter_service_start(struct filter_service *s, struct filters *filters, const struct session *session, int fd)
{
    *s = (struct filter_service){ .filters = filters, .session = session, .fd = fd };
    if (!filters_have_functions(filters))
        return;
    s->running = service_thread_start(&s->thread, filter_service_run, s);
    session->header->filter_server = s->running ? DWELL_FILTER_SERVER_ANSWERS : DWELL_FILTER_SERVER_ENDED;
}

void filter_service_stop(struct filter_service *s)
{
    if (!s->running)
        return;
    __atomic_store_n(&s->stop, 1, __ATOMIC_RELEASE);
    filter_service_wake(&s->session->header->filter_asks);
    pthread_join(s->thread, NULL);
    s->session->header->filter_server = DWELL_FILTER_SERVER_ENDED;
    filter_service_wake(&s->session->header->filter_answers);
}
