/*
 * The fuzzer's target for what processes tell each other by the session file: the chunks of filters and levels that the
 * runtime reads, and the control chunks that `dwell record` reads. Input: which of them, then the file behind its
 * header.
 */
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter.h"
#include "filter_ask.h"
#include "fuzz/fuzz.h"
#include "keep_calls.h"
#include "levels/level_command.h"
#include "levels/levels.h"
#include "recorder/control_chunk.h"
#include "recorder/filter_patterns.h"
#include "recorder/filter_service.h"
#include "recorder/keep_program.h"
#include "unit/runtime/runtime_block.h"
#include "value_plan.h"
#include "value_probe.h"

static volatile uint32_t control_sum;
static uint32_t control_stay_timed;

static void control_touch(const void *at, size_t size)
{
    for (size_t i = 0; i < size; i++)
        control_sum += ((const uint8_t *)at)[i];
}

/* ---- instead of the runtime's and the recorder's other files ---- */

uint32_t levels_set_in_module(struct text build_id, struct text path, uint64_t offset, enum level level)
{
    control_touch(build_id.at, build_id.length);
    control_touch(path.at, path.length);
    fuzz_require(level <= LEVEL_OUT);
    return offset != 0;
}

void levels_try_to_settle(void)
{
}

uint32_t levels_that_stay_timed(struct text build_id, struct text path, uint64_t offset)
{
    return build_id.length + path.length + offset == 0;
}

uint32_t levels_watch_in_module(struct text build_id, struct text path, uint64_t offset, uint32_t watch)
{
    control_touch(build_id.at, build_id.length);
    control_touch(path.at, path.length);
    fuzz_require(watch <= keep_settings.watches);
    return offset != 0;
}

void levels_read_values(void)
{
}

struct value_probes value_probes(void)
{
    return (struct value_probes){ 1, 1 };
}

bool value_plan_add(int fd, uint64_t offset)
{
    (void)fd;
    return offset != 0;
}

struct keep_settings keep_settings = { .on = true, .watches = DWELL_KEEP_WATCHES };

void keep_read_more(int fd)
{
    (void)fd;
}

void levels_have_patterns(struct text build_id, struct text path, uint64_t patterns)
{
    control_touch(build_id.at, build_id.length);
    control_touch(path.at, path.length);
    fuzz_require(patterns != 0);
}

void levels_ask_for_patterns(void)
{
}

uint64_t filter_ask_levels(struct text build_id, struct text path)
{
    (void)build_id, (void)path;
    return 0;
}

bool filters_add_selection(struct filters *f, const char *pattern)
{
    (void)f;
    control_touch(pattern, strlen(pattern));
    return true;
}

size_t filters_function_count(const struct filters *f)
{
    (void)f;
    return 0;
}

uint64_t filters_write_levels(const struct filters *f, const struct filters_levels *levels,
                              const struct session *session, int fd)
{
    (void)f, (void)levels, (void)session, (void)fd;
    return 0;
}

void filters_free(struct filters *f)
{
    (void)f;
}

bool filters_have_functions(const struct filters *f)
{
    (void)f;
    return true;
}

bool filters_judge_loaded(struct filters *f, const struct filter_loaded *loaded)
{
    (void)f;
    control_touch(loaded->build_id, loaded->build_id_length);
    control_touch(loaded->path, strlen(loaded->path));
    return false;
}

void keep_module(const struct symbol_module *module, uint32_t pid, int session)
{
    (void)pid, (void)session;
    control_touch(module->build_id, module->build_id_length);
    control_touch(module->path, strlen(module->path));
}

bool filters_write(struct filters *f, const struct session *session, int fd)
{
    (void)f, (void)session, (void)fd;
    return true;
}

/* The thread runs here, once. */
bool service_thread_start(pthread_t *thread, void *(*run)(void *), void *argument)
{
    (void)thread;
    struct filter_service *s = argument;
    s->running = true;
    s->stop = 1;
    run(argument);
    return false;
}

/* ---- the target ---- */

static void control_read_filters(int fd, const uint8_t *data, size_t size)
{
    struct text id = { (const char *)data, size < 4 ? size : 4 }, path = { "/lib/other.so", 13 };
    if (!filter_begin(fd))
        return;
    const uint32_t module = filter_module(id, path);
    struct leveled_function levels[4];
    if (module) {
        filter_use_modules(&(struct filter_use){ 0x500000, module }, 1);
        filter_levels_of_module(module, 0x500000, levels, 4);
    }
    for (uint64_t i = 0; i < 64; i++)
        filter_action(0x500000 + i * 8);
}

static void control_answer(int fd, uint64_t first)
{
    static struct {
        struct dwell_file_header header;
        struct dwell_file_more more;
    } page;
    static struct filters none;
    const struct session session = { .header = &page.header };
    struct filter_service service;
    page.header = (struct dwell_file_header){ .first_control = first, .filter_asks = 1 };
    filter_service_start(&service, &none, &session, fd);
    struct control_walk walk = control_walk_begin(first);
    size_t chunks = 0;
    for (struct dwell_control *c; (c = control_chunk_next(fd, &walk)); chunks++)
        munmap(c, DWELL_UNIT);
    fuzz_require(chunks <= 64);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    static const uint8_t header[PAGE];
    const uint8_t what = fuzz_byte(&data, &size);
    const int fd = fuzz_file(header, sizeof header, path);
    fuzz_require(write(fd, data, size) == (ssize_t)size);
    runtime_block();
    runtime.session.header->first_filters = PAGE;
    if (what % 4 == 0)
        control_read_filters(fd, data, size);
    else if (what % 4 == 1)
        level_command("4096", fd, &control_stay_timed);
    else if (size <= 16 * (size_t)DWELL_UNIT)
        control_answer(fd, PAGE);
    close(fd);
    return 0;
}
