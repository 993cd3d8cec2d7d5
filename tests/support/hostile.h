/* Sessions, logs and reports whose every text begins with a given one, and the commands that show them. */
#ifndef DWELL_TESTS_HOSTILE_H
#define DWELL_TESTS_HOSTILE_H

#include <stddef.h>

/* Writes hostile.data (a session), hostile.log (PerfLog), hostile.csv (a report for `dwell import vsperf`) and
 * imported.data (its session) in the test's folder. */
void hostile_save(const char *text);

/* A command line of dwell that shows these files. */
struct hostile_view {
    const char *command;
    const char *arguments;
};

/* Every command has views, those of export one for each format that writes a stream. The last element has no command.
 */
extern const struct hostile_view hostile_views[];

/* The words that `dwell --help` lists as commands, separated by blanks. The caller frees it. */
char *hostile_commands(void);

#endif
