/* Sessions of one program in two versions, for comparisons of them: a shop that looks prices up. */
#ifndef DWELL_TESTS_VERSIONS_H
#define DWELL_TESTS_VERSIONS_H

#include <stdint.h>

#include "support/session_writer.h"

struct version {
    const char *program; /* /opt/PROGRAM is its path; NULL: shop */
    uint64_t shift;      /* how far its functions lie behind those of the first version */
    unsigned lookups;    /* calls of price::lookup, of 100 ns and `noise` each */
    uint64_t main_time;  /* exclusive; with `noise` more */
    uint64_t noise;
    bool cached;           /* has price::cached, called once for 50 ns below price::lookup, */
    bool logged;           /* or log_line, called once for 30 ns */
    uint32_t source;       /* of OS events */
    uint64_t ticks_per_ns; /* zero: 1 */
};

struct writer *version_session(const struct version *v);

/* Writes it and frees the writer. */
void version_save(const struct version *v, const char *path);

#endif
