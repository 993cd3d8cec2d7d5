/* Why an argument cannot be read at a call of a probe. */
#ifndef DWELL_ARGUMENTS_MISSING_H
#define DWELL_ARGUMENTS_MISSING_H

enum missing {
    MISSING_NOT, /* it can be read */
    MISSING_OPTIMISED_OUT,
    MISSING_COMPUTED,     /* the debug information says how to compute it in a way that is not known here */
    MISSING_NOT_STORED,   /* it comes to its place only after the probe's call */
    MISSING_IN_PARTS,     /* its bytes are in several places */
    MISSING_EMPTY,        /* its type has no values, as a class without members */
    MISSING_TYPE,         /* its type has no single value, as that of a struct */
    MISSING_WIDE,         /* it has more than eight bytes */
    MISSING_INLINED,      /* a result of an inlined copy, which is no register */
    MISSING_RESULT_PLACE, /* the code between the probe and the function's end does not say where the result is */
    MISSING_SCOPE,        /* the debug information does not know the function there */
    MISSING_DAMAGED,      /* the debug information contradicts itself */
    MISSING_KINDS,
};

/* The key of a reason, such as "optimised-out", and its text. */
const char *missing_key(enum missing missing);
const char *missing_text(enum missing missing);

#endif
