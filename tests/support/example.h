/*
 * One session with something of everything, made by hand: what the golden outputs show, what hostile tests damage, and
 * what the fuzzer starts from.
 */
#ifndef DWELL_TESTS_EXAMPLE_H
#define DWELL_TESTS_EXAMPLE_H

#include "support/session_writer.h"

/* Two processes of a shop: /opt/shop/bin/shop with the threads "shop" and "pricing", its forked child "worker", and
 * libprice.so in both. Application times are known if `source` is not SOURCE_NONE. */
struct writer *example_session(uint32_t source);

/* The same, small: one thread and a few events, but still with every kind of record. */
struct writer *example_small(void);

#endif
