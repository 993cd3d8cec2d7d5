/* A session with call sites, made by hand: tests know what each line of it is to show. */
#ifndef DWELL_TESTS_SITE_SESSION_H
#define DWELL_TESTS_SITE_SESSION_H

#include "support/session_writer.h"

enum { SITES_WHOLE, SITES_SPLIT, SITES_SWITCHED, SITES_WAYS };

/*
 * main (0..150) calls f from a.c:10 (10..30), and from two places in a.c:11 (40..100, 110..140). The first of these two
 * calls has g inlined from line 20 (50..80), which calls f (60..70) from line 30; and calls f (90..95) from b.h:5,
 * which is inlined. The last one calls g (120..130) from nobody knows where. SITES_SPLIT: another chunk begins at 65;
 * SITES_SWITCHED: a pause ends then, which had no length, with all calls found open anew.
 */
struct writer *site_session(int way);

/* The record of a site of the next enter: type, and so many words of the value. */
void write_site(struct writer *w, unsigned type, uint64_t value, unsigned words);

#endif
