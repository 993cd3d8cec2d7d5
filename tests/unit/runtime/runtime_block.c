/* The blocks for tests of single files of the runtime, and stand-ins for what these call of the others. */
#include "unit/runtime/runtime_block.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calibrate.h"
#include "gate.h"
#include "guard.h"
#include "losses.h"
#include "metadata_records.h"
#include "pause.h"
#include "process_lock.h"
#include "retired.h"
#include "session.h"
#include "sites.h"
#include "sys.h"
#include "thread_chunks.h"
#include "upward.h"

enum { SHADOW = 1 << 16 };

struct runtime runtime;
const struct calibrated_function calibrated_functions[CALIBRATED_FUNCTIONS] = { { &runtime, DWELL_FILTER_RECORD } };
const size_t os_ring_size = PAGE;
__thread struct thread *thread_self __attribute__((tls_model("initial-exec")));
struct runtime_calls runtime_calls;

void counts_each_old_page(const struct thread *t, void (*map)(char *at, size_t size))
{
    (void)t, (void)map;
}

void counts_forked(struct thread *t)
{
    (void)t;
}

static void note_switch(struct thread *t, struct stack *to)
{
    runtime_calls.switches++;
    runtime_calls.stack = to;
    stacks_exchange(t, to, stacks_now(t));
    t->state = thread_with_depth(t->state, to->depth);
}

static const struct recorder recorder = { .switch_stack = note_switch };

void (*runtime_append)(const struct dwell_record *record, size_t size);

struct dwell_record *metadata_append(const struct dwell_record *record, size_t size, const struct text *texts,
                                     int count)
{
    (void)texts, (void)count;
    runtime_append(record, size);
    return NULL;
}

struct thread *runtime_block(void)
{
    static struct thread block;
    static struct thread_wiped wiped = { .alive = 1 };
    static struct process process;
    static struct {
        struct dwell_file_header header;
        struct dwell_file_more more;
    } page;
    page.header = (struct dwell_file_header){ .magic = DWELL_FILE_MAGIC };
    page.more = (struct dwell_file_more){ 0 };
    block = (struct thread){ .wiped = &wiped, .serial = 3, .shadow_size = SHADOW, .shadow = sys_memory(SHADOW) };
    *(struct call *)block.shadow = (struct call){ .stack_pointer = UINT64_MAX };
    block.state = one_call;
    process = (struct process){ .serial = 1 };
    runtime = (struct runtime){ .process = &process, .recorder = &recorder, .session.header = &page.header };
    runtime_calls = (struct runtime_calls){ 0 };
    stacks_begin_thread(&block);
    thread_self = &block;
    return &block;
}

struct call *runtime_open_call(struct thread *t, uint64_t function, uint64_t call_site)
{
    struct call *call = thread_call(t, t->state);
    *call = (struct call){ .function = function, .call_site = call_site };
    t->state += one_call;
    return call;
}

int runtime_filters(const void *chunk, uint32_t size)
{
    int fd = memfd_create("filters", MFD_CLOEXEC);
    if (ftruncate(fd, 2 * PAGE) < 0 || pwrite(fd, chunk, size, PAGE) != (ssize_t)size)
        abort();
    runtime.session.header->first_filters = PAGE;
    return fd;
}

/* ---- instead of other files ---- */

void gate_notify(uint32_t *count)
{
    ++*count;
    runtime_calls.notified++;
}

static void block_switch_recording(bool on)
{
    runtime_calls.trigger = on ? 1 : -1;
}

static bool block_is_program(uint64_t address)
{
    return address >= runtime_calls.program_begin && address < runtime_calls.program_end;
}

static void block_space_is_gone(void)
{
}

const struct upward upward = {
    .space_is_gone = block_space_is_gone,
    .switch_recording = block_switch_recording,
    .is_program = block_is_program,
};

void pause_begin(struct thread *t, uint64_t time)
{
    t->pause.active = 1;
    runtime_calls.pause_time = time;
}

struct area chunk_take(uint32_t least, uint32_t size)
{
    (void)least;
    runtime_calls.chunks++;
    struct dwell_chunk_header *chunk = sys_memory(size);
    chunk->size = size;
    guard_add(chunk, size, PAGE);
    return (struct area){ (char *)chunk, size };
}

/* Keeps the chunk mapped: tree_end's chunks are looked at afterwards. */
void chunk_cut(struct area *area, uint32_t size)
{
    (void)area, (void)size;
}

void retired_add(struct dwell_chunk_header *chunk)
{
    session_unmap(chunk, guard_size(chunk));
}

const struct value_row *runtime_rows[RUNTIME_ROWS];

void value_rows_append(struct thread *t, const struct value_row *row)
{
    struct value_row *copy = malloc(sizeof *copy);
    (void)t;
    *copy = *row;
    if (runtime_calls.rows < RUNTIME_ROWS)
        runtime_rows[runtime_calls.rows++] = copy;
}

void process_lock(void)
{
}

void process_unlock(void)
{
}

int sites_put(uint16_t words[MAX_SITE_WORDS], uint64_t call_site, const struct call *caller)
{
    (void)words, (void)call_site, (void)caller;
    return 0;
}

void thread_set_limit(struct thread *t)
{
    (void)t;
    runtime_calls.limits++;
}

void thread_give_up_chunk(struct thread *t, bool count)
{
    (void)t, (void)count;
    runtime_calls.given_up++;
}
