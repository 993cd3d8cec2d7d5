/* The findings of dwell doctor, one line each: what a recording has and lacks on this machine. */
#ifndef DWELL_RECORDER_FINDINGS_H
#define DWELL_RECORDER_FINDINGS_H

#include <stddef.h>

enum health {
    HEALTH_OK,
    HEALTH_WARN, /* recording works, but something is missing or slow */
    HEALTH_BAD,  /* recording does not work */
};

struct finding {
    enum health health;
    const char *what;
    char *says; /* with how to mend it */
};

struct findings {
    struct finding *list;
    size_t count, room;
};

void find_that(struct findings *f, enum health health, const char *what, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* `output` is where a session would be written, and keep_free the bytes that it would leave free, as a decimal number;
 * NULL for the default. */
void examine_machine(struct findings *f, const char *output, const char *keep_free);
void examine_program(struct findings *f, const char *program);

#endif
