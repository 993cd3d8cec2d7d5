/* The user's browser. */
#ifndef DWELL_VIEW_BROWSER_H
#define DWELL_VIEW_BROWSER_H

#include <stdbool.h>

/* Whether there is somebody to show a page to: stdout is a terminal, on a machine with a display. */
bool browser_is_wanted(void);

/* Has $BROWSER, or else xdg-open, show a file or an address, and does not wait for it; false: there is neither. */
bool browser_open(const char *place);

/* The same of an address that nobody else on the machine may learn, as from a list of processes: by way of a file that
 * only the user can read. *file is its name, to be unlinked and freed; NULL: there is none. */
bool browser_open_secret(const char *address, char **file);

#endif
