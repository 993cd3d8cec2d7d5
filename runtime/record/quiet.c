/*
 * The probes of a paused thread. They keep the shadow stack, so that a recording which goes on in the middle of a stack
 * begins with the calls that are open then. They read no clock and write no record.
 */
#include "probe_steps.h"

PROBES_DEFINITION(quiet, 0)
PROBES_DEFINITION(quiet_sites, STEPS_SITES)
PROBES_DEFINITION(quiet_filter, STEPS_FILTER)
PROBES_DEFINITION(quiet_filter_sites, STEPS_FILTER | STEPS_SITES)
