/*
 * One handmade session that has every kind of record. The golden outputs show it, the hostile tests damage it, and the
 * fuzzer starts from it.
 */
#ifndef DWELL_TESTS_EXAMPLE_H
#define DWELL_TESTS_EXAMPLE_H

#include "support/session_writer.h"

/* Two processes of a shop. /opt/shop/bin/shop has the threads "shop" and "pricing"; "worker" is its forked child. Both
 * processes load libprice.so. Application times are known if `source` is not SOURCE_NONE. */
struct writer *example_session(uint32_t source);

/* A small version of it: one thread and a few events, but every kind of record. */
struct writer *example_small(void);

#endif
