/* The recorder writes the levels of all functions that a budget has changed into one of two chunks in turn, and then
 * stores in page 0 which one is valid. It uses a chunk again only when the other one is valid. So a copy is whole if
 * that word is the same before and after copying.
 *
 * A process says which program it runs before it reads that word. The recorder stores the word before it looks which
 * processes to send a change to. So each process has read the change, or is sent it. */
#include "levels/level_session.h"

#include "filter.h"
#include "helper.h"
#include "process.h"
#include "runtime.h"
#include "session.h"
#include "sys.h"

enum { TRIES = 8 /* to copy a chunk while the recorder writes others */ };

static struct {
    struct text build_id;              /* of the program */
    uint32_t key;                      /* zero: it is not known, or has no build-id */
    uint64_t read;                     /* the word of page 0 that `chunk` belongs to */
    const struct dwell_filters *chunk; /* a copy, or NULL */
    bool holds;                        /* the budget holds for the program */
    bool awaited;                      /* in a forked child that has not looked yet */
} level_session;

static uint64_t level_session_word(void)
{
    return __atomic_load_n(&session_more(&runtime.session)->levels, __ATOMIC_SEQ_CST);
}

static bool level_session_is_of(const struct dwell_filter_module *m, struct text build_id)
{
    return build_id.length && text_is_same((struct text){ m + 1, m->build_id_length }, build_id);
}

static bool level_session_lists_program(void)
{
    const struct dwell_filters *chunk = level_session.chunk;
    if (!chunk)
        return false;
    const struct dwell_filter_module *m = (const struct dwell_filter_module *)(chunk + 1);
    for (uint32_t i = 0; i < chunk->modules; i++, m = filter_next_module(m))
        if (level_session_is_of(m, level_session.build_id))
            return true;
    return false;
}

static void level_session_drop(void)
{
    if (level_session.chunk)
        sys_unmap((void *)level_session.chunk, level_session.chunk->chunk.size);
    level_session.chunk = NULL;
    level_session.read = 0;
}

static bool level_session_copy(uint64_t word)
{
    const int fd = session_reopen(&runtime.session, runtime.path);
    level_session_drop();
    if (fd < 0)
        return false;
    level_session.chunk = filter_read_chunk(fd, word - word % DWELL_UNIT, DWELL_CHUNK_LEVELS);
    sys_close(fd);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return level_session_word() == word;
}

static void level_session_read(void)
{
    uint64_t word = level_session_word();
    for (int i = 0; i < TRIES && word != level_session.read; i++, word = level_session_word()) {
        if (level_session_copy(word))
            level_session.read = word;
        else
            level_session_drop();
    }
    level_session.holds = level_session_lists_program();
}

void level_session_begin_process(void)
{
    struct dwell_control *c = runtime.process->control.chunk;
    if (c)
        __atomic_store_n(&c->program, level_session.key, __ATOMIC_SEQ_CST);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

void level_session_begin_program(struct text build_id)
{
    level_session.build_id = build_id;
    level_session.key = build_id.length ? dwell_program_key(build_id.at, build_id.length) : 0;
    level_session_begin_process();
}

bool level_session_take(struct level_module *m)
{
    if (!level_session.key || !level_session_word())
        return false;
    level_session_read();
    if (!level_session.holds)
        return false;
    const struct dwell_filters *chunk = level_session.chunk;
    const struct dwell_filter_module *of = (const struct dwell_filter_module *)(chunk + 1);
    bool any = false;
    for (uint32_t i = 0; i < chunk->modules; i++, of = filter_next_module(of)) {
        if (!level_session_is_of(of, m->build_id))
            continue;
        const struct dwell_filter *f = filter_functions_of_module(of);
        for (uint32_t j = 0; j < of->functions; j++)
            if (f[j].action <= LEVEL_OUT)
                any |= level_module_want(m, m->info.dlpi_addr + f[j].offset, (enum level)f[j].action);
    }
    return any;
}

void level_session_forked(void)
{
    level_session.awaited = level_session.key != 0;
}

bool level_session_is_awaited(void)
{
    return level_session.awaited && level_session_word() != level_session.read;
}

bool level_session_is_due(void)
{
    return level_session_is_awaited() && __atomic_load_n(&runtime.process->threads.live, __ATOMIC_ACQUIRE);
}

void level_session_looked(void)
{
    level_session.awaited = false;
}
