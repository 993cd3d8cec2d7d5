/* A command's own options and arguments, as a table: each row says what the help says of it, and where its value is
 * stored in the settings of the command. */
#ifndef DWELL_COMMANDS_OPTION_TABLE_H
#define DWELL_COMMANDS_OPTION_TABLE_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/amount.h"

struct session_list;

enum option_kind {
    OPTION_END,     /* of a table */
    OPTION_HEADING, /* of the rows after it */
    /* options */
    OPTION_SETTING, /* without an argument: stores a value */
    OPTION_TEXT,
    OPTION_NUMBER,
    OPTION_DURATION, /* nanoseconds */
    OPTION_SIZE,     /* bytes */
    OPTION_AMOUNT,
    OPTION_CHOICE, /* the value of one of several words */
    OPTION_WORD,   /* the same, and stores the word */
    OPTION_READ,   /* by a function */
    /* arguments: a table has one row of them at most */
    OPTION_ONE_SESSION,
    OPTION_SESSIONS,
    OPTION_PROGRAM, /* a program and all that follows it */
    OPTION_OTHERS,  /* each is read by a function */
};

struct option_word {
    const char *word; /* NULL after the last one */
    int value;
};

struct option_row;

/* Reads an option or an argument into the settings of the command. Ends the program if it is not valid. */
typedef void option_reader(void *settings, const struct option_row *row, char *argument);

struct option_row {
    const char *name;     /* without its dashes */
    const char *argument; /* what the help calls it; NULL if none */
    const char *help;
    enum option_kind kind;
    unsigned short at, size; /* the member of the settings */
    int value;               /* of OPTION_SETTING; readers may use it as well */
    uint64_t least, most;
    const char *wanted; /* completes the message "'TEXT' is not ...", or is all of it if it begins with "must" */
    const struct option_word *words;
    option_reader *read;
    char letter;   /* the short form; zero if none */
    bool optional; /* the argument */
    bool hidden;
    int group; /* of the help; zero: that of the row before */
};

/* ---- what a row stores, after its name, argument and help ---- */

#define OPTION_MEMBER(settings, member, ok)                                                                            \
    .at = offsetof(settings, member) + 0 * sizeof(char[(ok) ? 1 : -1]), .size = sizeof(((settings *)NULL)->member)
#define OPTION_IS(settings, member, type) __builtin_types_compatible_p(__typeof__(((settings *)NULL)->member), type)
#define OPTION_IS_INTEGER(settings, member)                                                                            \
    (sizeof(((settings *)NULL)->member) == 8 || sizeof(((settings *)NULL)->member) == 4)

/* bool */
#define STORE_FLAG(settings, member)                                                                                   \
    .kind = OPTION_SETTING, .value = true, OPTION_MEMBER(settings, member, OPTION_IS(settings, member, bool))

/* An enum or another integer. */
#define STORE_VALUE(settings, member, number)                                                                          \
    .kind = OPTION_SETTING, .value = (number), OPTION_MEMBER(settings, member, OPTION_IS_INTEGER(settings, member))

/* const char *: the argument itself */
#define STORE_TEXT(settings, member)                                                                                   \
    .kind = OPTION_TEXT, OPTION_MEMBER(settings, member, OPTION_IS(settings, member, const char *))

/* Integers of 32 or 64 bits. */
#define STORE_NUMBER(settings, member, from, to, is_not)                                                               \
    .kind = OPTION_NUMBER, .least = (from), .most = (to), .wanted = (is_not),                                          \
    OPTION_MEMBER(settings, member, OPTION_IS_INTEGER(settings, member))

/* uint64_t */
#define STORE_DURATION(settings, member, from, to, is_not)                                                             \
    .kind = OPTION_DURATION, .least = (from), .most = (to), .wanted = (is_not),                                        \
    OPTION_MEMBER(settings, member, OPTION_IS(settings, member, uint64_t))
#define STORE_SIZE(settings, member, from, to, is_not)                                                                 \
    .kind = OPTION_SIZE, .least = (from), .most = (to), .wanted = (is_not),                                            \
    OPTION_MEMBER(settings, member, sizeof(((settings *)NULL)->member) == 8)

/* struct amount */
#define STORE_AMOUNT(settings, member)                                                                                 \
    .kind = OPTION_AMOUNT, OPTION_MEMBER(settings, member, OPTION_IS(settings, member, struct amount))

/* An enum: the value of one of the words. */
#define STORE_CHOICE(settings, member, list)                                                                           \
    .kind = OPTION_CHOICE, .words = (list), OPTION_MEMBER(settings, member, OPTION_IS_INTEGER(settings, member))

/* const char *: one of the words */
#define STORE_WORD(settings, member, list)                                                                             \
    .kind = OPTION_WORD, .words = (list), OPTION_MEMBER(settings, member, OPTION_IS(settings, member, const char *))

#define READ_BY(reader) .kind = OPTION_READ, .read = (reader)

/* For readers that several commands share: option_member finds where each command has what they read into. */
#define READ_INTO(settings, member, type, reader)                                                                      \
    READ_BY(reader), OPTION_MEMBER(settings, member, OPTION_IS(settings, member, type))

static inline void *option_member(void *settings, const struct option_row *row)
{
    return (char *)settings + row->at;
}

/* ---- rows of arguments ---- */

#define TAKE_SESSION(settings, member)                                                                                 \
    .kind = OPTION_ONE_SESSION, OPTION_MEMBER(settings, member, OPTION_IS(settings, member, const char *))
#define TAKE_SESSIONS(settings, member)                                                                                \
    .kind = OPTION_SESSIONS, OPTION_MEMBER(settings, member, OPTION_IS(settings, member, struct session_list))
#define TAKE_PROGRAM(settings, member)                                                                                 \
    .kind = OPTION_PROGRAM, OPTION_MEMBER(settings, member, OPTION_IS(settings, member, char **))
#define TAKE_BY(reader) .kind = OPTION_OTHERS, .read = (reader)

/* ---- the words of a row ---- */

/* The word of the list. Ends the program if it is none of them; `option` begins the message. */
const struct option_word *option_word_find(const char *option, const char *text, const struct option_word *words);

/* For readers of rows with words: the value of the word. */
int option_word_value(const struct option_row *row, const char *text);

/* ---- for command_line.c ---- */

enum { MAX_OWN_OPTIONS = 64 };

/* Appends the options as argp takes them. Returns the new count; `list` has room for MAX_OWN_OPTIONS more. */
size_t option_table_append(const struct option_row *table, struct argp_option *list, size_t count);

/* The row of an option with this key of argp; NULL if none. */
const struct option_row *option_table_find(const struct option_row *table, int key);

/* Stores an option's argument, which is NULL if there is none. Ends the program if it is not valid. */
void option_table_store(const struct option_row *row, void *settings, char *argument);

/* Stores an argument that is no option. Returns false if the command takes none. */
bool option_table_take(const struct option_row *table, void *settings, char *argument, struct argp_state *state);

#endif
