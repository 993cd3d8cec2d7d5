/* How long a recorded program ran: what a clock on the wall shows, whatever its threads did. */
#include "analysis/run_length.h"

#include "base/numbers.h"

static uint64_t run_begin(const struct session_file *file)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < file->process_count; i++)
        if (file->processes[i].start_time)
            first = smaller(first, file->processes[i].start_time);
    return first == UINT64_MAX ? file->header.start_ticks : larger(first, file->header.start_ticks);
}

/* The recorder ends the session after the last process that it waits for. Zero if no end is known. */
static uint64_t run_end(const struct session_file *file)
{
    uint64_t last = 0;
    bool ended = file->process_count > 0;
    for (size_t i = 0; i < file->process_count; i++) {
        ended = ended && file->processes[i].end_time;
        last = larger(last, file->processes[i].end_time);
    }
    if (!ended && file->header.state != DWELL_COMPLETE)
        return 0; /* it may still run */
    last = ended ? last : larger(last, file->header.end_ticks);
    for (size_t i = 0; i < file->thread_count && !ended; i++)
        last = larger(last, file->threads[i].end_time);
    return last;
}

uint64_t run_length(const struct session_file *file, const struct selection *selection)
{
    if (file->header.origin & DWELL_ORIGIN_IMPORTED || file->sums.summed_count > 1 || (selection && selection->within))
        return 0;
    const uint64_t begin = run_begin(file), end = run_end(file);
    if (!selection || !selection->cut)
        return less(end, begin);
    return less(smaller(end, selection->to), larger(begin, selection->from));
}
