/* The last step of reading metadata: sorts the lists, and joins records that belong together. */
#ifndef DWELL_TRACE_METADATA_FINISH_H
#define DWELL_TRACE_METADATA_FINISH_H

#include "base/index.h"
#include "trace/process_cpu_times.h"

/* What is needed only while the records are read. Lists are sorted at the end, since numbers can come in any order. */
struct metadata_tables {
    struct number_index *processes, *threads; /* serial number to place in the list */
    struct number_index *modules;             /* (number, process) to the last unload of that module */
    struct module_unload {
        uint64_t time;
        size_t module_count; /* the modules of the process that were read before */
    } * unloads;
    size_t unload_count, unload_room;
    struct observed_ends ends;
    struct observed_cpus cpus;
};

/* Sorts processes, threads, modules and samples, and completes their times. Frees the lists of ends and of CPU
 * times. */
void metadata_finish(struct session_file *file, struct metadata_tables *tables);

#endif
