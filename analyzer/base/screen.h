/* The terminal as a screen: entering and leaving it, lines that fit it, and a line that the user types. */
#ifndef DWELL_BASE_SCREEN_H
#define DWELL_BASE_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* False if the terminal has no screen. From here on, stderr is kept back until the screen ends. The screen also ends at
 * exit. */
bool screen_begin(void);
void screen_end(void);

/* The signal that asked the program to end, or zero. */
int screen_is_left(void);

/* Prints as much of the text as fits on a line. The whole line gets the attributes of curses. */
void screen_line(int line, const char *text, int attributes);

/* Lets the user edit `text` on the last line, after the question. Returns false if the user gives up. */
bool screen_ask(const char *question, char *text, size_t size);

#endif
