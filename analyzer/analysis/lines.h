/* The source lines from which calls were made. */
#ifndef DWELL_ANALYSIS_LINES_H
#define DWELL_ANALYSIS_LINES_H

#include "profile/profile.h"
#include "trace/session_file.h"

struct analysis;

struct line_name {
    char *source;   /* file without folders and line, "sort.c:12"; module and address if they are unknown */
    char *file;     /* NULL if unknown */
    uint32_t line;  /* zero if unknown */
    char *function; /* the function of the line, demangled; the module in brackets if it is unknown */
    char *module;   /* file name without folders */
    char *path;     /* the module's path */
    char *inlined;  /* the function into which `function` is inlined, and the line: "sort (sort.c:34)"; NULL if none */
    char *outer_file;    /* file and line there; NULL if unknown */
    uint32_t outer_line; /* zero if unknown */
};

/* The lines of all sites of the profile, in the order of the sites. */
struct line_name *lines_find(const struct session_file *file, const struct profile *profile);
void lines_free(struct line_name *lines, size_t count);

/* Replaces all sites of a line by the first of them, so that calls from one line are on one call path. */
void lines_join(struct analysis *analysis);

/* The function for people: "step, in sort (sort.c:34)". The caller frees it. */
char *lines_function(const struct line_name *line);

/* Compares two sites of the profile that lines_join made, as qsort does. The order is always the same; PROFILE_NONE is
 * first. */
int lines_compare(const struct analysis *analysis, uint32_t a, uint32_t b);

/* The line of `file` from which the call path was called, or into which that line was inlined; zero if unknown. */
uint32_t lines_in_file(const struct analysis *analysis, const struct profile_node *node, const char *file);

/* The line from which the call path was called; NULL if unknown. */
const struct line_name *lines_of_node(const struct analysis *analysis, const struct profile_node *node);

#endif
