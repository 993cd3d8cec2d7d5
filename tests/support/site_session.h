/* A handmade session with call sites. Its tests know what each line must show. */
#ifndef DWELL_TESTS_SITE_SESSION_H
#define DWELL_TESTS_SITE_SESSION_H

#include "support/session_writer.h"

enum { SITES_WHOLE, SITES_SPLIT, SITES_SWITCHED, SITES_WAYS };

/*
 * main (0..150) calls f from a.c:10 (10..30), and from two places in a.c:11 (40..100, 110..140). In the first of these
 * two calls, g is inlined from line 20 (50..80), and g calls f (60..70) from line 30. That call also calls f (90..95)
 * from b.h:5, which is inlined. The last one calls g (120..130) from an unknown place.
 *
 * SITES_SPLIT: another chunk begins at 65. SITES_SWITCHED: a pause of no length ends at 65, and all open calls are
 * found again.
 */
struct writer *site_session(int way);

/* Writes the call-site record of the next enter, with a value of `words` words. */
void write_site(struct writer *w, unsigned type, uint64_t value, unsigned words);

#endif
