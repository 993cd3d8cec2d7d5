/* The runtime's filters: which functions they record after their module has been loaded, and which calls. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"
#include "slow.h"
#include "unit/runtime/runtime_block.h"

TestSuite(unit_runtime_filter);

enum { BIAS = 0x500000, OTHER_BIAS = 0x900000, MANY = 100 };

/* Two modules: "id" by its build-id, with three functions; /lib/other.so by its path, with many. */
static struct {
    struct dwell_filters head;
    struct dwell_filter_module first;
    char first_id[8];
    struct dwell_filter first_functions[3];
    struct dwell_filter_module second;
    char second_path[16];
    struct dwell_filter second_functions[MANY];
} file;

static bool filter_begin_with(uint32_t only, uint32_t depth, uint32_t starts, uint64_t shortest)
{
    runtime_block();
    file.head = (struct dwell_filters){
        .chunk = { .kind = DWELL_CHUNK_FILTERS, .magic = DWELL_CHUNK_MAGIC, .size = PAGE },
        .modules = 2,
        .only = only,
        .depth = depth,
        .starts = starts,
        .shortest = shortest,
    };
    file.first = (struct dwell_filter_module){ 16 + 8 + sizeof file.first_functions, 3, 2, 0 };
    memcpy(file.first_id, "id", 2);
    file.first_functions[0] = (struct dwell_filter){ 0x10, DWELL_FILTER_SUPPRESS, 0 };
    file.first_functions[1] = (struct dwell_filter){ 0x20, DWELL_FILTER_IGNORE, 0 };
    file.first_functions[2] = (struct dwell_filter){ 0x30, DWELL_FILTER_START, 0 };
    file.second = (struct dwell_filter_module){ 16 + 16 + sizeof file.second_functions, MANY, 0, 13 };
    memcpy(file.second_path, "/lib/other.so", 13);
    for (uint32_t i = 0; i < MANY; i++)
        file.second_functions[i] = (struct dwell_filter){ 0x1000 + 16 * i, DWELL_FILTER_STOP, 0 };
    const int fd = runtime_filters(&file, sizeof file);
    const bool any = filter_begin(fd);
    close(fd);
    return any;
}

static struct text filter_text(const char *at)
{
    return (struct text){ at, strlen(at) };
}

Test(unit_runtime_filter, without_filters_all_is_recorded)
{
    runtime_block();
    cr_assert(eq(int, filter_begin(-1), false));
    cr_assert(eq(u32, filter_action(0x10), DWELL_FILTER_RECORD));
    cr_assert(eq(u32, filter_module(filter_text("id"), filter_text("/lib/other.so")), 0));
    filter_use_modules(NULL, 0);
    cr_assert(eq(u32, filter_action(0x10), DWELL_FILTER_RECORD));
    const struct call caller = { .shown = MAX_SHOWN };
    cr_assert(eq(int, filter_kind(&caller, DWELL_FILTER_RECORD), CALL_SHOWN));
}

Test(unit_runtime_filter, settings)
{
    cr_assert(filter_begin_with(1, 5, 1, 700));
    cr_assert(filter_settings.only);
    cr_assert(filter_settings.starts);
    cr_assert(eq(u32, filter_settings.depth, 5));
    cr_assert(eq(u64, filter_settings.shortest[0], 700));
    cr_assert(eq(u32, runtime.activation.stopped, 1));
    cr_assert(filter_begin_with(0, 0, 0, 0));
    cr_assert(not(filter_settings.only));
    cr_assert(eq(u32, filter_settings.depth, UINT32_MAX));
    cr_assert(eq(u32, runtime.activation.stopped, 0));
}

Test(unit_runtime_filter, modules_by_build_id_or_path)
{
    filter_begin_with(0, 0, 0, 0);
    cr_assert(eq(u32, filter_module(filter_text("id"), filter_text("/anywhere")), 1));
    cr_assert(eq(u32, filter_module(filter_text("ix"), filter_text("/anywhere")), 0));
    cr_assert(eq(u32, filter_module(filter_text("idx"), filter_text("/anywhere")), 0));
    cr_assert(eq(u32, filter_module(filter_text(""), filter_text("/lib/other.so")), 2));
    cr_assert(eq(u32, filter_module(filter_text("ix"), filter_text("/lib/other.so")), 2));
    cr_assert(eq(u32, filter_module(filter_text(""), filter_text("/lib/other.s")), 0));
}

Test(unit_runtime_filter, functions_where_their_module_is_loaded)
{
    filter_begin_with(0, 0, 0, 0);
    filter_use_modules((struct filter_use[]){ { BIAS, 1 } }, 1);
    cr_assert(eq(u32, filter_action(BIAS + 0x10), DWELL_FILTER_SUPPRESS));
    cr_assert(eq(u32, filter_action(BIAS + 0x20), DWELL_FILTER_IGNORE));
    cr_assert(eq(u32, filter_action(BIAS + 0x11), DWELL_FILTER_RECORD));
    filter_use_modules((struct filter_use[]){ { OTHER_BIAS, 1 }, { BIAS, 2 } }, 2);
    cr_assert(eq(u32, filter_action(BIAS + 0x10), DWELL_FILTER_RECORD));
    cr_assert(eq(u32, filter_action(OTHER_BIAS + 0x10), DWELL_FILTER_SUPPRESS));
    for (uint32_t i = 0; i < MANY; i++) {
        cr_assert(eq(u32, filter_action(BIAS + 0x1000 + 16 * i), DWELL_FILTER_STOP));
        cr_assert(eq(u32, filter_action(BIAS + 0x1008 + 16 * i), DWELL_FILTER_RECORD));
    }
    filter_use_modules(NULL, 0);
    cr_assert(eq(u32, filter_action(BIAS + 0x1000), DWELL_FILTER_RECORD));
}

Test(unit_runtime_filter, only_hides_what_is_not_listed)
{
    filter_begin_with(1, 0, 0, 0);
    filter_use_modules((struct filter_use[]){ { BIAS, 1 } }, 1);
    cr_assert(eq(u32, filter_action(BIAS + 0x11), DWELL_FILTER_SUPPRESS));
    cr_assert(eq(u32, filter_action(BIAS + 0x30), DWELL_FILTER_START));
}

Test(unit_runtime_filter, kinds_of_calls)
{
    const struct call shallow = { .shown = 4 }, deep = { .shown = 5 };
    filter_begin_with(0, 5, 0, 0);
    cr_assert(eq(int, filter_kind(&shallow, DWELL_FILTER_RECORD), CALL_SHOWN));
    cr_assert(eq(int, filter_kind(&shallow, DWELL_FILTER_SUPPRESS), CALL_HIDDEN));
    cr_assert(eq(int, filter_kind(&deep, DWELL_FILTER_RECORD), CALL_HIDDEN));
    filter_begin_with(0, 5, 0, 100);
    cr_assert(eq(int, filter_kind(&shallow, DWELL_FILTER_RECORD), CALL_WAITING));
    cr_assert(eq(int, filter_kind(&deep, DWELL_FILTER_RECORD), CALL_HIDDEN));
}

Test(unit_runtime_filter, functions_that_switch_the_recording)
{
    filter_begin_with(0, 0, 1, 0);
    filter_use_modules((struct filter_use[]){ { BIAS, 1 }, { OTHER_BIAS, 2 } }, 2);
    filter_trigger(&(struct event){ .function = BIAS + 0x10 });
    cr_assert(eq(int, runtime_calls.trigger, 0));
    filter_trigger(&(struct event){ .function = BIAS + 0x30 });
    cr_assert(eq(int, runtime_calls.trigger, 1));
    filter_trigger(&(struct event){ .function = OTHER_BIAS + 0x1000 });
    cr_assert(eq(int, runtime_calls.trigger, -1));
    cr_assert(filter_starts(BIAS + 0x30));
    cr_assert(not(filter_starts(BIAS + 0x10)));
}

Test(unit_runtime_filter, an_ignored_call_pauses_the_thread)
{
    struct thread *t = runtime_block();
    filter_ignore(t, 96, 1234);
    cr_assert(eq(u32, t->pause.active, 1));
    cr_assert(eq(u64, runtime_calls.pause_time, 1234));
    cr_assert(eq(u32, t->filter.ignored_depth, 96));
}

/* The lengths in a file that somebody has damaged. */
static void filter_expect_modules(uint32_t modules, uint32_t size, uint32_t functions, uint32_t path_length,
                                  uint32_t number)
{
    filter_begin_with(0, 0, 0, 0);
    file.head.modules = modules;
    file.second.size = size;
    file.second.functions = functions;
    file.second.path_length = path_length;
    const int fd = runtime_filters(&file, sizeof file);
    cr_assert(filter_begin(fd));
    close(fd);
    cr_assert(eq(u32, filter_module(filter_text("id"), filter_text("")), 1));
    cr_assert(eq(u32, filter_module(filter_text(""), filter_text("/lib/other.so")), number));
}

Test(unit_runtime_filter, modules_that_are_not_complete_are_left_out)
{
    const uint32_t size = 16 + 16 + sizeof file.second_functions;
    filter_expect_modules(2, size, MANY, 13, 2);
    filter_expect_modules(UINT32_MAX, size, MANY, 13, 2);
    filter_expect_modules(2, size + 4, MANY, 13, 0);
    filter_expect_modules(2, PAGE, MANY, 13, 0);
    filter_expect_modules(2, 8, MANY, 13, 0);
    filter_expect_modules(2, size, MANY + 2, 13, 0);
    filter_expect_modules(2, size, UINT32_MAX, 13, 0);
    filter_expect_modules(2, size, MANY, UINT32_MAX, 0);
}

Test(unit_runtime_filter, chunks_of_another_kind_or_size_are_no_filters)
{
    filter_begin_with(0, 0, 0, 0);
    const struct dwell_chunk_header good = file.head.chunk;
    struct dwell_chunk_header bad[] = { good, good, good, good, good };
    bad[0].magic++;
    bad[1].kind = DWELL_CHUNK_LEVELS;
    bad[2].size = sizeof file.head - 1;
    bad[3].size = DWELL_CHUNK_LARGEST + 1;
    bad[4].link = PAGE; /* it would be its own predecessor */
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        file.head.chunk = bad[i];
        const int fd = runtime_filters(&file, sizeof file);
        cr_assert(not(filter_begin(fd)), "%zu", i);
        close(fd);
    }
}
