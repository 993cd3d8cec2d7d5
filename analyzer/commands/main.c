#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/suggest.h"
#include "base/terminal.h"
#include "commands/commands.h"

static const struct {
    const char *name;
    command *run;
    const char *does;
    bool paged; /* its output may be long */
} commands[] = {
    { "record", command_record, "run a program and record its calls", false },
    { "report", command_report, "the four times of functions, modules, threads or processes", true },
    { "top", command_top, "the functions of a running program, refreshed", false },
    { "tree", command_tree, "call paths, with the hot path marked", true },
    { "callers", command_callers, "a function between its callers and callees", true },
    { "histogram", command_histogram, "how long the single calls of a function took", true },
    { "slowest", command_slowest, "the slowest calls of a function, and when they were", true },
    { "diff", command_diff, "sessions before and after a change, compared", true },
    { "marks", command_marks, "what the program said of certain moments", true },
    { "replay", command_replay, "the calls as they happened, with times, over all threads", true },
    { "events", command_events, "trace events of the program: list, durations, queues", true },
    { "view", command_view, "everything as a page for a browser; or two sessions compared", false },
    { "info", command_info, "what a session holds, and what was lost", true },
    { "export", command_export, "write a session in a format that other tools read", false },
    { "perflog", command_perflog, "markers, CPU and memory of PerfLog logs; or two logs compared", true },
    { "merge", command_merge, "make one session of several", false },
    { "import", command_import, "make a session of what another profiler wrote", false },
    { "doctor", command_doctor, "what works here, what does not, and how to mend it", false },
    { "control", command_control, "pause, resume, stop or dump a recording that runs; enable trace events", false },
};
enum { COMMAND_COUNT = sizeof commands / sizeof *commands };

static void main_print_help(FILE *out)
{
    fputs("Usage: dwell COMMAND [OPTION...]\n\n"
          "Shows exactly where the time of an instrumented program goes.\n\n",
          out);
    for (int i = 0; i < COMMAND_COUNT; i++)
        fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].does);
    fputs("\n  cc -g -O2 -finstrument-functions prog.c -o prog\n"
          "  dwell record ./prog\n"
          "  dwell report\n\n"
          "dwell COMMAND --help tells more.\n",
          out);
}

int main(int argc, char **argv)
{
    setlocale(LC_CTYPE, ""); /* characters as the terminal has them; numbers never follow the locale */
    if (argc < 2) {
        main_print_help(stderr);
        return STATUS_ERROR;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
        puts("dwell " DWELL_VERSION_TEXT);
        return finish_output();
    }
    if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "help") == 0) {
        main_print_help(stdout);
        return finish_output();
    }
    for (int i = 0; i < COMMAND_COUNT; i++)
        if (strcmp(commands[i].name, name) == 0) {
            if (commands[i].paged)
                terminal_page();
            return commands[i].run(argc - 1, argv + 1);
        }
    const char *names[COMMAND_COUNT];
    for (int i = 0; i < COMMAND_COUNT; i++)
        names[i] = commands[i].name;
    const char *meant = suggest(name, names, COMMAND_COUNT);
    if (meant)
        die(STATUS_ERROR, "no command '%s'; did you mean '%s'? dwell --help lists them", name, meant);
    die(STATUS_ERROR, "no command '%s'; dwell --help lists them", name);
}
