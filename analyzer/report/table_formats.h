/* The formats in which tables are printed. They do not know views. */
#ifndef DWELL_REPORT_TABLE_FORMATS_H
#define DWELL_REPORT_TABLE_FORMATS_H

#include <stdio.h>

#include "tables/table.h"

/* Prints the table and the session's summary. */
typedef void table_printer(const struct table *t, FILE *out);

table_printer table_print_text, table_print_csv, table_print_json;

/* What the schema of JSON documents is named after: a command, "report" for dwell-report-1. It must stay valid. */
void json_name_schema(const char *command);

/* Begins a JSON document: prints the { and its schema, and a comma. */
void json_begin(FILE *out);

/* Whether a document was begun. */
bool json_has_begun(void);

/* Prints remarks with their codes as a member, and a comma. None if there is no session. */
void json_print_remarks(const struct summary *session, FILE *out);

/* Prints a JSON document of the table without its last }, so that more members can follow. */
void json_print_open(const struct table *t, FILE *out);

/* Prints only the rows, as a member of a JSON object: "key": [...] */
void table_print_json_rows(const struct table *t, const char *key, FILE *out);

/* The printer of that name, or NULL. table_format_names lists them for messages. */
table_printer *table_format(const char *name);
extern const char table_format_names[];

#endif
