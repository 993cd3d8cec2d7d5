/* Prints tables as JSON, one row at a time, so that memory does not grow with the number of rows. */
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/memory.h"
#include "base/units.h"
#include "report/table_formats.h"
#include "tables/table_json.h"

static bool begun;
static const char *schema = "table"; /* of the documents that this program prints */

void json_name_schema(const char *command)
{
    schema = command;
}

bool json_has_begun(void)
{
    return begun;
}

void json_begin(FILE *out)
{
    begun = true;
    fprintf(out, "{\"schema\": \"dwell-%s-1\",\n ", schema);
}

void json_print_remarks(const struct summary *summary, FILE *out)
{
    fputs("\"remarks\": [", out);
    for (size_t i = 0; summary && i < summary->remark_count; i++) {
        struct json_object *remark = json_object_new_object();
        json_object_object_add(remark, "code", json_new_text(summary_code(summary, i)));
        json_object_object_add(remark, "text", json_new_text(summary->remarks[i]));
        fputs(i ? ",\n  " : "\n  ", out);
        json_put_object(out, remark);
    }
    fputs("\n ],\n ", out);
}

static void json_add_samples(struct json_object *object, const struct summary *summary)
{
    json_object_object_add(object, "samples", json_object_new_uint64(summary->stack_samples));
    json_object_object_add(object, "samples_in_probes", json_object_new_uint64(summary->samples_in_probes));
    json_object_object_add(object, "overhead_percent",
                           table_json_percent(percent_of(summary->samples_in_probes, summary->stack_samples)));
}

static struct json_object *json_new_losses(const struct summary *summary)
{
    struct json_object *list = json_object_new_array();
    for (size_t i = 0; i < summary->loss_count; i++)
        json_object_array_add(list, json_new_text(summary->remarks[i]));
    return list;
}

static struct json_object *json_new_session(const struct summary *summary)
{
    struct json_object *object = json_object_new_object();
    if (summary->loss_count)
        json_object_object_add(object, "losses", json_new_losses(summary));
    if (summary->selection)
        json_object_object_add(object, "slice", json_new_text(summary->selection));
    if (summary->samples) {
        json_object_object_add(object, "inclusive_samples", json_object_new_uint64(summary->elapsed_inclusive));
        json_object_object_add(object, "processes", json_object_new_uint64(summary->processes));
        return object;
    }
    json_object_object_add(object, "run_ns",
                           summary->run ? json_object_new_uint64(ticks_to_ns(summary->run, summary->ticks_per_second))
                                        : NULL);
    json_object_object_add(object, "elapsed_inclusive_ns",
                           json_object_new_uint64(ticks_to_ns(summary->elapsed_inclusive, summary->ticks_per_second)));
    json_object_object_add(object, "application_inclusive_ns",
                           summary->application_known ? json_object_new_uint64(ticks_to_ns(
                                                            summary->application_inclusive, summary->ticks_per_second))
                                                      : NULL);
    json_object_object_add(object, "overhead_inclusive_ns",
                           summary->overhead_known
                               ? json_object_new_uint64(ticks_to_ns(summary->overhead, summary->ticks_per_second))
                               : NULL);
    const bool events_known = summary->application_known && !summary->partial_paths;
    json_object_object_add(object, "os_events", events_known ? json_object_new_uint64(summary->os_events) : NULL);
    json_object_object_add(object, "threads", json_object_new_uint64(summary->threads));
    json_object_object_add(object, "processes", json_object_new_uint64(summary->processes));
    json_object_object_add(object, "events", summary->partial_paths ? NULL : json_object_new_uint64(summary->events));
    json_object_object_add(object, "lost_events", json_object_new_uint64(summary->lost_events));
    if (summary->stack_samples)
        json_add_samples(object, summary);
    if (summary->asked_percent > 0) {
        json_object_object_add(object, "budget_percent", table_json_percent(summary->asked_percent));
        json_object_object_add(object, "budget_reached_percent", table_json_percent(summary->reached_percent));
    }
    return object;
}

void table_print_json_rows(const struct table *t, const char *key, FILE *out)
{
    size_t *order = need_memory(table_max_columns(t), sizeof *order);
    const size_t count = table_order(t, false, order);
    fprintf(out, "\"%s\": [", key);
    for (size_t row = 0; row < t->row_count; row++) {
        fputs(row ? ",\n  " : "\n  ", out);
        json_put_object(out, table_json_row(t, order, count, row));
    }
    fputs("\n ]", out);
    free(order);
}

void json_print_open(const struct table *t, FILE *out)
{
    const struct summary *session = t->session ? t->session : t->about;
    json_begin(out);
    if (session) {
        fputs("\"session\": ", out);
        json_put_object(out, json_new_session(session));
        fputs(",\n ", out);
    }
    json_print_remarks(session, out);
    table_print_json_rows(t, "rows", out);
}

void table_print_json(const struct table *t, FILE *out)
{
    json_print_open(t, out);
    fputs("}\n", out);
}
