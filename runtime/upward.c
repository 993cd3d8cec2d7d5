/* Fills the table of calls upwards. */
#include "upward.h"

#include "bus_signal.h"
#include "control.h"
#include "gate.h"
#include "levels/levels.h"
#include "monitor.h"
#include "osevents.h"
#include "process.h"
#include "process_cpu.h"
#include "recording.h"

/* Of two times in milliseconds, of which negative ones are never. */
static long upward_sooner(long a, long b)
{
    return b < 0 || (a >= 0 && a < b) ? a : b;
}

static long upward_tick(struct process *p)
{
    return upward_sooner(monitor_tick(p), levels_tick());
}

const struct upward upward = {
    .space_is_gone = process_stop,
    .changed = gate_notify,
    .take_commands = control_take_commands,
    .tick = upward_tick,
    .open_ring = os_open_ring,
    .note_helper = process_cpu_note_helper,
    .bus_wakes_helper = bus_is_guarded,
    .begin_child = counts_begin_child,
};
