#include "commands/selection_options.h"

#include "commands/commands.h"
#include "commands/config.h"

enum { OPTION_THREAD = 512, OPTION_PROCESS, OPTION_ROOT, OPTION_FROM, OPTION_TO, OPTION_FILTER, OPTION_RAW };

static const struct argp_option options[] = {
    { "from", OPTION_FROM, "WHEN", 0,
      "From this time since the session began (500us, 2.5ms, 1s), or mark:N or mark:TEXT", 0 },
    { "to", OPTION_TO, "WHEN", 0, "Until before it", 0 },
    { "thread", OPTION_THREAD, "THREAD", 0, "These threads: a tid, or a glob for names; may be repeated", 0 },
    { "process", OPTION_PROCESS, "PROCESS", 0, "These processes: a PID, or a glob for names; may be repeated", 0 },
    { "root", OPTION_ROOT, "FUNCTION", 0, "What happens within calls of it, as dwell callers takes names", 0 },
    { 0 },
};

static void selection_parse_moment(const char *option, const char *text, struct selection_moment *moment)
{
    struct error error = { NULL };
    if (!selection_moment_parse(option, text, moment, &error))
        die_of(&error);
}

static error_t selection_parse_option(int key, char *argument, struct argp_state *state)
{
    struct selection_request *r = state->input;
    switch (key) {
    case OPTION_FROM:
        selection_parse_moment("--from", argument, &r->from);
        return 0;
    case OPTION_TO:
        selection_parse_moment("--to", argument, &r->to);
        return 0;
    case OPTION_THREAD:
        selection_add_name(&r->selection.threads, argument);
        return 0;
    case OPTION_PROCESS:
        selection_add_name(&r->selection.processes, argument);
        return 0;
    case OPTION_ROOT:
        r->root = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option filter_options[] = {
    { "filter", OPTION_FILTER, "CONDITION", 0,
      "Rows for which it holds: KEY~GLOB, KEY!~GLOB, or KEY and a value with =, !=, <, <=, > or >= between them; may "
      "be repeated",
      0 },
    { 0 },
};

static error_t selection_parse_filter(int key, char *argument, struct argp_state *state)
{
    struct error error = { NULL };
    if (key != OPTION_FILTER)
        return ARGP_ERR_UNKNOWN;
    if (!row_filters_add(state->input, argument, &error))
        die(STATUS_ERROR, "--filter: %s", error.text);
    return 0;
}

static const struct argp_option raw_options[] = {
    { "raw", OPTION_RAW, NULL, 0, "Times as measured, with what the probes themselves took", 0 },
    { 0 },
};

static error_t selection_parse_raw(int key, char *argument, struct argp_state *state)
{
    struct analysis_options *load = state->input;
    (void)argument;
    if (key != OPTION_RAW)
        return ARGP_ERR_UNKNOWN;
    load->raw = true;
    return 0;
}

static const struct argp raw_argp = { raw_options, selection_parse_raw, NULL, NULL, NULL, NULL, NULL };
static const struct argp selection_argp = { options, selection_parse_option, NULL, NULL, NULL, NULL, NULL };
static const struct argp filter_argp = { filter_options, selection_parse_filter, NULL, NULL, NULL, NULL, NULL };
const struct argp_child selection_children[] = {
    { &selection_argp, 0, "What part of the session:", 1 },
    { &filter_argp, 0, "Which rows:", 2 },
    { &raw_argp, 0, NULL, 3 },
    { &config_argp, 0, NULL, 3 },
    { 0 },
};
const struct argp_child raw_children[] = { { &raw_argp, 0, NULL, 0 }, { 0 } };
const struct argp_child raw_config_children[] = { { &raw_argp, 0, NULL, 0 }, { &config_argp, 0, NULL, 1 }, { 0 } };
const struct argp_child filter_raw_children[] = {
    { &filter_argp, 0, "Which rows:", 1 }, { &raw_argp, 0, NULL, 2 }, { &config_argp, 0, NULL, 2 }, { 0 }
};
const struct argp_child filter_children[] = { { &filter_argp, 0, "Which rows:", 1 },
                                              { &config_argp, 0, NULL, 2 },
                                              { 0 } };

error_t selection_options_begin(struct argp_state *state, struct analysis_options *load, struct row_filters *filters)
{
    state->child_inputs[0] = &load->selection;
    state->child_inputs[1] = filters;
    state->child_inputs[2] = load;
    return 0;
}

error_t filter_options_begin(struct argp_state *state, struct row_filters *filters)
{
    state->child_inputs[0] = filters;
    return 0;
}

error_t filter_raw_options_begin(struct argp_state *state, struct row_filters *filters, struct analysis_options *load)
{
    state->child_inputs[0] = filters;
    state->child_inputs[1] = load;
    return 0;
}

error_t raw_options_begin(struct argp_state *state, struct analysis_options *load)
{
    state->child_inputs[0] = load;
    return 0;
}
