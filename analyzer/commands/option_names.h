/* The names of a command's options, and errors about options that it does not have. */
#ifndef DWELL_COMMANDS_OPTION_NAMES_H
#define DWELL_COMMANDS_OPTION_NAMES_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

/* All options of a command; entries without a name are headings. */
struct option_list {
    const struct argp_option *options;
    size_t count;
};

/* The option of that name, or NULL. */
const struct argp_option *option_find(const struct option_list *list, const char *name);

/* "; did you mean '--columns'?", or else `otherwise`. Valid until the next call. */
const char *option_suggestion(const struct option_list *list, const char *name, const char *otherwise);

/* Ends the program at the first option that the command does not have, or that lacks its argument. With
 * `first_ends`, the first argument and all after it are not the command's. */
void option_names_check(const struct option_list *list, const char *command, int argc, char **argv, bool first_ends);

/* The words that an option's argument can be, separated by spaces. It may write them into the buffer. NULL if it can be
 * others. */
typedef const char *option_words(const void *context, const struct argp_option *option, char *buffer, size_t room);

/* Prints a line for each option: long name, letter, argument, help, heading of its group, and words of its argument,
 * separated by tabs, "-" for those that it lacks. */
void option_names_print(const struct option_list *list, option_words *words, const void *context);

#endif
