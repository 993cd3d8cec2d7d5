/* C++ names for people: without what every name of the standard library repeats, and shorter where space is short. */
#ifndef DWELL_SYMBOLS_DISPLAY_NAME_H
#define DWELL_SYMBOLS_DISPLAY_NAME_H

#include <stdbool.h>

/* The name without inline namespaces, ABI tags, and default template arguments: "std::string" for
 * "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >". Other texts stay as they are. The
 * caller frees it. */
char *display_name(const char *name);

/* What display_name_elide leaves out. */
struct display_elision {
    unsigned template_levels; /* template arguments deeper than this many levels become dots */
    bool parameters;          /* parameter lists become dots, and "(anonymous namespace)" becomes "(anon)" */
    const char *dots;         /* "…" or "..." */
};

/* The name with dots in place of these parts. Names of several functions, "f > g", may be passed too. The result is
 * not longer. The caller frees it. */
char *display_name_elide(const char *name, const struct display_elision *elision);

#endif
