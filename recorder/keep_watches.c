/* Reads the options about slow calls that are kept, and writes them into the session for the runtime. */
#include "recorder/keep_watches.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/memory.h"
#include "base/wide.h"
#include "keep_named.h"

/* Of 10,000 calls, at least one is slow, and at most half. */
static bool keep_read_share(struct keep_watch *watch, const char *text)
{
    char *end;
    const double percent = strtod(text, &end);
    if (end == text || *end || !(percent >= 50 && percent <= 99.99))
        return false;
    watch->rule = DWELL_KEEP_SHARE;
    watch->amount = (uint32_t)lround((100 - percent) * 100);
    return true;
}

static bool keep_read_mean(struct keep_watch *watch, const char *text)
{
    char *end;
    const double times = strtod(text, &end);
    if (end == text || strcmp(end, "xmean") != 0 || !(times > 1 && times <= 1000))
        return false;
    watch->rule = DWELL_KEEP_MEAN;
    watch->amount = (uint32_t)lround(times * DWELL_KEEP_ONCE);
    return true;
}

static bool keep_read_rule(struct keep_watch *watch, const char *text)
{
    const uint64_t longest = UINT64_C(1000000000000000); /* ns */
    if (*text == 'p')
        return keep_read_share(watch, text + 1);
    return keep_read_mean(watch, text) || (duration_parse(text, &watch->limit_ns) && watch->limit_ns <= longest);
}

bool keep_is_for_activities(const char *pattern)
{
    return strncmp(pattern, "marker:", strlen("marker:")) == 0 ||
           strncmp(pattern, "activity:", strlen("activity:")) == 0;
}

static char *keep_watches_take(struct keep_watches *watches, struct keep_watch watch, const char *value,
                               const char *place, uint32_t *number, struct error *error)
{
    const size_t length = (size_t)(strrchr(value, '>') - value);
    if (watches->count == DWELL_KEEP_WATCHES) {
        error_set(error, "%s: there can be %d of them", place, DWELL_KEEP_WATCHES);
        return NULL;
    }
    if (keep_is_for_activities(value) && strlen(value) >= DWELL_KEEP_TEXT - 1) {
        error_set(error, "%s: '%s' is longer than %d characters, as an activity's name cannot be", place, value,
                  DWELL_KEEP_TEXT - 2);
        return NULL;
    }
    watch.text = need_text("%s", value);
    watches->list[watches->count++] = watch;
    *number = watches->count;
    return need_copy(value, length);
}

char *keep_watches_add(struct keep_watches *watches, const char *value, const char *place, uint32_t *number,
                       struct error *error)
{
    const char *sign = strrchr(value, '>');
    struct keep_watch watch = { 0 };
    if (!sign || sign == value || !keep_read_rule(&watch, sign + 1)) {
        error_set(error,
                  "%s: '%s' is not a function and a limit, such as 'parse_request>20ms', 'parse_request>p99' or "
                  "'parse_request>5xmean'",
                  place, value);
        return NULL;
    }
    return keep_watches_take(watches, watch, value, place, number, error);
}

bool keep_watches_limit(struct keep_watches *watches, const char *value, const char *place, struct error *error)
{
    static const struct {
        const char *name;
        uint64_t seconds;
    } units[] = { { "/s", 1 }, { "/min", 60 }, { "/h", 3600 }, { "/day", 86400 } };
    enum { MOST = 1000000 };
    char *end;
    errno = 0;
    const unsigned long most = strtoul(value, &end, 10);
    for (size_t i = 0; *value >= '0' && *value <= '9' && !errno && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && most > 0 && most <= MOST) {
            watches->most = (uint32_t)most;
            watches->period_ns = units[i].seconds * 1000000000;
            return true;
        }
    return error_set(error,
                     "%s: '%s' is not a number from 1 to %d of windows in a time, such as 10/min (s, min, h, day)",
                     place, value, MOST);
}

static uint64_t keep_ticks(const struct session *session, uint64_t ns)
{
    return multiply_divide(ns, session->header->ticks_per_second, 1000000000);
}

static struct dwell_watch keep_watch_as_written(const struct keep_watch *from, const struct session *session)
{
    struct dwell_watch watch = {
        .rule = from->rule,
        .amount = from->amount,
        .limit = from->rule == DWELL_KEEP_ABOVE && from->limit_ns != UINT64_MAX ? keep_ticks(session, from->limit_ns)
                                                                                : UINT64_MAX,
    };
    strncpy(watch.text, from->text, DWELL_KEEP_TEXT - 1);
    return watch;
}

bool keep_watches_write(const struct keep_watches *watches, const struct session *session, int fd)
{
    const uint64_t most = 5000000; /* ns */
    const bool shorter = watches->around_ns == KEEP_USUAL_AROUND;
    struct dwell_keep keep = {
        .chunk = { .magic = DWELL_CHUNK_MAGIC, .kind = DWELL_CHUNK_KEEP, .size = DWELL_UNIT, .used = KEEP_CHUNK_USED },
        .around = keep_ticks(session, shorter ? most : watches->around_ns),
        .period = keep_ticks(session, watches->period_ns),
        .most = watches->most,
        .usual = watches->usual,
        .watches = watches->count,
        .flags = (watches->newest ? DWELL_KEEP_NEWEST : 0) | (watches->others ? DWELL_KEEP_OTHERS : 0) |
                 (shorter ? DWELL_KEEP_SHORTER : 0),
    };
    for (uint32_t i = 0; i < watches->count; i++)
        keep.watch[i] = keep_watch_as_written(&watches->list[i], session);
    const uint64_t offset = session_claim(session, fd, DWELL_UNIT);
    if (!offset || pwrite(fd, &keep, sizeof keep, (off_t)offset) != (ssize_t)sizeof keep)
        return false;
    session_more(session)->keep = offset;
    return true;
}

char *keep_watches_change(struct keep_watches *watches, const char *value, struct error *error)
{
    static const char off[] = ">off";
    const size_t length = strlen(value), end = sizeof off - 1;
    uint32_t number;
    if (length <= end || strcmp(value + length - end, off) != 0)
        return keep_watches_add(watches, value, "control: keep", &number, error);
    return keep_is_for_activities(value) ? keep_watches_take(watches, (struct keep_watch){ .limit_ns = UINT64_MAX },
                                                             value, "control: keep", &number, error)
                                         : need_copy(value, length - end);
}

/* Finds the watch, or where it is to be. Of activities, the last watch is valid. */
static uint32_t keep_watch_number(const struct dwell_keep *keep, const struct dwell_watch *watch)
{
    uint32_t number = keep_is_for_activities(watch->text) && keep->watches ? keep->watches : 1;
    while (number <= keep->watches && number <= DWELL_KEEP_WATCHES &&
           memcmp(&keep->watch[number - 1], watch, sizeof *watch) != 0)
        number++;
    return number;
}

/* Processes read the number of watches, and then these. */
static bool keep_watch_append(const struct dwell_watch *watch, uint32_t number, uint64_t keep, int fd)
{
    const uint64_t at = keep + offsetof(struct dwell_keep, watch) + (number - 1) * sizeof *watch;
    return pwrite(fd, watch, sizeof *watch, (off_t)at) == (ssize_t)sizeof *watch &&
           pwrite(fd, &number, sizeof number, (off_t)(keep + offsetof(struct dwell_keep, watches))) ==
               (ssize_t)sizeof number;
}

bool keep_watches_append(const struct keep_watches *watches, const struct session *session, int fd, uint32_t *number,
                         struct error *error)
{
    struct dwell_keep keep;
    const uint64_t offset = session_more(session)->keep;
    *number = 0;
    if (!offset)
        return error_set(error, "control: the recording keeps no windows; begin it with dwell record --keep");
    if (!watches->count)
        return true;
    if (pread(fd, &keep, sizeof keep, (off_t)offset) != (ssize_t)sizeof keep || keep.chunk.kind != DWELL_CHUNK_KEEP)
        return error_set(error, "control: the settings of --keep cannot be read");
    const struct dwell_watch watch = keep_watch_as_written(&watches->list[0], session);
    *number = keep_watch_number(&keep, &watch);
    if (*number > DWELL_KEEP_WATCHES)
        return error_set(error, "control: a session can have %d settings of --keep, and has them", DWELL_KEEP_WATCHES);
    return *number <= keep.watches || keep_watch_append(&watch, *number, offset, fd) ||
           error_set(error, "control: the setting cannot be written: %s", strerror(errno));
}

void keep_watches_read_named(struct keep_watches *watches, const struct session *session, int fd)
{
    const uint64_t keep = session_more(session)->keep;
    for (uint32_t i = 0; keep && i < watches->count; i++) {
        uint8_t named = 0;
        watches->list[i].named = pread(fd, &named, sizeof named, (off_t)keep_named_at(keep, i)) == 1 && named;
    }
}

void keep_watches_drop(struct keep_watches *watches)
{
    for (uint32_t i = 0; i < watches->count; i++)
        free(watches->list[i].text);
}
