/* The table of tools, and its form for clients: names, descriptions, and the JSON Schema of the arguments. */
#include "mcp/tools.h"

#include <json-c/json.h>
#include <string.h>

#include "mcp/rpc_message.h"

/* ---- arguments ---- */

static const struct mcp_argument session = { .name = "session",
                                             .type = MCP_SESSION,
                                             .ends_options = true,
                                             .does = "The recorded session, a file (default: dwell.data)." };
static const struct mcp_argument session_after = { .name = "session",
                                                   .type = MCP_SESSION,
                                                   .does = "The recorded session, a file (default: dwell.data)." };
static const struct mcp_argument function = { .name = "function",
                                              .type = MCP_FUNCTION,
                                              .ends_options = true,
                                              .required = true,
                                              .does =
                                                  "The function's name as another tool has shown it. name@file:line "
                                                  "or name@module if several have it." };
static const struct mcp_argument from = { .name = "from",
                                          .type = MCP_TEXT,
                                          .option = "--from",
                                          .does =
                                              "Beginning of the part to look at: a time since the session began with "
                                              "its unit (2ms), or a mark (mark:TEXT)." };
static const struct mcp_argument to = {
    .name = "to", .type = MCP_TEXT, .option = "--to", .does = "End of the part, as from."
};
static const struct mcp_argument thread = {
    .name = "thread", .type = MCP_TEXT, .option = "--thread", .does = "Only these threads: a tid, or a glob for names."
};
static const struct mcp_argument root = {
    .name = "root", .type = MCP_TEXT, .option = "--root", .does = "Only calls of this function, and what they call."
};
static const struct mcp_argument filter = { .name = "filter",
                                            .type = MCP_TEXTS,
                                            .option = "--filter",
                                            .does = "Only rows that meet all these conditions: a glob for names "
                                                    "(parse*), or a column with a value (calls>100)." };
static const struct mcp_argument sort = { .name = "sort",
                                          .type = MCP_TEXT,
                                          .option = "--sort",
                                          .does = "The column to sort by, such as calls or cpu_exclusive." };
static const struct mcp_argument limit = { .name = "limit",
                                           .type = MCP_NUMBER,
                                           .option = "--limit",
                                           .most = 100000,
                                           .does = "At most so many rows in each table; 0: all." };
static const struct mcp_argument room = { .name = "max_characters",
                                          .type = MCP_ROOM,
                                          .least = 1000,
                                          .most = 200000,
                                          .usual = 4000,
                                          .does = "How long the answer may be (default: 4000)." };
static const struct mcp_argument seconds = { .name = "timeout_seconds",
                                             .type = MCP_SECONDS,
                                             .least = 1,
                                             .most = 3600,
                                             .usual = 120,
                                             .does = "When to give up (default: 120)." };

static const struct mcp_argument report_by = {
    .name = "by",
    .type = MCP_CHOICE,
    .option = "--by",
    .choices = "function, line, module, module-function, thread, thread-name, process",
    .does = "One table by this, instead of the first screen with work and waits."
};
static const struct mcp_argument tree_depth = { .name = "depth",
                                                .type = MCP_NUMBER,
                                                .option = "--depth",
                                                .most = 100000,
                                                .does = "How many levels of calls to show." };
static const struct mcp_argument tree_min = { .name = "min",
                                              .type = MCP_TEXT,
                                              .option = "--min",
                                              .does = "Fold branches with less time: 5%, 2ms or 0 (default: 1%)." };
static const struct mcp_argument waits_by = { .name = "by",
                                              .type = MCP_CHOICE,
                                              .option = "--by",
                                              .choices = "path, lock, function, thread, waker",
                                              .does = "What makes a row." };
static const struct mcp_argument critical_by = { .name = "by",
                                                 .type = MCP_CHOICE,
                                                 .option = "--by",
                                                 .choices = "function, segment, thread",
                                                 .does = "Only this table, instead of all three." };
static const struct mcp_argument critical_call = { .name = "call",
                                                   .type = MCP_TEXT,
                                                   .option = "--call",
                                                   .does = "The path of the slowest call of this function, instead of "
                                                           "that of the run." };
static const struct mcp_argument whatif_factors = { .name = "functions",
                                                    .type = MCP_FACTORS,
                                                    .ends_options = true,
                                                    .does = "Functions with factors of their own time: [\"parse=0.5\"] "
                                                            "is parse in half of its time." };
static const struct mcp_argument whatif_rank = {
    .name = "rank", .type = MCP_FLAG, .option = "--rank", .does = "List the functions that would bring most."
};
static const struct mcp_argument whatif_cpus = { .name = "cpus",
                                                 .type = MCP_NUMBER,
                                                 .option = "--cpus",
                                                 .least = 1,
                                                 .most = 4096,
                                                 .does = "Replay on so many processors." };
static const struct mcp_argument why_slow = { .name = "slow",
                                              .type = MCP_TEXT,
                                              .option = "--slow",
                                              .does = "The slow calls: a share (1%, the default), those above a time "
                                                      "(>20ms), or above a percentile (p99)." };
static const struct mcp_argument why_against = { .name = "against",
                                                 .type = MCP_TEXT,
                                                 .option = "--against",
                                                 .does = "The usual calls: rest (default), or a range (p25-p75)." };
static const struct mcp_argument why_call = { .name = "call",
                                              .type = MCP_TEXT,
                                              .option = "--call",
                                              .does = "One slow call: 1 is the slowest, 1.5s one that was open at that "
                                                      "time." };
static const struct mcp_argument why_more = { .name = "more_sessions",
                                              .type = MCP_SESSIONS,
                                              .does = "Sessions of other runs: their calls and those of session are "
                                                      "compared as one." };
static const struct mcp_argument diff_before = {
    .name = "before", .type = MCP_SESSIONS, .required = true, .does = "Sessions from before the change."
};
static const struct mcp_argument diff_after = { .name = "after",
                                                .type = MCP_SESSIONS,
                                                .ends_options = true,
                                                .required = true,
                                                .does = "Sessions from after the change. With two or more on both "
                                                        "sides, differences of times are tested." };
static const struct mcp_argument diff_by = { .name = "by",
                                             .type = MCP_CHOICE,
                                             .option = "--by",
                                             .choices = "function, module, path",
                                             .does = "What makes a row (default: function)." };
static const struct mcp_argument diff_gates = { .name = "fail_if",
                                                .type = MCP_TEXTS,
                                                .option = "--fail-if",
                                                .does = "Conditions to judge by, such as calls > +0 or "
                                                        "cpu_exclusive > +10%." };
static const struct mcp_argument advise_overhead = { .name = "overhead",
                                                     .type = MCP_TEXT,
                                                     .option = "--overhead",
                                                     .does = "What the probes may take of the program's CPU time "
                                                             "(default: 10%)." };
static const struct mcp_argument record_program = { .name = "program",
                                                    .type = MCP_PROGRAM,
                                                    .ends_options = true,
                                                    .required = true,
                                                    .does = "The program to run, a file. Build it with dwell cc or "
                                                            "dwell c++, or -finstrument-functions." };
static const struct mcp_argument record_arguments = { .name = "arguments",
                                                      .type = MCP_TEXTS,
                                                      .does = "The program's arguments." };
static const struct mcp_argument record_output = {
    .name = "output", .type = MCP_OUTPUT, .option = "--output", .does = "The session to write (default: dwell.data)."
};
static const struct mcp_argument record_folder = { .name = "folder",
                                                   .type = MCP_FOLDER,
                                                   .does = "The folder to run in (default: the first one)." };
static const struct mcp_argument record_mode = { .name = "mode",
                                                 .type = MCP_CHOICE,
                                                 .option = "--mode",
                                                 .choices = "trace, profile, ring",
                                                 .does = "trace: every call (default); profile: sums, for long runs; "
                                                         "ring: the last part." };
static const struct mcp_argument record_sites = { .name = "call_sites",
                                                  .type = MCP_FLAG,
                                                  .option = "--call-sites",
                                                  .does = "Also the line of each call, for annotate." };
static const struct mcp_argument record_overhead = { .name = "overhead",
                                                     .type = MCP_TEXT,
                                                     .option = "--overhead",
                                                     .does = "What the probes may take of the program's CPU time: 3%, "
                                                             "or none to time every call (default: 10%)." };
static const struct mcp_argument record_seconds = { .name = "timeout_seconds",
                                                    .type = MCP_SECONDS,
                                                    .least = 1,
                                                    .most = 86400,
                                                    .usual = 600,
                                                    .does = "When to end the program, by SIGTERM (default: 600). What "
                                                            "was recorded until then is kept." };

/* ---- tools ---- */

const struct mcp_tool mcp_tools[] = {
    { .name = "record",
      .does = "Runs a program, and records its calls and waits to a session.",
      .next = "report for what the run did; info if something was lost.",
      .runs_program = true,
      .arguments = { &record_program, &record_arguments, &record_output, &record_folder, &record_mode, &record_sites,
                     &record_overhead, &room, &record_seconds } },
    { .name = "report",
      .options = "--no-config",
      .does = "The first look at a session: where the time went, the functions that use the CPU, the calls in which "
              "threads wait, and remarks on what to doubt.",
      .next = "callers or annotate for a function that uses the CPU; waits for who makes threads wait; critical for "
              "what the run's length consists of.",
      .arguments = { &report_by, &sort, &limit, &filter, &from, &to, &thread, &root, &session, &room, &seconds } },
    { .name = "tree",
      .options = "--no-config",
      .does = "Call paths with their times. A star marks the hot path, w marks functions that mostly wait.",
      .next = "callers for one function of it; root and min for a part of the tree.",
      .arguments = { &tree_depth, &tree_min, &filter, &from, &to, &thread, &root, &session, &room, &seconds } },
    { .name = "callers",
      .options = "--no-config",
      .does = "A function between its callers and callees, with times.",
      .next = "annotate for its lines; whatif for what a faster version would bring.",
      .arguments = { &sort, &filter, &from, &to, &thread, &root, &function, &session_after, &room, &seconds } },
    { .name = "waits",
      .options = "--no-config",
      .does = "What threads waited for, how long, and which function of which thread made them wait.",
      .next = "critical for whether these waits make the run longer; callers for the function that causes them.",
      .arguments = { &waits_by, &limit, &filter, &from, &to, &thread, &root, &session, &room, &seconds } },
    { .name = "critical",
      .options = "--no-config",
      .does = "What the length of a run consisted of, across threads: the functions, parts and threads on the "
              "critical path.",
      .next = "whatif for the functions at the top; waits for why threads hand over.",
      .arguments = { &critical_by, &critical_call, &limit, &from, &to, &thread, &session, &room, &seconds } },
    { .name = "whatif",
      .options = "--no-config",
      .does = "Predicts how long the run would take if functions were faster or slower. With rank, lists those that "
              "would bring most.",
      .next = "annotate for the function to change; after the change, record again and diff.",
      .arguments = { &whatif_rank, &whatif_cpus, &limit, &from, &to, &thread, &whatif_factors, &session_after, &room,
                     &seconds } },
    { .name = "why",
      .options = "--no-config",
      .does = "Why some calls of a function are slow: what they do more of than the usual ones, by call path and kind "
              "of time, with who made them wait.",
      .next = "waits for all waits of that object; critical with call for the slowest call across threads.",
      .arguments = { &why_slow, &why_against, &why_call, &limit, &from, &to, &thread, &function, &session_after,
                     &why_more, &room, &seconds } },
    { .name = "diff",
      .options = "--no-config",
      .does = "Compares sessions from before and after a change: calls, which are exact, and times.",
      .next = "callers in both sessions for a function that has changed; several sessions on each side if times are "
              "uncertain.",
      .arguments = { &diff_by, &diff_gates, &sort, &limit, &from, &to, &thread, &root, &diff_before, &diff_after, &room,
                     &seconds } },
    { .name = "advise",
      .options = "--no-config",
      .does = "Which functions a recording should leave out as their probes cost too much, and what that saves.",
      .next = "record with another overhead.",
      .arguments = { &advise_overhead, &limit, &session, &room, &seconds } },
    { .name = "annotate",
      .options = "--no-config",
      .does = "A function's source with the calls and times of each line. Needs a session of record with call_sites, "
              "or samples.",
      .next = "whatif for what a faster version would bring.",
      .arguments = { &function, &session_after, &room, &seconds } },
    { .name = "info",
      .does = "What a session holds: how it was recorded, its processes and threads, what was lost, all remarks.",
      .next = "report for where the time went.",
      .arguments = { &limit, &session, &room, &seconds } },
};
const size_t mcp_tool_count = sizeof mcp_tools / sizeof *mcp_tools;

const struct mcp_tool *mcp_tool_find(const char *name, bool allow_record)
{
    for (size_t i = 0; i < mcp_tool_count; i++)
        if (strcmp(mcp_tools[i].name, name) == 0 && (allow_record || !mcp_tools[i].runs_program))
            return &mcp_tools[i];
    return NULL;
}

/* ---- their schemas ---- */

static bool tools_is_list(enum mcp_type type)
{
    return type == MCP_TEXTS || type == MCP_FACTORS || type == MCP_SESSIONS;
}

static bool tools_is_number(enum mcp_type type)
{
    return type == MCP_NUMBER || type == MCP_ROOM || type == MCP_SECONDS;
}

/* The choices as a list. */
static struct json_object *tools_list_choices(const char *choices)
{
    struct json_object *list = json_object_new_array();
    for (const char *at = choices; *at; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ",");
        json_object_array_add(list, json_object_new_string_len(at, (int)length));
        at += length;
    }
    return list;
}

static struct json_object *tools_describe_argument(const struct mcp_argument *a)
{
    struct json_object *schema = json_object_new_object();
    mcp_add_text(schema, "type",
                 tools_is_list(a->type)     ? "array"
                 : tools_is_number(a->type) ? "integer"
                 : a->type == MCP_FLAG      ? "boolean"
                                            : "string");
    mcp_add_text(schema, "description", a->does);
    if (tools_is_list(a->type)) {
        struct json_object *items = json_object_new_object();
        mcp_add_text(items, "type", "string");
        json_object_object_add(schema, "items", items);
    }
    if (tools_is_list(a->type) && a->required)
        json_object_object_add(schema, "minItems", json_object_new_int(1));
    if (a->type == MCP_CHOICE)
        json_object_object_add(schema, "enum", tools_list_choices(a->choices));
    if (tools_is_number(a->type)) {
        json_object_object_add(schema, "minimum", json_object_new_int64(a->least));
        json_object_object_add(schema, "maximum", json_object_new_int64(a->most));
    }
    return schema;
}

struct json_object *mcp_tool_describe(const struct mcp_tool *tool)
{
    struct json_object *described = json_object_new_object(), *schema = json_object_new_object();
    struct json_object *properties = json_object_new_object(), *required = json_object_new_array();
    struct json_object *hints = json_object_new_object();
    for (const struct mcp_argument *const *a = tool->arguments; *a; a++) {
        json_object_object_add(properties, (*a)->name, tools_describe_argument(*a));
        if ((*a)->required)
            json_object_array_add(required, json_object_new_string((*a)->name));
    }
    mcp_add_text(schema, "type", "object");
    json_object_object_add(schema, "properties", properties);
    json_object_object_add(schema, "required", required);
    json_object_object_add(schema, "additionalProperties", json_object_new_boolean(false));
    json_object_object_add(hints, "readOnlyHint", json_object_new_boolean(!tool->runs_program));
    json_object_object_add(hints, "openWorldHint", json_object_new_boolean(tool->runs_program));
    mcp_add_text(described, "name", tool->name);
    mcp_add_text(described, "description", tool->does);
    json_object_object_add(described, "inputSchema", schema);
    json_object_object_add(described, "annotations", hints);
    return described;
}
