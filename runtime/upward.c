/* Fills the table of calls upwards. */
#include "upward.h"

#include "control.h"
#include "endings.h"
#include "fault_signals.h"
#include "interpose_privilege.h"
#include "keep_calls.h"
#include "levels/counts.h"
#include "levels/level_check.h"
#include "levels/levels.h"
#include "modules.h"
#include "monitor.h"
#include "osevents.h"
#include "process.h"
#include "process_cpu.h"
#include "recording.h"
#include "trace_events.h"
#include "value_rows.h"

/* Of two times in milliseconds, of which negative ones are never. */
static long upward_sooner(long a, long b)
{
    return b < 0 || (a >= 0 && a < b) ? a : b;
}

static long upward_tick(struct process *p)
{
    return upward_sooner(monitor_tick(p), levels_tick());
}

static void upward_begin_thread(struct thread *t, bool forked)
{
    trace_events_begin_thread(t);
    value_rows_begin_thread(t);
    level_begin_thread(t, forked);
}

static void upward_end_thread(struct thread *t)
{
    trace_events_end_thread(t);
    value_rows_end_thread(t);
}

static void upward_thread_is_listed(struct thread *t)
{
    if (!counts_begin_in_place(t))
        levels_leave_places();
}

static bool upward_bus_wakes_helper(void)
{
    return fault_is_guarded(SIGBUS);
}

const struct upward upward = {
    .space_is_gone = process_stop,
    .drop_windows = keep_drop_windows,
    .sees_privileges = privilege_is_watched,
    .take_commands = control_take_commands,
    .tick = upward_tick,
    .hurries = levels_hurry,
    .expect_changes = levels_expect_changes,
    .open_ring = os_open_ring,
    .note_helper = process_cpu_note_helper,
    .bus_wakes_helper = upward_bus_wakes_helper,
    .begin_child = counts_begin_child,
    .begin_process = process_begin,
    .begin_thread = upward_begin_thread,
    .thread_is_listed = upward_thread_is_listed,
    .end_thread = upward_end_thread,
    .thread_has_ended = counts_end_thread,
    .block_is_free = counts_is_gone,
    .thread_is_not_recorded = levels_lose_places,
    .count_calls = counts_select,
    .divert_calls = counts_divert,
    .takes_enter = level_takes_enter,
    .answer_levels = level_answer,
    .watched_exit = level_exit_if_watched,
    .switch_recording = control_trigger,
    .update_modules = modules_update,
    .is_loading = modules_is_loading,
    .is_program = modules_is_program,
    .module_identity_at = modules_identity_at,
    .child_ended = ending_of_child,
};
