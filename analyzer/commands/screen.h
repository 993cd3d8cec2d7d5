/* The terminal as a screen: its begin and end, lines that fit it, and a line that is typed. */
#ifndef DWELL_COMMANDS_SCREEN_H
#define DWELL_COMMANDS_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

/* Ends the program where the terminal cannot do it. From here on, what is said on stderr waits until the screen ends;
 * at exit it ends by itself. */
void screen_begin(void);
void screen_end(void);

/* The signal by which the user, or somebody else, wants the program to end; zero: none. */
int screen_is_left(void);

/* Puts a text on a line, as much of it as fits, in the attributes of curses; the rest of the line takes them, too. */
void screen_line(int line, const char *text, int attributes);

/* Lets the user type on the last line, behind the question; `text` holds what is there at first. False: given up. */
bool screen_ask(const char *question, char *text, size_t size);

#endif
