/* Makes a list for argp of a table of options, and stores what the user has given into the members of the settings. */
#include "commands/option_table.h"

#include <stdio.h>
#include <string.h>

#include "commands/commands.h"
#include "commands/sessions.h"

enum { FIRST_KEY = 256, LONGEST_NAME = 64 };

static bool option_row_is_option(const struct option_row *row)
{
    return row->kind > OPTION_HEADING && row->kind < OPTION_ONE_SESSION;
}

static int option_row_key(const struct option_row *table, const struct option_row *row)
{
    return row->letter ? row->letter : FIRST_KEY + (int)(row - table);
}

size_t option_table_append(const struct option_row *table, struct argp_option *list, size_t count)
{
    int group = 0;
    for (const struct option_row *row = table; row && row->kind != OPTION_END; row++) {
        group = row->group ? row->group : group + (row->kind == OPTION_HEADING);
        if (row->kind == OPTION_HEADING)
            list[count++] = (struct argp_option){ .doc = row->help, .group = group };
        if (!option_row_is_option(row))
            continue;
        list[count++] = (struct argp_option){
            .name = row->name,
            .key = option_row_key(table, row),
            .arg = row->argument,
            .flags = (row->hidden ? OPTION_HIDDEN : 0) | (row->optional ? OPTION_ARG_OPTIONAL : 0),
            .doc = row->help,
            .group = group,
        };
    }
    return count;
}

const struct option_row *option_table_find(const struct option_row *table, int key)
{
    for (const struct option_row *row = table; row && row->kind != OPTION_END; row++)
        if (option_row_is_option(row) && option_row_key(table, row) == key)
            return row;
    return NULL;
}

static void option_row_put_integer(const struct option_row *row, void *member, uint64_t value)
{
    const uint32_t half = (uint32_t)value;
    const bool byte = value;
    memcpy(member,
           row->size == sizeof value  ? (void *)&value
           : row->size == sizeof half ? (void *)&half
                                      : (void *)&byte,
           row->size);
}

static void option_row_check(const struct option_row *row, const char *option, const char *text, uint64_t value)
{
    if (value >= row->least && value <= row->most)
        return;
    if (strncmp(row->wanted, "must", 4) == 0)
        die(argp_err_exit_status, "%s: %s", option, row->wanted);
    die(argp_err_exit_status, "%s: '%s' is not %s", option, text, row->wanted);
}

const struct option_word *option_word_find(const char *option, const char *text, const struct option_word *words)
{
    size_t count = 0;
    while (words[count].word)
        count++;
    return &words[option_find_row(option, text, &words->word, sizeof *words, count)];
}

int option_word_value(const struct option_row *row, const char *text)
{
    char option[LONGEST_NAME];
    snprintf(option, sizeof option, "--%s", row->name);
    return option_word_find(option, text, row->words)->value;
}

void option_table_store(const struct option_row *row, void *settings, char *argument)
{
    void *const member = (char *)settings + row->at;
    char option[LONGEST_NAME];
    uint64_t number;
    snprintf(option, sizeof option, "--%s", row->name);
    switch (row->kind) {
    case OPTION_SETTING:
        option_row_put_integer(row, member, (uint64_t)row->value);
        return;
    case OPTION_TEXT:
        *(const char **)member = argument;
        return;
    case OPTION_NUMBER:
        number = option_number(option, argument);
        option_row_check(row, option, argument, number);
        option_row_put_integer(row, member, number);
        return;
    case OPTION_DURATION:
        number = option_time(option, argument);
        option_row_check(row, option, argument, number);
        *(uint64_t *)member = number;
        return;
    case OPTION_SIZE:
        *(uint64_t *)member = option_size(option, argument, row->least, row->most, row->wanted);
        return;
    case OPTION_AMOUNT:
        *(struct amount *)member = option_amount(option, argument);
        return;
    case OPTION_CHOICE:
        option_row_put_integer(row, member, (uint64_t)option_word_find(option, argument, row->words)->value);
        return;
    case OPTION_WORD:
        *(const char **)member = option_word_find(option, argument, row->words)->word;
        return;
    default:
        row->read(settings, row, argument);
        return;
    }
}

bool option_table_take(const struct option_row *table, void *settings, char *argument, struct argp_state *state)
{
    const struct option_row *row = table;
    while (row && row->kind != OPTION_END && row->kind < OPTION_ONE_SESSION)
        row++;
    if (!row || row->kind == OPTION_END)
        return false;
    void *const member = (char *)settings + row->at;
    switch (row->kind) {
    case OPTION_ONE_SESSION:
        if (state->arg_num > 0)
            die(STATUS_ERROR, "one session at a time: '%s' is a second one", argument);
        *(const char **)member = argument;
        return true;
    case OPTION_SESSIONS:
        session_list_add(member, argument);
        return true;
    case OPTION_PROGRAM:
        *(char ***)member = &state->argv[state->next - 1];
        state->next = state->argc;
        return true;
    default:
        row->read(settings, row, argument);
        return true;
    }
}
