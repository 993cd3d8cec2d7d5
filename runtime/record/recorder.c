/* Finding a mode by its name, and its recorder. */
#include "recorder.h"
#include <string.h>

static const struct mode {
    const char *name; /* in DWELL_MODE */
    const struct recorder *plain, *filtered;
} modes[] = {
#define MODES_ENTRY(MODE, name, plain, filtered) [DWELL_MODE_##MODE] = { name, &(plain), &(filtered) },
    MODES(MODES_ENTRY)
#undef MODES_ENTRY
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
