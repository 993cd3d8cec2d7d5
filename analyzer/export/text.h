/* Names for formats that are made of lines. */
#ifndef DWELL_EXPORT_TEXT_H
#define DWELL_EXPORT_TEXT_H

/* A copy in UTF-8 whose control characters are written as C writes them; to be freed by the caller. */
char *text_on_a_line(const char *name);

#endif
