/* Several recordings of one program, or of two in turn: each is a `dwell record` of its own. */
#ifndef DWELL_RECORDER_RECORD_SERIES_H
#define DWELL_RECORDER_RECORD_SERIES_H

#include "base/error.h"
#include "recorder/record_settings.h"

/* A program of the series. */
struct series_program {
    const char *label;     /* a part of the names of its sessions, such as "before"; NULL for none */
    char *const *words;    /* the program and its arguments, ended by NULL */
    char **sessions;       /* of its runs; series_drop frees them */
    double total, squares; /* of the seconds that the runs took */
};

/* Records the programs `s->runs` times each. With several programs, their order alternates. The sessions are named
 * after s->output: FILE-1.data, or FILE-before-1.data. `to_stderr`: the programs' standard output goes to
 * standard error. Returns zero, or what waitpid returned for the first recording that failed. Then no other one
 * follows. Returns -1 and sets the error if dwell itself fails. */
int series_record(const struct record_settings *s, struct series_program *programs, size_t count, bool to_stderr,
                  struct error *error);
void series_drop(struct series_program *programs, size_t count, unsigned runs);

/* Says what the runs of a program took: "1.234 s, +- 0.012 s". The caller frees the text. */
char *series_describe(const struct series_program *p, unsigned runs);

#endif
