/* `dwell record` goes on when somebody truncates the session that it maps, or when its disk is full. */
#ifndef DWELL_SESSION_GUARD_H
#define DWELL_SESSION_GUARD_H

/* Installs the handler for SIGBUS. The second restores the action that was there before, for the recorded program. */
void session_guard_begin(void);
void session_guard_end(void);

#endif
