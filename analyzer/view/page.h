/* The page of `dwell view`: the template that viewer/ builds, with sessions put into it. */
#ifndef DWELL_VIEW_PAGE_H
#define DWELL_VIEW_PAGE_H

#include <stdio.h>

#include "view/session.h"

/* Each in the order in which the page is to show them. */
void page_write(const struct view_session *const *sessions, size_t count, FILE *out);

/* A page that fetches its session, every `interval` milliseconds. */
void page_write_live(unsigned interval, FILE *out);

/* Whether the file was written by page_write; or is empty. */
bool page_is_ours(FILE *file);

#endif
