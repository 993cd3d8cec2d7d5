/* Completes processes and threads after all their records were read: ends, unloads of modules, and the order. */
#include "trace/metadata_finish.h"

#include <stdlib.h>
#include <string.h>

#include "base/sorted.h"
#include "trace/event_fields.h"
#include "trace/module_changes.h"
#include "trace/module_map.h"

/* The last unload of a number applies to the modules before it that have the number. */
static void metadata_add_unloads(struct trace_process *p, const struct metadata_tables *t)
{
    for (size_t i = 0; i < p->module_count; i++) {
        const struct index_slot *slot = index_find(t->modules, p->modules[i].serial, p->serial);
        if (slot->value_plus_1 && i < t->unloads[slot->value_plus_1 - 1].module_count)
            p->modules[i].unload_time = t->unloads[slot->value_plus_1 - 1].time;
    }
}

/* A thread without a recorded end ends with its process, or with the session (a dump). Its last OS events are unknown.
 */
static void metadata_end_open_threads(struct session_file *file)
{
    for (size_t i = 0; i < file->thread_count; i++) {
        struct trace_thread *t = &file->threads[i];
        const struct trace_process *p = session_file_process(file, t->process);
        if (t->end_time)
            continue;
        t->end_time = p && p->end_time ? p->end_time : file->header.end_ticks;
        t->end_flagged = true;
    }
}

static int metadata_compare_modules(const void *a, const void *b)
{
    const struct trace_module *x = a, *y = b;
    return ORDER_BY(x, y, load_time, serial);
}

static int metadata_compare_samples(const void *a, const void *b)
{
    const struct trace_sample *x = a, *y = b;
    return ORDER_BY(x, y, time);
}

static int metadata_compare_levels(const void *a, const void *b)
{
    const struct trace_level *x = a, *y = b;
    return ORDER_BY(x, y, time, process, function);
}

static int metadata_compare_object_names(const void *a, const void *b)
{
    const struct trace_object_name *x = a, *y = b;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int metadata_compare_processes(const void *a, const void *b)
{
    const struct trace_process *x = a, *y = b;
    return ORDER_BY(x, y, serial);
}

static int metadata_compare_threads(const void *a, const void *b)
{
    const struct trace_thread *x = a, *y = b;
    return ORDER_BY(x, y, serial);
}

static void metadata_finish_process(struct trace_process *p, const struct metadata_tables *tables)
{
    metadata_add_unloads(p, tables);
    if (p->sample_count)
        qsort(p->samples, p->sample_count, sizeof *p->samples, metadata_compare_samples);
    if (p->module_count)
        qsort(p->modules, p->module_count, sizeof *p->modules, metadata_compare_modules);
    p->module_map = module_map_new(p->modules, p->module_count);
    p->changes = module_changes(p->modules, p->module_count, &p->change_count);
}

static void metadata_finish_lists(struct session_file *file, const struct metadata_tables *tables)
{
    for (size_t i = 0; i < file->process_count; i++)
        metadata_finish_process(&file->processes[i], tables);
    if (file->process_count)
        qsort(file->processes, file->process_count, sizeof *file->processes, metadata_compare_processes);
    if (file->thread_count)
        qsort(file->threads, file->thread_count, sizeof *file->threads, metadata_compare_threads);
    if (file->levels.change_count)
        qsort(file->levels.changes, file->levels.change_count, sizeof *file->levels.changes, metadata_compare_levels);
    if (file->sums.object_name_count)
        qsort(file->sums.object_names, file->sums.object_name_count, sizeof *file->sums.object_names,
              metadata_compare_object_names);
    descriptor_list_sort(&file->descriptors);
    maker_list_sort(&file->makers);
    stub_list_sort(&file->stubs);
}

void metadata_finish(struct session_file *file, struct metadata_tables *tables)
{
    metadata_finish_lists(file, tables);
    process_ends_apply(file, &tables->ends);
    process_cpus_apply(file, &tables->cpus);
    metadata_end_open_threads(file);
    event_fields_sort_layouts(file);
}
