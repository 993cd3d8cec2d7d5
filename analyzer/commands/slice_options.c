#include "commands/slice_options.h"

#include "commands/commands.h"

enum { OPTION_THREAD = 512, OPTION_PROCESS, OPTION_ROOT };

static const struct argp_option options[] = {
    { "thread", OPTION_THREAD, "THREAD", 0, "These threads: a tid, or a glob for names; may be repeated", 0 },
    { "process", OPTION_PROCESS, "PROCESS", 0, "These processes: a PID, or a glob for names; may be repeated", 0 },
    { "root", OPTION_ROOT, "FUNCTION", 0, "What happens within calls of it, as dwell callers takes names", 0 },
    { 0 },
};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct slice_request *r = state->input;
    switch (key) {
    case OPTION_THREAD:
        slice_add_name(&r->slice.threads, argument);
        return 0;
    case OPTION_PROCESS:
        slice_add_name(&r->slice.processes, argument);
        return 0;
    case OPTION_ROOT:
        r->root = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = { options, parse, NULL, NULL, NULL, NULL, NULL };
const struct argp_child slice_children[] = { { &argp, 0, "What part of the session:", 1 }, { 0 } };

error_t slice_options_begin(struct argp_state *state, struct slice_request *request)
{
    state->child_inputs[0] = request;
    return 0;
}

void slice_options_load(struct loaded *l, const char *path, unsigned jobs, struct slice_request *request)
{
    load_slice(l, path, jobs, request);
    if (request->root)
        narrow_to_root(l, option_function(l, request->root), request);
}
