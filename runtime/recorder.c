/* The list of the recording modes. */
#include "recorder.h"
#include <string.h>

static const struct mode {
    const char *name; /* in DWELL_MODE */
    const struct recorder *plain, *filtered;
} modes[] = {
    [DWELL_MODE_TRACE] = { "trace", &trace_recorder, &filtered_recorder },
    [DWELL_MODE_PROFILE] = { "profile", &profile_recorder, &profile_filtered_recorder },
    [DWELL_MODE_RING] = { "ring", &trace_recorder, &filtered_recorder }, /* ring.c reuses the chunks */
};

enum { MODES = sizeof modes / sizeof *modes };

bool recorder_find_mode(const char *name, const char *end, enum dwell_mode *mode)
{
    const size_t length = (size_t)(end - name);
    for (int i = 0; i < MODES; i++) {
        if (strlen(modes[i].name) == length && memcmp(modes[i].name, name, length) == 0) {
            *mode = (enum dwell_mode)i;
            return true;
        }
    }
    return false;
}

const struct recorder *recorder_of(enum dwell_mode mode, bool filtered)
{
    const struct mode *found = &modes[(unsigned)mode < MODES ? mode : DWELL_MODE_TRACE];
    return filtered ? found->filtered : found->plain;
}
