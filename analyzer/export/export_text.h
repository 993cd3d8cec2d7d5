/* Names for formats of text lines. */
#ifndef DWELL_EXPORT_EXPORT_EXPORT_TEXT_H
#define DWELL_EXPORT_EXPORT_EXPORT_TEXT_H

/* A copy of the name in UTF-8 with control characters escaped as in C. The caller frees it. */
char *text_single_line(const char *name);

#endif
