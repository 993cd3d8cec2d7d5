/* Opens pages in the user's browser. */
#ifndef DWELL_VIEW_BROWSER_H
#define DWELL_VIEW_BROWSER_H

#include <stdbool.h>

/* True if a browser can show a page to the user: standard output is a terminal and there is a display. */
bool browser_is_wanted(void);

/* Opens a file or a URL by $BROWSER or xdg-open and does not wait. Returns false if neither can be executed. */
bool browser_open(const char *url);

/* Opens a URL that other users must not see in the list of processes: the browser gets a file that only the user can
 * read and that redirects to the URL. *file is its name, or NULL if there is none. The caller unlinks and frees it. */
bool browser_open_secret(const char *url, char **file);

#endif
