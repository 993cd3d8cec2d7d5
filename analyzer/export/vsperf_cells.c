/* Writes titles and values of functions and processes as cells of a VSPerfReport CSV file. */
#include "export/vsperf_cells.h"

#include "base/csv_text.h"

void vsperf_text(const struct vsperf_file *f, const char *text)
{
    csv_print_quoted(text, f->out);
    fputc(',', f->out);
}

void vsperf_number(const struct vsperf_file *f, uint64_t number)
{
    fprintf(f->out, "%" PRIu64 ",", number);
}

void vsperf_empty(const struct vsperf_file *f, unsigned cells)
{
    for (; cells; cells--)
        fputc(',', f->out);
}

void vsperf_end_row(const struct vsperf_file *f)
{
    fputs("\r\n", f->out);
}

void vsperf_titles(const struct vsperf_file *f, const char *titles)
{
    fprintf(f->out, "%s,", titles);
}

/* ---- times ---- */

/* Writes a percentage with two decimals and a point in every locale. */
static void vsperf_put_percent(const struct vsperf_file *f, uint64_t part, uint64_t whole)
{
    const uint64_t hundredths = whole ? (uint64_t)((double)part * 10000 / (double)whole + 0.5) : 0;
    fprintf(f->out, "%" PRIu64 ".%02" PRIu64 ",", hundredths / 100, hundredths % 100);
}

void vsperf_value_titles(const struct vsperf_file *f, unsigned which)
{
    static const char *const times[] = { "Elapsed Inclusive", "Elapsed Exclusive", "Application Inclusive",
                                         "Application Exclusive" };
    const unsigned first = which & VSPERF_INCLUSIVE ? 0 : 1, step = 2 - (which & VSPERF_INCLUSIVE);
    if (f->session->summary.samples) {
        vsperf_titles(f, first ? "Exclusive Samples,Exclusive Samples %"
                               : "Inclusive Samples,Exclusive Samples,Inclusive Samples %,Exclusive Samples %");
        return;
    }
    for (unsigned i = first; i < 4; i += step)
        fprintf(f->out, "%s Time,", times[i]);
    for (unsigned i = first; i < 4; i += step)
        fprintf(f->out, "%s Time %%,", times[i]);
    if (which & VSPERF_INCLUSIVE)
        vsperf_titles(f, "Time Inclusive Probe Overhead");
    vsperf_titles(f, "Time Exclusive Probe Overhead");
    for (unsigned i = first; which & VSPERF_EACH && i < 4; i += step)
        fprintf(f->out, "Min %s Time,Avg %s Time,Max %s Time,", times[i], times[i], times[i]);
    if (which & VSPERF_CALLS)
        vsperf_titles(f, "Number of Calls");
}

static void vsperf_put_average(const struct vsperf_file *f, uint64_t sum, uint64_t calls, bool known)
{
    if (calls && known)
        vsperf_number(f, sum / calls + (sum % calls >= calls - calls / 2));
    else
        vsperf_empty(f, 1);
}

/* Writes minimum, average and maximum of a call. The minimum and maximum of other times are unknown and stay empty. */
static void vsperf_put_per_call(const struct vsperf_file *f, const struct call_sums *called)
{
    const struct times *t = &called->times;
    const bool application = f->session->summary.application_known, limits = t->shortest <= t->longest;
    if (limits)
        vsperf_number(f, t->shortest);
    else
        vsperf_empty(f, 1);
    vsperf_put_average(f, called->every_elapsed, t->calls, called->every_known);
    if (limits)
        vsperf_number(f, t->longest);
    else
        vsperf_empty(f, 1);
    const struct {
        uint64_t sum;
        bool known;
    } others[] = {
        { t->elapsed_exclusive, true },
        { called->every_application, application && called->every_known },
        { t->application_exclusive, application },
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        vsperf_empty(f, 1);
        vsperf_put_average(f, others[i].sum, t->calls, others[i].known);
        vsperf_empty(f, 1);
    }
}

/* Writes the values of a sampled report, which has neither application times nor calls. */
static void vsperf_put_samples(const struct vsperf_file *f, unsigned first, const uint64_t *values, uint64_t whole)
{
    for (unsigned i = first; i < 2; i++)
        vsperf_number(f, values[i]);
    for (unsigned i = first; i < 2; i++)
        vsperf_put_percent(f, values[i], whole);
}

/* Raw times have no overhead subtracted, so that it is 0. */
static void vsperf_put_overhead(const struct vsperf_file *f, uint64_t overhead)
{
    const struct summary *s = &f->session->summary;
    if (s->overhead_known || (s->raw && !s->imported))
        vsperf_number(f, overhead);
    else
        vsperf_empty(f, 1);
}

void vsperf_values(const struct vsperf_file *f, unsigned which, const struct call_sums *called)
{
    const struct summary *s = &f->session->summary;
    const struct times *t = &called->times;
    const uint64_t values[] = { t->elapsed_inclusive, t->elapsed_exclusive, t->application_inclusive,
                                t->application_exclusive };
    const unsigned first = which & VSPERF_INCLUSIVE ? 0 : 1, step = 2 - (which & VSPERF_INCLUSIVE);
    if (s->samples) {
        vsperf_put_samples(f, first, values, s->elapsed_inclusive);
        return;
    }
    for (unsigned i = first; i < 4; i += step) {
        if (i < 2 || s->application_known)
            vsperf_number(f, values[i]);
        else
            vsperf_empty(f, 1);
    }
    for (unsigned i = first; i < 4; i += step) {
        if (i < 2 || s->application_known)
            vsperf_put_percent(f, values[i], i < 2 ? s->elapsed_inclusive : s->application_inclusive);
        else
            vsperf_empty(f, 1);
    }
    if (which & VSPERF_INCLUSIVE)
        vsperf_put_overhead(f, t->overhead_inclusive);
    vsperf_put_overhead(f, t->overhead_exclusive);
    if (which & VSPERF_EACH)
        vsperf_put_per_call(f, called);
    if (which & VSPERF_CALLS)
        vsperf_number(f, t->calls);
}

/* ---- processes and functions ---- */

void vsperf_process_titles(const struct vsperf_file *f)
{
    vsperf_titles(f, "Process Name,Process ID");
}

void vsperf_process(const struct vsperf_file *f)
{
    vsperf_text(f, f->process_name);
    vsperf_number(f, f->pid);
}

void vsperf_location_titles(const struct vsperf_file *f)
{
    vsperf_titles(f, "Source File,Function Line Number,Module Name,Module Path,Function Address");
}

void vsperf_address(const struct vsperf_file *f, uint32_t function)
{
    if (function_has_address(f->session, function))
        fprintf(f->out, "0x%016" PRIX64 ",", f->session->profile->functions[function].offset);
    else
        vsperf_empty(f, 1);
}

void vsperf_location(const struct vsperf_file *f, uint32_t function)
{
    const struct profile *p = f->session->profile;
    const struct function_name *name = &f->session->names[function];
    vsperf_text(f, name->file ? name->file : "");
    vsperf_number(f, name->line);
    vsperf_text(f, name->module);
    vsperf_text(f, p->modules[p->functions[function].module].path);
    vsperf_address(f, function);
}
