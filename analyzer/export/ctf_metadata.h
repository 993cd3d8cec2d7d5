/* The description that a CTF trace brings along, and the numbers in it. */
#ifndef DWELL_EXPORT_CTF_METADATA_H
#define DWELL_EXPORT_CTF_METADATA_H

#include <stdio.h>

#include "analysis/order.h"

/* Classes of streams. */
enum ctf_stream_class { CTF_CALLS, CTF_TRACE_EVENTS, CTF_SESSION };

/* Events of calls' streams, */
enum ctf_call_event {
    CTF_ENTER,
    CTF_EXIT,
    CTF_CONTINUE, /* a call goes on, or is found open */
    CTF_SUSPEND,  /* and will go on */
    CTF_LEAVE,    /* it ends without an exit */
    CTF_UNENDED,  /* nothing more is recorded of it */
    CTF_OFF_CPU,
    CTF_ON_CPU,
    CTF_OS, /* worked in the interval that ends here */
    CTF_MARK,
};

/* and of the session's. */
enum ctf_session_event { CTF_FUNCTION, CTF_PROCESS, CTF_PROCESS_END, CTF_SAMPLE };

void ctf_write_metadata(const struct analysis *session, const struct order *order, FILE *out);

#endif
