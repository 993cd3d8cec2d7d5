/*
 * What GCC's lists of excluded functions and files leave out. GCC compares texts: a function is left out if its name,
 * or the path of its source file, contains one of them. Its names have namespaces and classes, but no parameters.
 */
#ifndef DWELL_ANALYSIS_EXCLUSIONS_H
#define DWELL_ANALYSIS_EXCLUSIONS_H

#include "analysis/analysis.h"

/* Why a function is in neither list. */
enum exclusion_reason {
    EXCLUSION_HAS_NO_NAME,  /* a name that GCC prints in another way, or that a command line cannot hold */
    EXCLUSION_TAKES_OTHERS, /* its name is a part of a name that is to stay */
    EXCLUSION_TOO_MANY,     /* a command line has limits */
};

/* A function that is not left out although it should be. */
struct exclusion_missed {
    uint32_t function;
    enum exclusion_reason reason;
    uint32_t other; /* that would be left out, too */
};

struct exclusions {
    char **functions, **files; /* the texts, without characters that a shell, make or GCC would interpret */
    size_t function_count, function_room, file_count, file_room;
    bool *left_out; /* by function of the profile */
    struct exclusion_missed *missed;
    size_t missed_count, missed_room;
};

/* Leaves out these functions, listed as `list` and marked in `wanted`, and none of the other functions that were
 * called. */
struct exclusions exclusions_of(const struct analysis *analysis, const uint32_t *list, size_t count,
                                const bool *wanted);
void exclusions_drop(struct exclusions *e);

/* The name of a function as GCC's list takes it. NULL if there is none. The caller frees it. */
char *exclusion_name(const char *demangled);

#endif
