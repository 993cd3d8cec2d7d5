/* Writes titles and values of functions and processes as cells of a VSPerfReport CSV file. */
#include "vsperf/vsperf_cells.h"

#include "base/csv_text.h"
#include "base/numbers.h"
#include "profile/reported.h"

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

/* Writes the number with at least that many decimals and at most six, with a point in every locale. */
static void vsperf_put_decimal(const struct vsperf_file *f, double value, int least)
{
    const uint64_t million = 1000000;
    uint64_t whole = (uint64_t)value, rest = (uint64_t)((value - (double)whole) * (double)million + 0.5);
    int decimals = 6;
    whole += rest / million;
    for (rest %= million; decimals > least && rest % 10 == 0; rest /= 10)
        decimals--;
    fprintf(f->out, "%" PRIu64, whole);
    if (decimals)
        fprintf(f->out, ".%0*" PRIu64, decimals, rest);
    fputc(',', f->out);
}

/* Writes a column as an imported report states it. Returns false if it states nothing. */
static bool vsperf_put_stated(const struct vsperf_file *f, const struct dwell_stated *stated, unsigned column)
{
    const bool percent = column < DWELL_STATED_OVERHEAD;
    double value;
    if ((percent && f->session->selection) || !stated_value(stated, column, &value))
        return false;
    vsperf_put_decimal(f, value, percent ? 2 : 0);
    return true;
}

/* Writes a percentage with two decimals. */
static void vsperf_put_percent(const struct vsperf_file *f, uint64_t part, uint64_t whole)
{
    const uint64_t hundredths = whole ? (uint64_t)((double)part * 10000 / (double)whole + 0.5) : 0;
    fprintf(f->out, "%" PRIu64 ".%02" PRIu64 ",", hundredths / 100, hundredths % 100);
}

bool vsperf_has_average_samples(const struct analysis *session)
{
    const struct profile *p = session->profile;
    double value;
    for (size_t i = 0; i < p->reported_count; i++)
        if (stated_value(&p->reported[i].stated, DWELL_STATED_EACH + 1, &value) ||
            stated_value(&p->reported[i].stated, DWELL_STATED_EACH + 4, &value))
            return true;
    return false;
}

void vsperf_value_titles(const struct vsperf_file *f, unsigned which)
{
    static const char *const times[] = { "Elapsed Inclusive", "Elapsed Exclusive", "Application Inclusive",
                                         "Application Exclusive" };
    const unsigned first = which & VSPERF_INCLUSIVE ? 0 : 1, step = 2 - (which & VSPERF_INCLUSIVE);
    if (f->session->summary.samples) {
        vsperf_titles(f, first ? "Exclusive Samples,Exclusive Samples %"
                               : "Inclusive Samples,Exclusive Samples,Inclusive Samples %,Exclusive Samples %");
        if (which & VSPERF_EACH && f->average_samples)
            vsperf_titles(f, "Avg Inclusive Samples,Avg Exclusive Samples");
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

/* The shortest and the longest call, in ticks. */
struct vsperf_limits {
    uint64_t least, greatest;
    bool known;
};

/* The sum has the time of open calls, too, and with a range only the part of calls in it. That can put the average
 * outside of the limits, which are those of completed calls. Then it is unknown. By the rounding to ticks alone, it can
 * be a tick outside. */
static void vsperf_put_average(const struct vsperf_file *f, uint64_t sum, uint64_t calls,
                               const struct vsperf_limits *limits)
{
    uint64_t average = calls ? sum / calls + (sum % calls >= calls - calls / 2) : 0;
    if (!calls || (limits->known && (average > limits->greatest + 1 || average + 1 < limits->least))) {
        vsperf_empty(f, 1);
        return;
    }
    if (limits->known)
        average = smaller(larger(average, limits->least), limits->greatest);
    vsperf_number(f, average);
}

static void vsperf_put_known(const struct vsperf_file *f, uint64_t number, bool known)
{
    if (known)
        vsperf_number(f, number);
    else
        vsperf_empty(f, 1);
}

/* Writes minimum, average and maximum of a call. Without an imported report that states them, the minimum and maximum
 * of other times are unknown and stay empty. */
static void vsperf_put_per_call(const struct vsperf_file *f, const struct call_sums *called)
{
    const struct times *t = &called->times;
    const bool application = f->session->summary.application_known;
    const uint64_t timed = times_are_sampled(t) ? 0 : t->calls - t->counted; /* estimates have no average */
    const struct vsperf_limits limits = { t->shortest, t->longest, t->shortest <= t->longest }, none = { 0, 0, false };
    const struct {
        uint64_t sum;
        const struct vsperf_limits *limits;
        bool known;
    } each[] = {
        { called->every_elapsed, &limits, called->every_known },
        { t->elapsed_exclusive, &none, true },
        { called->every_application, &none, application && called->every_known },
        { t->application_exclusive, &none, application },
    };
    for (unsigned i = 0; i < sizeof each / sizeof *each; i++) {
        const unsigned column = DWELL_STATED_EACH + 3 * i;
        if (!vsperf_put_stated(f, called->stated, column))
            vsperf_put_known(f, each[i].limits->least, each[i].limits->known);
        if (!vsperf_put_stated(f, called->stated, column + 1))
            vsperf_put_average(f, each[i].sum, each[i].known ? timed : 0, each[i].limits);
        if (!vsperf_put_stated(f, called->stated, column + 2))
            vsperf_put_known(f, each[i].limits->greatest, each[i].limits->known);
    }
}

/* Writes the values of a sampled report, which has neither application times nor calls. */
static void vsperf_put_samples(const struct vsperf_file *f, unsigned which, const struct call_sums *called)
{
    const unsigned first = which & VSPERF_INCLUSIVE ? 0 : 1;
    const uint64_t values[] = { called->times.elapsed_inclusive, called->times.elapsed_exclusive };
    for (unsigned i = first; i < 2; i++)
        vsperf_number(f, values[i]);
    for (unsigned i = first; i < 2; i++)
        if (!vsperf_put_stated(f, called->stated, DWELL_STATED_PERCENT + i))
            vsperf_put_percent(f, values[i], f->session->summary.whole.elapsed_inclusive);
    for (unsigned i = 0; which & VSPERF_EACH && f->average_samples && i < 2; i++)
        if (!vsperf_put_stated(f, called->stated, DWELL_STATED_EACH + 1 + 3 * i))
            vsperf_empty(f, 1);
}

/* Writes probe overhead. Raw times have none subtracted, so that it is 0. */
static void vsperf_put_overhead(const struct vsperf_file *f, const struct call_sums *called, enum value_form form)
{
    const struct summary *summary = &f->session->summary;
    if (!vsperf_put_stated(f, called->stated, DWELL_STATED_OVERHEAD + (unsigned)form))
        vsperf_put_known(f, times_value(&called->times, VALUE_OVERHEAD, form),
                         summary->overhead_known || (summary->raw && !summary->imported));
}

void vsperf_values(const struct vsperf_file *f, unsigned which, const struct call_sums *called)
{
    const struct summary *summary = &f->session->summary;
    const struct times *t = &called->times;
    const uint64_t values[] = { t->elapsed_inclusive, t->elapsed_exclusive, t->application_inclusive,
                                t->application_exclusive };
    const unsigned first = which & VSPERF_INCLUSIVE ? 0 : 1, step = 2 - (which & VSPERF_INCLUSIVE);
    const bool known = !times_are_counted(t);
    if (summary->samples) {
        vsperf_put_samples(f, which, called);
        return;
    }
    for (unsigned i = first; i < 4; i += step)
        vsperf_put_known(f, values[i], known && (i < 2 || summary->application_known));
    for (unsigned i = first; i < 4; i += step) {
        if (!known || (i >= 2 && !summary->application_known))
            vsperf_empty(f, 1);
        else if (!vsperf_put_stated(f, called->stated, DWELL_STATED_PERCENT + i))
            vsperf_put_percent(f, values[i],
                               i < 2 ? summary->whole.elapsed_inclusive : summary->whole.application_inclusive);
    }
    if (which & VSPERF_INCLUSIVE)
        vsperf_put_overhead(f, called, INCLUSIVE);
    vsperf_put_overhead(f, called, EXCLUSIVE);
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
    const int digits = f->session->file->header.origin & DWELL_ORIGIN_NARROW ? 8 : 16;
    if (function_has_address(f->session, function))
        fprintf(f->out, "0x%0*" PRIX64 ",", digits, f->session->profile->functions[function].offset);
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
