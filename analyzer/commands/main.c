/* dwell's entry: finds the command that the first argument names, runs it, and prints the list of commands for
 * --help. */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/suggest.h"
#include "base/terminal.h"
#include "commands/commands.h"

static const struct {
    const char *name;
    command *run;
    const char *does;
    const char *group; /* of the help; NULL if that of the command before */
    bool paged;        /* its output may be long */
} commands[] = {
    { "record", command_record, "run a program and record its calls", "Record", false },
    { "control", command_control, "pause, resume, stop or dump a recording, enable trace events", NULL, false },
    { "cc", command_cc, "run a C compiler so that the program can be recorded; also c++", NULL, false },
    { "c++", command_cxx, "the same for C++", NULL, false },
    { "doctor", command_doctor, "check what works on this machine, and how to mend the rest", NULL, false },
    { "report", command_report, "times of functions, lines, modules, threads or processes", "Look at a session", true },
    { "tree", command_tree, "call paths, with the hot path marked", NULL, true },
    { "callers", command_callers, "a function between its callers and callees", NULL, true },
    { "annotate", command_annotate, "a function's source, with the calls and times of each line", NULL, true },
    { "waits", command_waits, "what threads waited for, and who made them wait", NULL, true },
    { "critical", command_critical, "what the length of a run consisted of, across threads", NULL, true },
    { "whatif", command_whatif, "what a run would take if functions were faster", NULL, true },
    { "advise", command_advise, "what a recording should leave out, and what that saves", NULL, true },
    { "histogram", command_histogram, "how long the single calls of a function took", NULL, true },
    { "slowest", command_slowest, "the slowest calls of a function, and when they happened", NULL, true },
    { "replay", command_replay, "the calls as they happened, over all threads", NULL, true },
    { "marks", command_marks, "the marks that the program has set", NULL, true },
    { "events", command_events, "the program's trace events: list, durations, queues", NULL, true },
    { "info", command_info, "what a session holds, and what was lost", NULL, true },
    { "view", command_view, "everything as a page for a browser; --live while it runs", NULL, false },
    { "top", command_top, "the functions of a running program, refreshed", "Look at a running program", false },
    { "compare", command_compare, "record two programs in turn, and show how they differ", "Compare", false },
    { "diff", command_diff, "sessions from before and after a change", NULL, true },
    { "fleet", command_fleet, "profiles of many runs on many machines, kept in ClickHouse", "Many machines", true },
    { "export", command_export, "write a session in a format that other tools read", "Convert", false },
    { "import", command_import, "make a session of another profiler's report", NULL, false },
    { "profile", command_profile, "make a session that holds only sums", NULL, false },
    { "merge", command_merge, "make one session of several", NULL, false },
    { "perflog", command_perflog, "report PerfLog logs, or compare two", NULL, true },
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void main_print_help(FILE *out)
{
    fputs("Usage: dwell COMMAND [OPTION...] [ARGUMENT...]\n\n"
          "Shows exactly where the time of an instrumented program goes.\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (commands[i].group)
            fprintf(out, "\n%s:\n", commands[i].group);
        fprintf(out, "  %-9s  %s\n", commands[i].name, commands[i].does);
    }
    fputs("\nFirst steps:\n"
          "  dwell cc -O2 prog.c -o prog\n"
          "  dwell record ./prog\n"
          "  dwell report\n\n"
          "'dwell help COMMAND' or 'dwell COMMAND --help' describes a command.\n",
          out);
}

/* Runs a command. argv[0] is its name. */
static int main_run(int argc, char **argv)
{
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++) {
        names[i] = commands[i].name;
        if (strcmp(commands[i].name, argv[0]) != 0)
            continue;
        if (commands[i].paged)
            terminal_allow_pager();
        return commands[i].run(argc, argv);
    }
    die(STATUS_ERROR, "no command '%s'%s dwell --help lists them", argv[0],
        suggestion(argv[0], names, COMMAND_COUNT, ";"));
}

int main(int argc, char **argv)
{
    static char help[] = "--help";
    memory_return_arrays();
    if (argc > 1 && (strcmp(argv[1], "record") == 0 || strcmp(argv[1], "compare") == 0))
        memory_set_status(STATUS_OWN_FAILURE);
    setlocale(LC_CTYPE, ""); /* only characters follow the locale, numbers do not */
    if (argc < 2) {
        main_print_help(stderr);
        return STATUS_ERROR;
    }
    const char *name = argv[1];
    if (strcmp(name, "--print-commands") == 0) { /* for completions */
        for (int i = 0; i < COMMAND_COUNT; i++)
            printf("%s\t%s\n", commands[i].name, commands[i].does);
        return finish_output();
    }
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0 || strcmp(name, "version") == 0) {
        puts("dwell " DWELL_VERSION_TEXT);
        return finish_output();
    }
    const bool is_help = strcmp(name, "help") == 0;
    if (is_help && argc > 2 && argv[2][0] != '-' && strcmp(argv[2], "help") != 0)
        return main_run(2, (char *[]){ argv[2], help, NULL });
    if (is_help || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0) {
        main_print_help(stdout);
        return finish_output();
    }
    return main_run(argc - 1, argv + 1);
}
