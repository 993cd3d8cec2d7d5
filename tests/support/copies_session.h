/* A session in which several functions have one name, and some of them one source line. */
#ifndef TESTS_SUPPORT_COPIES_SESSION_H
#define TESTS_SUPPORT_COPIES_SESSION_H

#include "support/session_writer.h"

/*
 * Times in ns: main(0..100) calls two copies of length@sds.h:87. One calls the other one (10..30, within it 15..20),
 * then the other one is called alone (40..50). It also calls length@list.h:9 (60..70), and one of another module
 * (80..90).
 */
struct writer *copies_session(void);

#endif
