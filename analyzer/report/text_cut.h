/* Fits texts of a table into a width by cutting them where the least is lost. Texts are visible (base/visible.h), and
 * widths are in character cells of a terminal. */
#ifndef DWELL_REPORT_TEXT_CUT_H
#define DWELL_REPORT_TEXT_CUT_H

#include <stddef.h>

/* The width of a text. */
size_t text_width(const char *text);

/* The text with dots in its middle if it is too wide. The caller frees it. */
char *text_cut_middle(const char *text, size_t width);

/* A place in a source file, "networking.c:383", cut in the file's name. The line's number is never cut, even if it does
 * not fit. The caller frees it. */
char *text_cut_source(const char *source, size_t width);

/* Names of threads and their number, "a, b, c, ... (6 threads)". Whole names are left out as long as one fits. The
 * number stays. The caller frees it. */
char *text_cut_threads(const char *threads, size_t width);

/* What is waited for: "KIND NAME made in FUNCTION". An address is cut first, then left out, as the maker says more. Of
 * another name, the maker is left out first, and the end stays. The kind stays. The caller frees it. */
char *text_cut_object(const char *object, size_t width);

/* Replaces functions' names by what display_name makes of them. Different names stay different. */
void text_cut_display(char **names, size_t count);

/* Replaces names that are wider than their width. They lose, in this order and only as far as needed: the return type,
 * template arguments, parameters, and the middle. Different names stay different where the widths allow it. */
void text_cut_names(char **names, const size_t *widths, size_t count);

#endif
