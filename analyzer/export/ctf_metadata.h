/* The metadata of a CTF trace, which describes its events, and the numbers of streams and events. */
#ifndef DWELL_EXPORT_CTF_METADATA_H
#define DWELL_EXPORT_CTF_METADATA_H

#include <stdio.h>

#include "analysis/order.h"

/* Classes of streams. */
enum ctf_stream_class { CTF_CALLS, CTF_TRACE_EVENTS, CTF_SESSION };

/* Events of the streams of calls. */
enum ctf_call_event {
    CTF_ENTER,
    CTF_EXIT,
    CTF_CONTINUE, /* a call continues, or was found open */
    CTF_SUSPEND,  /* a call is interrupted and will continue */
    CTF_LEAVE,    /* a call ends without an exit */
    CTF_UNENDED,  /* the end of a call was not recorded */
    CTF_OFF_CPU,
    CTF_ON_CPU,
    CTF_OS, /* OS events in the interval that ends here */
    CTF_MARK,
    CTF_VALUES, /* of the call that the enter before this event begins */
};

/* Events of the session's stream. */
enum ctf_session_event { CTF_FUNCTION, CTF_PROCESS, CTF_PROCESS_END, CTF_SAMPLE };

/* `values`: there are events CTF_VALUES. */
void ctf_write_metadata(const struct analysis *session, const struct order *order, bool values, FILE *out);

#endif
