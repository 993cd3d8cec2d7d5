/* Writes the page of `dwell view`: the template that viewer/ builds, with sessions in it. */
#ifndef DWELL_VIEW_PAGE_H
#define DWELL_VIEW_PAGE_H

#include <stdio.h>

#include "view/page_session.h"

/* Writes a page with one session, or with two to compare, the base first. */
void page_write(const struct view_session *const *sessions, size_t count, FILE *out);

/* Writes a page that fetches its session every `interval` milliseconds. */
void page_write_live(unsigned interval, FILE *out);

/* The page's Content-Security-Policy for an HTTP header: the page's own, which allows its script by the hash alone, and
 * no frames around it. The caller frees it. */
char *page_policy(void);

/* True if the file was written by page_write or is empty. */
bool page_is_ours(FILE *file);

#endif
