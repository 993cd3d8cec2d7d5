/* dwell info: the levels of functions, as they changed while the session was recorded. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/level_changes.h"
#include "analysis/names.h"
#include "base/counted_text.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "report/info_lines.h"
#include "symbols/display_name.h"

/* The text that follows "counted since 3 ms". */
static char *info_level_text(const struct session_file *f, const struct level_change *c, uint64_t first)
{
    char since[TIME_TEXT], mean[TIME_TEXT];
    char *changes = c->changes > 1
                        ? need_text(" (%s since %s)", COUNTED(c->changes, "change"), info_time(f, first, since))
                        : need_text("%s", "");
    char *text = c->calls && c->mean
                     ? need_text("%s, after %s of %s", changes, COUNTED(c->calls, "call"), info_time(f, c->mean, mean))
                     : need_copy(changes, strlen(changes));
    free(changes);
    return text;
}

/* Functions whose levels the budget has chosen, one a line. */
static void info_print_decided(const struct session_file *f, const struct level_changes *changes, size_t limit,
                               struct namer *namer)
{
    const size_t count = changes->decided_count, shown = limit && limit < count ? limit : count;
    for (size_t i = 0; i < shown; i++) {
        const struct level_change *c = &changes->decided[i];
        char last[TIME_TEXT];
        char *more = info_level_text(f, c, less(c->first, f->header.start_ticks));
        char *name = display_name(namer_find(namer, c->process, c->function, c->last));
        info_print_line("level", "%-7s since %s%s: %s", level_name(c->level),
                        info_time(f, less(c->last, f->header.start_ticks), last), more, name);
        free(name);
        free(more);
    }
    if (shown < count)
        info_print_line("level", "and %s: --limit 0 shows all", COUNTED(count - shown, "more function"));
}

/* Times are from the session's start. */
void info_print_levels(const struct session_file *f, size_t limit)
{
    enum { MAX_LINES = 100 };
    if (!f->levels.change_count)
        return;
    struct namer *namer = namer_new(f);
    struct level_changes changes = level_changes_of(f);
    info_print_decided(f, &changes, limit, namer);
    for (size_t i = 0; i < changes.other_count && i < MAX_LINES; i++) {
        const struct trace_level *level = changes.others[i];
        char time[TIME_TEXT];
        char *name = display_name(namer_find(namer, level->process, level->function, level->time));
        info_print_line("level", "%-7s since %s: %s", level_name(level->level),
                        info_time(f, less(level->time, f->header.start_ticks), time), name);
        free(name);
    }
    if (changes.other_count > MAX_LINES)
        info_print_line("level", "and %s", COUNTED(changes.other_count - MAX_LINES, "more change"));
    level_changes_drop(&changes);
    namer_free(namer);
}
