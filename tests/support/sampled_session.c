/* Writes and loads sessions with samples. */
#include "support/sampled_session.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void sampling_write_modules(struct writer *w)
{
    write_header(w, 240, 1000, 4);
    write_process(w, 1, 70, "/bin/p");
    write_thread(w, 1, 1, 71, SOURCE_PERF, "one");
    write_module(w, 1, 1, 0, 0x1000, 0x9000, 0, "");
    write_module(w, 1, 2, 0x20000, 0x20000, 0x29000, 0, "/no/lib.so");
    write_module(w, 1, 3, 0x30000, 0x30000, 0x39000, 0, "/no/libdwell.so");
    write_symbol_module(w, 1, "");
    write_symbol_module(w, 2, "/no/lib.so");
    write_symbol(w, 1, 0, 0, F, "f");
    write_symbol(w, 1, 0, 0, G, "g");
    write_symbol(w, 1, 0, 0, PLAIN, "plain");
    write_symbol(w, 2, 0, 0, COPY - 0x20000, "copy");
    write_symbol(w, 2, 0, 0, PARSE - 0x20000, "parse");
}

void sampling_write(struct writer *w, uint64_t time, uint64_t address)
{
    write_sample(w, &(struct written_sample){ .time = time, .registers = &address, .register_count = 1 });
}

void sampling_load(struct analysis *analysis, struct writer *w, unsigned jobs)
{
    const char *path = test_path("sampled.data");
    writer_save(w, path);
    load_whole(analysis, path, jobs);
    check_identities(&(struct outcome){ analysis->file, analysis->profile, analysis->rollup });
}

struct times sampling_times(const struct analysis *analysis, const char *name)
{
    struct times *all = rollup_groups(analysis->rollup, BY_FUNCTION), found = times_of_nothing();
    for (size_t i = 0; i < analysis->profile->function_count; i++)
        if (strcmp(analysis->names[i].name, name) == 0)
            found = all[i];
    free(all);
    return found;
}

struct writer *sampling_two_calls(void)
{
    struct writer *w = writer_new();
    sampling_write_modules(w);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 0, F);
    write_enter(w, 200, G);
    write_exit(w, 600);
    write_off_cpu(w, false, 700, 100);
    write_exit(w, 1000);
    end_events(w, true);
    return w;
}

uint64_t sampling_next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15; /* splitmix64 */
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

bool sampling_is_within(const struct analysis *analysis, const char *name, double truth)
{
    const struct times t = sampling_times(analysis, name);
    const double error = (double)times_error(&t, VALUE_ELAPSED, EXCLUSIVE);
    return fabs((double)t.elapsed_exclusive - truth) <= error;
}
