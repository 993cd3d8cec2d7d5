/* What threads of a killed process did between their last events and the kill, by their samples. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stddef.h>

#include "dwell/format.h"
#include "support/load.h"
#include "support/scenario.h"

TestSuite(unit_thread_ends, .timeout = 300);

enum { F = 0x1000, PERIOD = 100, KILLED = 10000 };

/* What the kernel says of the process at its start and after its end, as the recorder reads it. */
static void thread_ends_write_cpu(struct writer *w, uint64_t cpu)
{
    struct dwell_rec_process_cpu record = { .process = 1, .pid = 100, .usage = 50, .clock = 60 };
    write_record(w, 1, DWELL_REC_PROCESS_CPU, &record.process, sizeof record - sizeof record.record);
    record.time = KILLED;
    record.clock += cpu;
    record.process = 0;
    write_record(w, 0, DWELL_REC_PROCESS_CPU, &record.process, sizeof record - sizeof record.record);
}

/* A thread enters F at 10 and is killed. There are no samples. */
static uint64_t thread_ends_blocked_without(uint64_t cpu)
{
    struct writer *w = writer_new();
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "prog");
    if (cpu)
        thread_ends_write_cpu(w, cpu);
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    end_events(w, false);
    write_process_end(w, 0, 100, END_SIGNAL, 9, KILLED);
    struct outcome o = outcome_of(w, 1);
    const uint64_t blocked = function_times(&o, F).blocked_exclusive;
    outcome_drop(&o);
    return blocked;
}

/* A thread enters F at 10, has a sample at `sampled` if that is not zero, and is killed. */
static struct outcome thread_ends_outcome(uint64_t sampled, uint64_t lost, uint32_t how)
{
    static const uint64_t address = F;
    struct writer *w = writer_new();
    write_header(w, offsetof(struct dwell_file_header, sample_period), PERIOD, 4);
    write_header(w, offsetof(struct dwell_file_header, lost_samples), lost, 4);
    write_process(w, 1, 100, "/bin/prog");
    write_thread(w, 1, 1, 100, SOURCE_PERF, "prog");
    begin_events(w, 1, 1, 0, 0, NULL, 0);
    write_enter(w, 10, F);
    end_events(w, false);
    begin_samples(w, 1, 1, 100, sampled ? 100 : 101, 0);
    write_sample(w,
                 &(struct written_sample){ .time = sampled ? sampled : 5, .registers = &address, .register_count = 1 });
    end_samples(w, true);
    write_process_end(w, 0, 100, how, 9, KILLED);
    return outcome_of(w, 1);
}

static uint64_t thread_ends_blocked(uint64_t sampled, uint64_t lost, uint32_t how)
{
    struct outcome o = thread_ends_outcome(sampled, lost, how);
    const uint64_t blocked = function_times(&o, F).blocked_exclusive;
    cr_assert(eq(u64, function_times(&o, F).elapsed_exclusive, KILLED - 10));
    outcome_drop(&o);
    return blocked;
}

/* It can have run for a period after its last sample, or after its last event. */
Test(unit_thread_ends, a_thread_without_samples_was_blocked)
{
    cr_assert(eq(u64, thread_ends_blocked(2000, 0, END_SIGNAL), KILLED - 2000 - PERIOD));
    cr_assert(eq(u64, thread_ends_blocked(0, 0, END_SIGNAL), KILLED - 10 - PERIOD));
}

Test(unit_thread_ends, a_thread_with_samples_was_not)
{
    cr_assert(eq(u64, thread_ends_blocked(KILLED - 4 * PERIOD, 0, END_SIGNAL), 0));
    cr_assert(eq(u64, thread_ends_blocked(KILLED - 4 * PERIOD - 1, 0, END_SIGNAL), 3 * PERIOD + 1));
}

/* Without samples, it can have run for as long as its process did. If that is unknown, so is all. */
Test(unit_thread_ends, the_kernel_says_how_long_it_can_have_run)
{
    cr_assert(eq(u64, thread_ends_blocked_without(400), KILLED - 10 - 400));
    cr_assert(eq(u64, thread_ends_blocked_without(KILLED), 0));
    cr_assert(eq(u64, thread_ends_blocked_without(0), 0));
}

Test(unit_thread_ends, lost_samples_and_other_ends_say_nothing)
{
    cr_assert(eq(u64, thread_ends_blocked(2000, 1, END_SIGNAL), 0));
    cr_assert(eq(u64, thread_ends_blocked(2000, 0, END_EXIT), 0));
}
