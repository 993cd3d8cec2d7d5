/*
 * The probes where call sites are recorded: those of hooks.c, with a record before each enter that names the call site.
 * They are probes of their own, so that recordings without call sites pay nothing.
 */
#include "probe_steps.h"
#include "probes.h"
#include "record.h"
#include "runtime.h"
#include "sites.h"
#include "slow.h"
#include "thread.h"

PROBES_DEFINITION(sites, STEPS_TIMED | STEPS_SITES)
