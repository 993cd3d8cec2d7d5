/* The lines of the source that calls were made from. */
#ifndef DWELL_ANALYSIS_LINES_H
#define DWELL_ANALYSIS_LINES_H

#include "profile/profile.h"
#include "trace/session_file.h"

struct analysis;

struct line_name {
    char *source;        /* file without folders, and line: "sort.c:12"; where that is unknown, module and address */
    char *file;          /* NULL: unknown, */
    uint32_t line;       /* or zero */
    char *function;      /* that the line is of, demangled; the module in brackets where that is unknown */
    char *module;        /* file name without folders */
    char *path;          /* of the module, with them */
    char *inlined;       /* in which function, and where there: "sort (sort.c:34)"; NULL: it is a function of its own */
    char *outer_file;    /* where there: NULL: unknown, */
    uint32_t outer_line; /* or zero */
};

/* Of each site of the profile, in their order. */
struct line_name *lines_find(const struct session_file *file, const struct profile *profile);
void lines_free(struct line_name *lines, size_t count);

/* Makes all sites of a line one, the first of them: so that calls from one line are on one path. */
void lines_join(struct analysis *l);

/* "step, in sort (sort.c:34)", as people read it; to be freed by the caller. */
char *lines_function(const struct line_name *line);

/* For qsort: sites of the profile that lines_join made, in an order that is always the same. PROFILE_NONE is the first.
 */
int lines_compare(const struct analysis *l, uint32_t a, uint32_t b);

/* By call path of the profile: the line in that source file that it was called from, if it is one there, or is inlined
 * there; zero: unknown. */
uint32_t lines_in_file(const struct analysis *l, const struct profile_node *node, const char *file);

/* By call path of the profile: the line that it was called from; NULL: unknown. */
const struct line_name *lines_of_node(const struct analysis *l, const struct profile_node *node);

#endif
