/* dwell's entry: finds the command that the first argument names, runs it, and prints the list of commands for
 * --help. */
#include <argp.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "commands/commands.h"
#include "commands/features.h"
#include "commands/shared_options.h"

static const struct named_command commands[] = {
    { "record", command_record, "run a program and record its calls", "Record", false, NULL },
    { "control", command_control, "pause, resume, stop or dump a recording, enable trace events", NULL, false, NULL },
    { "cc", command_cc, "run a C compiler so that the program can be recorded; also c++", NULL, false, NULL },
    { "c++", command_cxx, "the same for C++", NULL, false, NULL },
    { "doctor", command_doctor, "check what works on this machine, and how to mend the rest", NULL, false, NULL },
    { "report", command_report, "times of functions, lines, modules, threads or processes", "Look at a session", true,
      NULL },
    { "tree", command_tree, "call paths, with the hot path marked", NULL, true, NULL },
    { "callers", command_callers, "a function between its callers and callees", NULL, true, NULL },
    { "annotate", command_annotate, "a function's source, with the calls and times of each line", NULL, true, NULL },
    { "advise", command_advise, "what a recording should leave out, and what that saves", NULL, true, NULL },
    { "histogram", command_histogram, "how long the single calls of a function took", NULL, true, NULL },
    { "slowest", command_slowest, "the slowest calls of a function, and when they happened", NULL, true, NULL },
    { "values", command_values, "times of a function's calls by a value of its arguments", NULL, true, NULL },
    { "scaling", command_scaling, "how a function's time grows with a value of an argument", NULL, true, NULL },
    { "replay", command_replay, "the calls as they happened, over all threads", NULL, true, NULL },
    { "marks", command_marks, "the marks that the program has set", NULL, true, NULL },
    { "info", command_info, "what a session holds, and what was lost", NULL, true, NULL },
    { "view", command_view, "everything as a page for a browser; --live while it runs", NULL, false, NULL },
    { "top", command_top, "the functions of a running program, refreshed", "Look at a running program", false, NULL },
    { "compare", command_compare, "record two programs in turn, and show how they differ", "Compare", false, NULL },
    { "diff", command_diff, "sessions from before and after a change", NULL, true, NULL },
    { "export", command_export, "write a session in a format that other tools read", "Convert", false, NULL },
    { "import", command_import, "make a session of another profiler's report", NULL, false, NULL },
    { "profile", command_profile, "make a session that holds only sums", NULL, false, NULL },
    { "merge", command_merge, "make one session of several", NULL, false, NULL },
    { 0 },
};

/* All commands in the order of the help, with those of the features. */
enum { MAX_COMMANDS = 100 };
static const struct named_command *all[MAX_COMMANDS];
static size_t all_count;

static void main_add_command(const struct named_command *c)
{
    if (all_count < MAX_COMMANDS)
        all[all_count++] = c;
}

static void main_find_commands(void)
{
    for (const struct named_command *c = commands; c->name; c++) {
        if (c->run != command_import || *all_imports()) /* without features, nothing can be imported */
            main_add_command(c);
        for (const struct feature *const *feature = features; *feature; feature++)
            for (const struct named_command *own = (*feature)->commands; own && own->name; own++)
                if (strcmp(own->after, c->name) == 0)
                    main_add_command(own);
    }
}

static void main_print_help(FILE *out)
{
    fputs("Usage: dwell COMMAND [OPTION...] [ARGUMENT...]\n\n"
          "Shows exactly where the time of an instrumented program goes.\n",
          out);
    for (size_t i = 0; i < all_count; i++) {
        if (all[i]->group)
            fprintf(out, "\n%s:\n", all[i]->group);
        fprintf(out, "  %-9s  %s\n", all[i]->name, all[i]->does);
    }
    fputs("\nFirst steps:\n"
          "  dwell cc -O2 prog.c -o prog\n"
          "  dwell record ./prog\n"
          "  dwell report\n\n"
          "'dwell help COMMAND' or 'dwell COMMAND --help' describes a command.\n"
          "'dwell version' says which version this is.\n",
          out);
}

/* Commands of other tools, and what does the same here. */
static const struct {
    const char *typed, *meant;
} other_commands[] = {
    { "flamegraph", "'dwell view' or 'dwell export collapsed'" },
    { "flame", "'dwell view' or 'dwell export collapsed'" },
    { "script", "'dwell replay'" },
    { "stat", "'dwell report'" },
    { "run", "'dwell record'" },
};

static const char *main_other_command(const char *typed)
{
    for (size_t i = 0; i < sizeof other_commands / sizeof *other_commands; i++)
        if (strcmp(other_commands[i].typed, typed) == 0)
            return other_commands[i].meant;
    return NULL;
}

/* Runs a command. argv[0] is its name. */
static int main_run(int argc, char **argv)
{
    const char *names[MAX_COMMANDS];
    for (size_t i = 0; i < all_count; i++) {
        names[i] = all[i]->name;
        if (strcmp(all[i]->name, argv[0]) != 0)
            continue;
        if (all[i]->paged)
            terminal_allow_pager();
        return all[i]->run(argc, argv);
    }
    die_enter(DIE_READS_LINE);
    die_find_json(argc, argv);
    const char *other = main_other_command(argv[0]);
    if (argv[0][0] == '-')
        die(STATUS_ERROR, "%s: options come after the command, as in dwell COMMAND %s; dwell --help lists the commands",
            argv[0], argv[0]);
    if (other)
        die(STATUS_ERROR, "no command '%s'; did you mean %s? dwell --help lists them", argv[0], other);
    die(STATUS_ERROR, "no command '%s'%s dwell --help lists them", argv[0], suggestion(argv[0], names, all_count, ";"));
}

int out_of_memory_status = STATUS_ERROR;

int main(int argc, char **argv)
{
    static char help[] = "--help";
    memory_return_arrays();
    argp_err_exit_status = STATUS_ERROR;
    const int before = shared_options_read_before(argc, argv) - 1;
    argc -= before;
    argv += before;
    if (argc > 1 && (strcmp(argv[1], "record") == 0 || strcmp(argv[1], "compare") == 0))
        out_of_memory_status = STATUS_OWN_FAILURE;
    main_find_commands();
    setlocale(LC_CTYPE, ""); /* only characters follow the locale, numbers do not */
    if (argc < 2) {
        main_print_help(stderr);
        return STATUS_ERROR;
    }
    const char *name = argv[1];
    if (strcmp(name, "--print-commands") == 0) { /* for completions */
        for (size_t i = 0; i < all_count; i++)
            printf("%s\t%s\n", all[i]->name, all[i]->does);
        return finish_output();
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "version") == 0) {
        puts("dwell " DWELL_VERSION_TEXT);
        return finish_output();
    }
    if (strcmp(name, "complete") == 0) /* likewise */
        return command_complete(argc - 1, argv + 1);
    const bool is_help = strcmp(name, "help") == 0;
    if (is_help && argc > 2 && argv[2][0] != '-' && strcmp(argv[2], "help") != 0)
        return main_run(2, (char *[]){ argv[2], help, NULL });
    if (is_help || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        main_print_help(stdout);
        return finish_output();
    }
    return main_run(argc - 1, argv + 1);
}
