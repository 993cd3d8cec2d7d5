/* A command's line: its help, its own options, and those it shares with other commands. */
#ifndef DWELL_COMMANDS_COMMAND_LINE_H
#define DWELL_COMMANDS_COMMAND_LINE_H

#include "analysis/session_needs.h"
#include "commands/option_table.h"
#include "commands/shared_options.h"

struct command_line {
    const char *name;                 /* of the command */
    const char *arguments;            /* such as "[FILE...]" */
    const char *text;                 /* for --help: the text before the options, \v, and the text after them */
    const struct option_row *options; /* its own and its arguments, ended by an empty one; NULL if none */
    const struct shared_use *shared;  /* ended by SHARED_END; NULL if none */
    /* Is called before each option of its own, and when all have been read. Both may be NULL. */
    void (*before)(void *settings, const struct option_row *row, const char *argument);
    void (*check)(void *settings);
    /* Reads a shared option instead of the common parser. Returns false to leave it to that. May be NULL. */
    bool (*read_shared)(void *settings, enum shared_option option, const char *argument);
    const struct column *columns; /* those that --columns help lists; NULL if read_shared does so */
    const size_t *column_count;
    const char *formats; /* those of --format beside text, csv and json; NULL if none */
    /* The options that --help shows, separated by spaces: --help-all shows the others. NULL: all. */
    const char *daily;
    unsigned needs; /* of a session: a set of enum session_needs; read_shared may add to that of the shared options */
    bool program_follows; /* the first argument and all after it are a program's */
};

/* Parses options: those of the config file, then those given. Ends the program at an error, or when it has printed
 * help. */
void command_line_parse(const struct command_line *line, int argc, char **argv, void *settings,
                        struct shared_options *shared);

/* The same for two lists of arguments with a -- between them: calls `go_over` there. Options may stand on both sides.
 * Returns whether there is a --. */
bool command_line_parse_sides(const struct command_line *line, int argc, char **argv, void *settings,
                              struct shared_options *shared, void (*go_over)(void *settings));

#endif
