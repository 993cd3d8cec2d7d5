/* dwell info: the tables of processes and threads, and of their CPU time by the kernel's count. */
#include <inttypes.h>
#include <libsmartcols.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/cpu_check.h"
#include "base/memory.h"
#include "base/numbers.h"
#include "base/terminal.h"
#include "base/text_options.h"
#include "base/time_unit.h"
#include "base/units.h"
#include "base/visible.h"
#include "report/info_lines.h"
#include "trace/recorded_names.h"

static const char *info_process_ending(const struct trace_process *p, char *text, size_t size)
{
    if (p->end_how == DWELL_END_EXIT)
        snprintf(text, size, "exit %u", p->end_value);
    else if (p->end_how == DWELL_END_SIGNAL)
        snprintf(text, size, "signal %u", p->end_value);
    else if (p->end_how == DWELL_END_EXECUTED)
        snprintf(text, size, "exec");
    else
        snprintf(text, size, "%s", p->end_how ? "exit" : "unknown");
    return text;
}

/* The texts of the column `wrapped` and of those behind it are broken where a line is wider than the terminal. */
static struct libscols_table *info_new_table(const char *const *titles, size_t count, size_t wrapped)
{
    struct libscols_table *table = scols_new_table();
    const unsigned width = terminal_width(stdout);
    for (size_t i = 0; table && i < count; i++)
        if (!scols_table_new_column(table, titles[i], 0, i >= wrapped ? SCOLS_FL_WRAP : 0))
            table = NULL;
    if (!table)
        out_of_memory();
    scols_table_enable_noencoding(table, true);
    if (width) {
        scols_table_set_termforce(table, SCOLS_TERMFORCE_ALWAYS);
        scols_table_set_termwidth(table, width);
    }
    return table;
}

static void info_print_table(struct libscols_table *table)
{
    putchar('\n');
    fflush(stdout);
    scols_print_table(table);
    scols_unref_table(table);
}

static void info_set_text(struct libscols_line *row, size_t column, const char *text)
{
    char *shown = visible_cell(text);
    scols_line_set_data(row, column, shown);
    free(shown);
}

static void info_set_number(struct libscols_line *row, size_t column, uint64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRIu64, number);
    scols_line_set_data(row, column, text);
}

/* The time from the session's start to that of the process. */
static uint64_t info_process_start(const struct session_file *f, const struct trace_process *p)
{
    return ticks_to_ns(less(p->start_time, f->header.start_ticks), f->header.ticks_per_second);
}

/* That of a column whose largest time is `most` nanoseconds. */
static const struct time_unit *info_unit(uint64_t most)
{
    return text_options()->units == UNITS_FIXED ? text_options()->unit : time_unit_for_all(most);
}

/* Columns of the CPU time by the kernel's count, of what the recording has, and of what is known of the rest. */
void info_print_cpu(const struct analysis *analysis)
{
    const struct session_file *f = analysis->file;
    struct cpu_check *checks = cpu_checks(analysis);
    enum { FIGURES = 6 };
    char first[16];
    const char *titles[FIGURES + 2] = { first,          "BY KERNEL", "GETRUSAGE", "IN REPORT",
                                        "OTHER PROBES", "REST",      "RUNTIME",   "" };
    uint64_t most = 0;
    size_t known = 0;
    for (size_t i = 0; i < f->process_count; i++) {
        known += checks[i].known;
        most = checks[i].known ? larger(most, larger(checks[i].kernel, checks[i].functions)) : most;
    }
    const struct time_unit *unit = info_unit(most);
    snprintf(first, sizeof first, "CPU %s OF", unit->name);
    struct libscols_table *table = info_new_table(titles, FIGURES + 2, FIGURES + 1);
    for (size_t i = 0; i < f->process_count; i++) {
        const struct cpu_check *c = &checks[i];
        const uint64_t values[FIGURES] = { c->kernel, c->usage, c->functions, c->outside, c->rest, c->runtime };
        if (!c->known)
            continue;
        struct libscols_line *row = scols_table_new_line(table, NULL);
        info_set_number(row, 0, f->processes[i].pid);
        for (size_t j = 0; j < FIGURES; j++) {
            char text[TIME_TEXT];
            time_text_exact(values[j], unit, text);
            scols_line_set_data(row, 1 + j, text);
        }
        scols_line_set_data(row, FIGURES + 1, cpu_check_word(analysis, checks, i));
    }
    if (known)
        info_print_table(table);
    else
        scols_unref_table(table);
    free(checks);
}

void info_print_processes(const struct session_file *f)
{
    enum { COMMAND = 4 };
    const char *titles[] = { "PROCESS", "PARENT", NULL, "END", "COMMAND", "NAME" };
    bool named = false;
    uint64_t last = 0;
    for (size_t i = 0; i < f->process_count; i++) {
        const uint64_t start = info_process_start(f, &f->processes[i]);
        named |= f->processes[i].name[0] != '\0';
        last = start > last ? start : last;
    }
    const struct time_unit *unit = info_unit(last);
    char title[16];
    snprintf(title, sizeof title, "START %s", unit->name);
    titles[2] = title;
    struct libscols_table *table = info_new_table(titles, named ? 6 : 5, COMMAND);
    for (size_t i = 0; i < f->process_count; i++) {
        const struct trace_process *p = &f->processes[i];
        struct libscols_line *row = scols_table_new_line(table, NULL);
        char text[TIME_TEXT];
        info_set_number(row, 0, p->pid);
        info_set_number(row, 1, p->parent_pid);
        time_text_exact(info_process_start(f, p), unit, text);
        scols_line_set_data(row, 2, info_process_start(f, p) ? text : "-");
        scols_line_set_data(row, 3, info_process_ending(p, text, sizeof text));
        info_set_text(row, COMMAND, p->arguments[0] ? p->arguments : p->path);
        if (named)
            info_set_text(row, COMMAND + 1, p->name);
    }
    info_print_table(table);
}

void info_print_threads(const struct analysis *analysis)
{
    const struct session_file *f = analysis->file;
    static const char *const titles[] = { "THREAD", "TID", "PROCESS", "OS EVENTS FROM" };
    struct libscols_table *table = info_new_table(titles, 4, 0);
    for (size_t i = 0; i < f->thread_count; i++) {
        const struct trace_thread *t = &f->threads[i];
        const struct trace_process *p = session_file_process(f, t->process);
        struct libscols_line *row = scols_table_new_line(table, NULL);
        info_set_text(row, 0, analysis_thread_name(analysis, t->serial));
        info_set_number(row, 1, t->tid);
        info_set_number(row, 2, p ? p->pid : 0);
        const char *source = recorded_source_name(t->os_source);
        scols_line_set_data(row, 3, source ? source : "unknown");
    }
    info_print_table(table);
}
