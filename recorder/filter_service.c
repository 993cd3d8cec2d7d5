/* A thread of `dwell record` that waits for recorded processes to load modules. It matches each module's functions
 * with the filter, or with the patterns of levels that were set while the process ran, and writes the matches into the
 * session. It also opens the files that are to be kept. */
#include "recorder/filter_service.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "recorder/control_chunk.h"
#include "recorder/filter_chunk.h"
#include "recorder/filter_patterns.h"
#include "recorder/keep_program.h"
#include "recorder/planned_calls.h"
#include "recorder/service_thread.h"
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
    return stat(file, &status) == 0 && S_ISREG(status.st_mode) &&
           elf_has_build_id(file, module->build_id, module->build_id_length);
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

/* The module that a question is about. False if there is none. */
static bool filter_service_read_module(const struct dwell_control *question, struct filter_loaded *module)
{
    const uint32_t id_length = question->build_id_length, path_length = question->path_length;
    if (id_length > sizeof module->build_id || path_length > sizeof question->module - sizeof module->build_id)
        return false;
    *module = (struct filter_loaded){ .build_id_length = id_length };
    memcpy(module->build_id, question->module, id_length);
    module->path = need_copy(question->module + id_length, path_length);
    module->file = filter_service_find_file(module, question->pid);
    return true;
}

/* ---- levels that were set while the program ran ---- */

enum { MOST_PATTERNS = 1024 /* newer ones count */ };

static bool filter_service_has(char *const *texts, size_t count, const char *text)
{
    while (count && strcmp(texts[count - 1], text) != 0)
        count--;
    return count > 0;
}

/* Writes the functions of the module that the pattern names. Returns the chunk's offset, or `after` if it names none.
 */
static uint64_t filter_service_write_levels(const struct filter_service *s, const struct filter_loaded *module,
                                            const char *pattern, uint32_t level, uint64_t after)
{
    struct planned_calls calls = { .all = true };
    struct filters selected = { .strict = false, .calls = session_more(s->session)->calls ? &calls : NULL };
    uint64_t offset = 0;
    if (filters_add_selection(&selected, pattern) && filters_judge_loaded(&selected, module) &&
        filters_function_count(&selected))
        offset = filters_write_levels(&selected, &(struct filters_levels){ .level = level, .link = after }, s->session,
                                      s->fd);
    filters_free(&selected);
    planned_calls_drop(&calls);
    return offset ? offset : after;
}

/* Goes from the newest pattern to the oldest one. A pattern that was set again has its last level. */
static uint64_t filter_service_find_levels(const struct filter_service *s, const struct filter_loaded *module,
                                           uint64_t newest)
{
    char *texts[MOST_PATTERNS];
    size_t count = 0;
    uint64_t answer = 0, before = 0;
    uint32_t level;
    for (uint64_t offset = newest; offset && count < MOST_PATTERNS; offset = before) {
        char *text = filter_chunk_read_pattern(s->fd, offset, &level, &before);
        if (!text)
            break;
        if (!filter_service_has(texts, count, text))
            answer = filter_service_write_levels(s, module, text, level, answer);
        texts[count++] = text;
    }
    while (count)
        free(texts[--count]);
    return answer;
}

/* ---- files that are kept ---- */

static void filter_service_keep(const struct filter_service *s, const struct dwell_control *question)
{
    const size_t size = question->path_length <= sizeof question->module ? question->path_length : 0;
    struct dwell_kept_module head;
    for (size_t at = 0; size - at >= sizeof head;) {
        memcpy(&head, question->module + at, sizeof head);
        at += sizeof head;
        if ((size_t)head.build_id_length + head.path_length > size - at)
            return;
        char *path = need_copy(question->module + at + head.build_id_length, head.path_length);
        keep_module(&(struct symbol_module){ path, (const uint8_t *)question->module + at, head.build_id_length },
                    question->pid, s->fd);
        free(path);
        at += (size_t)head.build_id_length + head.path_length;
    }
}

/* ---- answers ---- */

static bool filter_service_store(const struct filter_service *s, uint64_t offset, size_t member, const void *value,
                                 size_t size)
{
    return pwrite(s->fd, value, size, (off_t)(offset + member)) == (ssize_t)size;
}

/* What the options say about a module. Returns the offset of its plan of calls into libraries, or zero. */
static uint64_t filter_service_judge(struct filter_service *s, const struct filter_loaded *module, uint32_t pid)
{
    if (filters_have_functions(s->filters) && filters_judge_loaded(s->filters, module))
        filters_write(s->filters, s->session, s->fd);
    const struct planned_calls_module calling = { module->path, module->file, module->build_id, module->build_id_length,
                                                  pid };
    return s->filters->calls ? planned_calls_later(s->filters->calls, &calling, s->session, s->fd) : 0;
}

static bool filter_service_answer(struct filter_service *s, const struct dwell_control *question, uint64_t offset)
{
    struct filter_loaded module = { .path = NULL };
    uint64_t answer = 0;
    if (question->asks == DWELL_ASKS_KEEP) {
        filter_service_keep(s, question);
    } else if (filter_service_read_module(question, &module)) {
        if (question->asks == DWELL_ASKS_LEVELS)
            answer = filter_service_find_levels(s, &module, question->levels);
        else
            answer = filter_service_judge(s, &module, question->pid);
    }
    free(module.file);
    free(module.path);
    const uint32_t nothing = DWELL_ASKS_NOTHING;
    return filter_service_store(s, offset, offsetof(struct dwell_control, answer), &answer, sizeof answer) &&
           filter_service_store(s, offset, offsetof(struct dwell_control, asks), &nothing, sizeof nothing);
}

/* Returns the offset of the control chunk that was made before. */
static uint64_t filter_service_visit(struct filter_service *s, uint64_t offset)
{
    struct dwell_control c;
    if (pread(s->fd, &c, sizeof c, (off_t)offset) != sizeof c || c.chunk.kind != DWELL_CHUNK_CONTROL)
        return 0;
    if (c.asks) {
        if (!filter_service_answer(s, &c, offset))
            return 0;
        s->answered++;
        filter_service_wake(&s->session->header->filter_answers);
    }
    return c.next;
}

static void filter_service_answer_all(struct filter_service *s, uint32_t asked)
{
    struct control_walk walk =
        control_walk_begin(__atomic_load_n(&s->session->header->first_control, __ATOMIC_ACQUIRE));
    while (walk.at && (s->answered != asked || s->stop))
        control_walk_on(&walk, filter_service_visit(s, walk.at));
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
    s->running = service_thread_start(&s->thread, filter_service_run, s);
    if (filters_have_functions(filters))
        session->header->filter_server = s->running ? DWELL_FILTER_SERVER_ANSWERS : DWELL_FILTER_SERVER_ENDED;
    else if (s->running)
        session->header->filter_server = DWELL_FILTER_SERVER_LEVELS;
}

void filter_service_stop(struct filter_service *s)
{
    if (!s->running)
        return;
    __atomic_store_n(&s->stop, 1, __ATOMIC_RELEASE);
    filter_service_wake(&s->session->header->filter_asks);
    pthread_join(s->thread, NULL);
    s->session->header->filter_server =
        filters_have_functions(s->filters) ? DWELL_FILTER_SERVER_ENDED : DWELL_FILTER_SERVER_NONE;
    filter_service_wake(&s->session->header->filter_answers);
}
