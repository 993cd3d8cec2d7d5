/* Sessions of one program in two versions, for comparisons. The program is a shop that looks up prices. */
#ifndef DWELL_TESTS_VERSIONS_H
#define DWELL_TESTS_VERSIONS_H

#include <stdint.h>

#include "support/session_writer.h"

struct version {
    const char *program; /* its path is /opt/PROGRAM; "shop" if NULL */
    uint64_t shift;      /* added to the addresses of the first version's functions */
    unsigned lookups;    /* calls of price::lookup, each of `time` plus `noise` */
    uint64_t time;       /* 100 ns if zero */
    uint64_t slow;       /* each 50th lookup takes so much longer */
    uint64_t main_time;  /* exclusive; `noise` adds to it */
    uint64_t noise;
    bool cached;           /* has price::cached, called once for 50 ns by price::lookup */
    bool logged;           /* has log_line, called once for 30 ns */
    uint32_t source;       /* of OS events */
    uint64_t ticks_per_ns; /* 1 if zero */
};

struct writer *version_session(const struct version *v);

/* Writes it and frees the writer. */
void version_save(const struct version *v, const char *path);

#endif
