/* One of two libraries of the same size and layout: each can be loaded at the address that the other one had. */
#include "soak.h"

static edge_counts *edges;

#define COUNT_HERE(caller, callee) __atomic_fetch_add(&(*edges)[caller][callee], 1, __ATOMIC_RELAXED)

KEPT static void plugin_leaf(void)
{
    COUNT_HERE(PLUGIN, PLUGIN_LEAF);
    AFTER;
}

#ifdef B
KEPT static void plugin_b(void)
#else
KEPT static void plugin_a(void)
#endif
{
    COUNT_HERE(LOADER, PLUGIN);
    plugin_leaf();
    AFTER;
}

QUIET soak_plugin soak_plugin_run;
QUIET void soak_plugin_run(edge_counts *counts)
{
    edges = counts;
#ifdef B
    plugin_b();
#else
    plugin_a();
#endif
}
