/* A function's source with the values of its lines. */
#ifndef DWELL_REPORT_ANNOTATE_H
#define DWELL_REPORT_ANNOTATE_H

#include <stdio.h>

#include "analysis/analysis.h"
#include "analysis/source_file.h"
#include "profile/sample_sums.h"
#include "tables/table.h"

/* A line of the source. Times are in ticks. */
struct annotated_line {
    const char *text;          /* ended by a zero byte */
    uint64_t calls;            /* made from the line */
    uint64_t time;             /* that they took, elapsed */
    struct sample_sum sampled; /* the function itself was there; */
    uint64_t self;             /* its own time in proportion to that */
    bool hot;
};

struct annotation {
    const struct analysis *analysis;
    const char *file;
    uint32_t first, last;         /* lines that are shown, from 1 */
    struct annotated_line *lines; /* of the whole file: line 1 is the first */
    uint32_t count;
    char *text;
    struct times sums;           /* of the functions */
    struct sample_sum sampled;   /* of the function itself */
    uint64_t elsewhere, unknown; /* calls from other files and lines, and from unknown ones */
    bool has_sites, has_samples;
};

/* Annotates the functions, which begin in line `first` of the source. Takes the text of `source`. */
struct annotation annotate(const struct analysis *analysis, const bool *functions, const char *file, uint32_t first,
                           struct source_text *source);
void annotation_drop(struct annotation *a);

/* The line in which the declaration begins of a function whose body begins in line `first`. Compilers name the line of
 * the brace. */
uint32_t annotate_find_begin(const char *const *lines, uint32_t first);

/* The last line of the function that begins in line `first`: that of the brace that ends it. Zero if there is none. */
uint32_t annotate_find_end(const char *const *lines, uint32_t count, uint32_t first);

/* The same of the function whose body has the statement that begins in `line`, outside of all inner blocks. */
uint32_t annotate_find_end_of_body(const char *const *lines, uint32_t count, uint32_t line);

extern const struct column view_annotation_columns[];
extern const size_t view_annotation_column_count;

struct table view_annotation(const struct annotation *a);
void annotation_print(const struct annotation *a, FILE *out);

#endif
