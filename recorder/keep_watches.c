/* Reads the options about slow calls that are kept, and writes them into the session for the runtime. */
#include "recorder/keep_watches.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/duration.h"
#include "base/memory.h"
#include "base/wide.h"

char *keep_watches_add(struct keep_watches *watches, const char *value, const char *place, uint32_t *number,
                       struct error *error)
{
    const uint64_t longest = UINT64_C(1000000000000000); /* ns */
    const char *sign = strrchr(value, '>');
    uint64_t limit;
    if (!sign || sign == value || !duration_parse(sign + 1, &limit) || limit > longest) {
        error_set(error, "%s: '%s' is not a function and a time, such as 'parse_request>20ms'", place, value);
        return NULL;
    }
    if (watches->count == DWELL_KEEP_WATCHES) {
        error_set(error, "%s: there can be %d of them", place, DWELL_KEEP_WATCHES);
        return NULL;
    }
    watches->list[watches->count++] = (struct keep_watch){ limit, need_text("%s", value) };
    *number = watches->count;
    return need_copy(value, (size_t)(sign - value));
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

bool keep_watches_write(const struct keep_watches *watches, const struct session *session, int fd)
{
    struct dwell_keep keep = {
        .chunk = { .magic = DWELL_CHUNK_MAGIC, .kind = DWELL_CHUNK_KEEP, .size = DWELL_UNIT, .used = sizeof keep },
        .around = keep_ticks(session, watches->around_ns),
        .period = keep_ticks(session, watches->period_ns),
        .most = watches->most,
        .usual = watches->usual,
        .watches = watches->count,
    };
    for (uint32_t i = 0; i < watches->count; i++) {
        keep.watch[i].limit = keep_ticks(session, watches->list[i].limit_ns);
        strncpy(keep.watch[i].text, watches->list[i].text, DWELL_KEEP_TEXT - 1);
    }
    const uint64_t offset = session_claim(session, fd, DWELL_UNIT);
    if (!offset || pwrite(fd, &keep, sizeof keep, (off_t)offset) != (ssize_t)sizeof keep)
        return false;
    session_more(session)->keep = offset;
    return true;
}

void keep_watches_drop(struct keep_watches *watches)
{
    for (uint32_t i = 0; i < watches->count; i++)
        free(watches->list[i].text);
}
