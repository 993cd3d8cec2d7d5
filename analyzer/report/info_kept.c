/* dwell info: which calls a session keeps, and which it could not keep. */
#include <inttypes.h>
#include <stdlib.h>

#include "analysis/names.h"
#include "base/counted_text.h"
#include "base/numbers.h"
#include "base/text_options.h"
#include "base/units.h"
#include "report/info_lines.h"
#include "report/kept_activities.h"
#include "report/kept_ring.h"

static uint64_t info_kept_of_watch(const struct session_file *f, uint32_t watch)
{
    uint64_t count = 0;
    for (size_t i = 0; i < f->kept.count; i++)
        count += f->kept.calls[i].watch == watch && !f->kept.calls[i].usual;
    return count;
}

/* Four digits, as it was asked for: the clock's frequency was measured since, so the last digits differ. */
static const char *info_kept_around(const struct session_file *f, uint64_t ticks, char text[TIME_TEXT])
{
    const uint64_t ns = ticks_to_ns(ticks, f->header.ticks_per_second);
    uint64_t step = 1;
    while (ns / step >= 10000)
        step *= 10;
    text_time((ns + step / 2) / step * step, text);
    return text;
}

static void info_print_watches(const struct session_file *f, const struct dwell_keep *keep)
{
    char around[TIME_TEXT];
    info_print_line("keep", "windows of slow calls, %s %s%s before and after",
                    keep->flags & DWELL_KEEP_OTHERS ? "of all processes, with" : "with",
                    keep->flags & DWELL_KEEP_SHORTER ? "up to " : "", info_kept_around(f, keep->around, around));
    for (uint32_t i = 0; i < keep->watches; i++) {
        const uint64_t count = info_kept_of_watch(f, i);
        info_print_line("keep", "%s: %s", keep->watch[i].text, COUNTED(count, "slow call"));
    }
}

static void info_print_kept_call(const struct session_file *f, const struct dwell_keep *keep,
                                 const struct trace_kept *call, const char *name)
{
    char took[TIME_TEXT], when[TIME_TEXT], missing[TIME_TEXT];
    const struct trace_thread *t = session_file_thread(f, call->thread);
    info_print_line("kept", "%s took %s at %s in thread %" PRIu32 "%s", name,
                    info_time(f, call->exit_time - call->enter_time, took),
                    info_time(f, less(call->enter_time, f->header.start_ticks), when), t ? t->tid : 0,
                    call->usual ? ", to compare" : "");
    const uint64_t ring = kept_ring_needed(f, keep, call);
    if (call->missing && ring)
        info_print_line("kept", "  the first %s of its window are missing; --mode ring=%" PRIu64 "M would hold it",
                        info_time(f, call->missing, missing), ring >> 20);
    else if (call->missing)
        info_print_line("kept", "  all of its window is missing: the ring of its thread is far too short");
}

static const char *info_kept_name(const struct kept_activities *activities, struct namer *namer,
                                  const struct dwell_keep *keep, const struct trace_kept *call)
{
    const char *name = kept_activities_name(activities, keep, call);
    return name ? name : namer_find(namer, call->process, call->function, call->enter_time);
}

static void info_print_dropped(const struct dwell_file_more *more)
{
    if (more->dropped_calls || more->dropped_usual)
        info_print_line("not kept", "%s and %s, whose windows made room for later ones",
                        COUNTED(more->dropped_calls, "slow call"), COUNTED(more->dropped_usual, "usual one"));
    if (more->dropped_processes)
        info_print_line("not kept", "%s that %s ended, as the session has no window of %s",
                        COUNTED(more->dropped_processes, "process"),
                        counted_word(more->dropped_processes, "has", "have"),
                        counted_word(more->dropped_processes, "it", "them"));
    if (more->forgotten)
        info_print_line("not kept", "%s not watched to %s end, as %s thread had more than %d open",
                        COUNTED_WAS(more->forgotten, "activity"), counted_word(more->forgotten, "its", "their"),
                        counted_word(more->forgotten, "its", "their"), DWELL_KEEP_OPEN);
}

void info_print_kept(const struct session_file *f, size_t limit)
{
    const struct dwell_file_more *more = &f->more;
    struct dwell_keep keep;
    if (!more->keep)
        return;
    const bool known = kept_settings_read(f, &keep);
    if (known)
        info_print_watches(f, &keep);
    if (more->usual_calls)
        info_print_line("keep", "%s, to compare", COUNTED(more->usual_calls, "usual call"));
    if (more->limited_calls)
        info_print_line("not kept", "%s more than --keep-limit", COUNTED(more->limited_calls, "slow call"));
    if (more->unkept_calls)
        info_print_line("not kept", "%s for which there was no room", COUNTED(more->unkept_calls, "slow call"));
    info_print_dropped(more);
    struct namer *namer = namer_new(f);
    struct kept_activities activities = kept_activities_read(f);
    const size_t shown = limit && limit < f->kept.count ? limit : f->kept.count;
    for (size_t i = 0; i < shown; i++)
        info_print_kept_call(f, known ? &keep : NULL, &f->kept.calls[i],
                             info_kept_name(&activities, namer, known ? &keep : NULL, &f->kept.calls[i]));
    if (shown < f->kept.count)
        info_print_line("kept", "and %s: --limit 0 shows all", COUNTED(f->kept.count - shown, "more call"));
    kept_activities_free(&activities);
    namer_free(namer);
}
