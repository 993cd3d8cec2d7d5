/* Flows from processes to those that they created, and samples of CPU and memory, for Perfetto. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "export/perfetto_writer.h"

static int perfetto_compare_processes(const void *a, const void *b)
{
    const struct trace_process *x = *(const struct trace_process *const *)a,
                               *y = *(const struct trace_process *const *)b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start_time != y->start_time)
        return x->start_time < y->start_time ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Returns the processes, sorted by PID and start. */
static const struct trace_process **perfetto_sort_processes(const struct session_file *file)
{
    const struct trace_process **by_pid = need_memory(file->process_count + 1, sizeof *by_pid);
    for (size_t i = 0; i < file->process_count; i++)
        by_pid[i] = &file->processes[i];
    qsort(by_pid, file->process_count, sizeof *by_pid, perfetto_compare_processes);
    return by_pid;
}

/* The last process with that PID that began before `p`; NULL if there is none. */
static const struct trace_process *perfetto_latest_before(const struct perfetto_writer *w,
                                                          const struct trace_process *const *by_pid,
                                                          const struct trace_process *p, uint32_t pid)
{
    const size_t place = LOWER_BOUND(other, by_pid, w->session->file->process_count,
                                     (*other)->pid != pid                    ? (*other)->pid < pid
                                     : (*other)->start_time != p->start_time ? (*other)->start_time < p->start_time
                                                                             : *other < p);
    return place && by_pid[place - 1]->pid == pid ? by_pid[place - 1] : NULL;
}

/* The process that it comes from: the one that forked it, had its PID before exec, or has its parent's PID. NULL if the
 * session has none. */
static const struct trace_process *perfetto_process_origin(const struct perfetto_writer *w,
                                                           const struct trace_process *const *by_pid,
                                                           const struct trace_process *p, const char **how)
{
    const struct trace_process *forked =
        p->parent_process ? session_file_process(w->session->file, p->parent_process) : NULL;
    *how = "fork";
    if (forked)
        return forked;
    const struct trace_process *executed = perfetto_latest_before(w, by_pid, p, p->pid);
    *how = executed ? "exec" : "start";
    return executed ? executed : perfetto_latest_before(w, by_pid, p, p->parent_pid);
}

static void perfetto_write_flow_end(const struct perfetto_writer *w, uint32_t process, uint64_t time, char *name,
                                    uint64_t flow, bool ends)
{
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    Perfetto__Event event = PERFETTO__EVENT__INIT;
    packet.event = &event;
    packet.has_timestamp = event.has_type = event.has_track = true;
    packet.timestamp = time;
    event.type = PACKET_INSTANT;
    event.track = perfetto_track_id(w, OF_PROCESS, process);
    event.name_text = name;
    if (ends) {
        event.n_ending_flows = 1;
        event.ending_flows = &flow;
    } else {
        event.n_flows = 1;
        event.flows = &flow;
    }
    packet_write(&w->stream, &packet);
}

/* Writes a flow to a process from the process that created it. */
static void perfetto_write_flow(struct perfetto_writer *w, const struct trace_process *const *by_pid,
                                const struct trace_process *p)
{
    const char *how;
    const struct trace_process *origin = perfetto_process_origin(w, by_pid, p, &how);
    if (!origin)
        return;
    const uint64_t flow = perfetto_track_id(w, OF_PROCESS, p->serial), time = perfetto_time(w, p->start_time);
    char *name = slices_process_name(w->session, p->serial);
    char *title = need_text("%s: %s (%" PRIu32 ")", how, name, p->pid);
    perfetto_announce_process(w, origin->serial);
    perfetto_announce_process(w, p->serial);
    perfetto_write_flow_end(w, origin->serial, time, title, flow, false);
    perfetto_write_flow_end(w, p->serial, time, title, flow, true);
    free(title);
    free(name);
}

static void perfetto_write_samples_of(struct perfetto_writer *w, const struct trace_process *p)
{
    const uint64_t memory = perfetto_track_id(w, OF_MEMORY, p->serial), cpu = perfetto_track_id(w, OF_CPU, p->serial);
    if (!p->sample_count)
        return;
    perfetto_announce_process(w, p->serial);
    perfetto_announce_track(&w->stream, perfetto_track_id(w, OF_PROCESS, p->serial), memory, "resident memory",
                            UNIT_BYTES, "");
    perfetto_announce_track(&w->stream, perfetto_track_id(w, OF_PROCESS, p->serial), cpu, "CPU", UNIT_OTHER, "%");
    for (size_t i = 0; i < p->sample_count; i++) {
        const struct trace_sample *sample = &p->samples[i], *before = i ? sample - 1 : NULL;
        if (!slices_hold(w->session, p->serial, sample->time))
            continue;
        const uint64_t time = perfetto_time(w, sample->time), since = before ? perfetto_time(w, before->time) : time;
        if (sample->resident)
            perfetto_write_counter(&w->stream, memory, time, sample->resident);
        if (before && time > since && sample->cpu >= before->cpu) /* CPU time since the sample before */
            perfetto_write_counter(&w->stream, cpu, since, (sample->cpu - before->cpu) * 100 / (time - since));
    }
}

void perfetto_write_flows(struct perfetto_writer *w)
{
    const struct session_file *file = w->session->file;
    const struct trace_process **by_pid = perfetto_sort_processes(file);
    for (size_t i = 0; i < file->process_count; i++)
        perfetto_write_flow(w, by_pid, &file->processes[i]);
    free(by_pid);
}

void perfetto_write_samples(struct perfetto_writer *w)
{
    for (size_t i = 0; i < w->session->file->process_count; i++)
        perfetto_write_samples_of(w, &w->session->file->processes[i]);
}
