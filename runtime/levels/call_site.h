/* A place in the code that calls a probe, and the forms that the call can have. */
#ifndef DWELL_LEVELS_CALL_SITE_H
#define DWELL_LEVELS_CALL_SITE_H

#include <stdbool.h>
#include <stdint.h>

enum call_form {
    CALL_ORIGINAL, /* as the compiler and the linker made it */
    CALL_OUT,      /* nothing is called */
    CALL_CHECKED,  /* a stub asks at each call which function it is */
    CALL_COUNTED,  /* the stub of the function counts the call */
    CALL_IN_PLACE, /* one instruction in its place counts it (in_place.h) */
    CALL_VALUES,   /* a probe reads values, and calls the usual one (value_probe.h) */
    CALL_FORMS,
};

enum { MAX_CALL_BYTES = 8 };

struct call_site {
    uint64_t address;
    uint64_t function; /* the probe's first argument; zero if it is not known to be always the same */
    uint64_t stub;     /* that counts a call of the function; zero if there is none */
    uint8_t length;    /* of the instruction */
    uint8_t hook;      /* enum hook */
    bool jump;         /* the last call of a function */
    uint8_t form;      /* enum call_form: what it was rewritten to */
    uint8_t wanted;    /* enum call_form: what it is to be */
    uint8_t change;    /* enum machine_change, while it is rewritten */
    uint8_t protected; /* its page's protection then: PROT_ bits, and one of the rewriter's own */
    bool first;        /* in its function's code */
    bool partial;      /* its code may have enters of unknown functions, or be a part of code that lies elsewhere */
    bool strange;      /* its bytes were not as expected: somebody else has changed them */
    uint8_t original[MAX_CALL_BYTES];
    uint32_t next; /* number plus one of the next site that changes, while it is rewritten; zero: there is none */
};

#endif
