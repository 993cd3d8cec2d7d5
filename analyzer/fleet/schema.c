/* Creates and checks the tables. */
#include "fleet/schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/sorted.h"
#include "fleet/binary.h"

#define COLUMN_OF_NUMBERS(name, add) ", " #name " UInt64"
#define COLUMN_OF_REALS(name, add) ", " #name " Float64"
#define AMOUNT_COLUMNS FLEET_COLUMNS(COLUMN_OF_NUMBERS) FLEET_SQUARES(COLUMN_OF_REALS)
#define ADDED_UP(name, add) ", " #add "(" #name ") AS " #name
#define ADDED_COLUMNS FLEET_COLUMNS(ADDED_UP) FLEET_SQUARES(ADDED_UP)

static const struct schema_table {
    const char *name, *columns, *engine;
    const char *shard; /* the expression that chooses the shard of a row */
} tables[] = {
    { "runs_1",
      "day Date, run UInt64, push UInt64, at DateTime, began UInt64, host String, program String, file String, builds Array(String),"
      " label_keys Array(String), label_values Array(String), parts Array(UInt64), rows UInt64, elapsed UInt64,"
      " threads UInt64, processes UInt64, events UInt64, lost_events UInt64, os_events UInt64, stack_samples UInt64,"
      " samples_in_probes UInt64, knows UInt32, losses UInt32, remarks Array(String)",
      "MergeTree PARTITION BY day ORDER BY (run, push)", "run" },
    { "paths_1",
      "day Date, run UInt64, part UInt64, process UInt32, thread UInt32, kind UInt8, module UInt64, address UInt64,"
      " function UInt64, parent UInt64, path UInt64, depth UInt32" AMOUNT_COLUMNS,
      "MergeTree PARTITION BY day ORDER BY (part, path)", "part" },
    { FLEET_DURATIONS,
      "day Date, run UInt64, part UInt64, module UInt64, address UInt64, function UInt64, path UInt64, counter UInt32,"
      " calls UInt64, elapsed UInt64",
      "MergeTree PARTITION BY day ORDER BY (part, path)", "part" },
    /* a granule is a row, as a row has megabytes */
    { "files_1", "day Date, run UInt64, part UInt64, number UInt32, pieces UInt32, bytes String",
      "MergeTree PARTITION BY day ORDER BY part SETTINGS index_granularity = 1", "part" },
    { "functions_1",
      "module UInt64, address UInt64, function UInt64, name String, linkage_name String, file String, line UInt32,"
      " known UInt8",
      "ReplacingMergeTree(known) ORDER BY (module, address, function)", "module" },
    { "modules_1", "module UInt64, path String, build_id String", "ReplacingMergeTree ORDER BY (module, path)",
      "module" },
};
enum { TABLES = sizeof tables / sizeof *tables };

/* Added up by the server while rows of paths arrive, for questions by day, build and function. Rows keep their part, so
 * that readers count the same parts as in the paths. */
static const char sums_select[] =
    "SELECT day, run, part, module, function" ADDED_COLUMNS " FROM %s.%s GROUP BY day, run, part, module, function";

static bool schema_create_table(const struct fleet_store *store, const struct schema_table *t, const char *cluster,
                                struct error *error)
{
    if (!cluster)
        return fleet_run(store, error, "CREATE TABLE IF NOT EXISTS %s.%s (%s) ENGINE = %s", store->database, t->name,
                         t->columns, t->engine);
    return fleet_run(store, error, "CREATE TABLE IF NOT EXISTS %s.%s_shard (%s) ENGINE = %s", store->database, t->name,
                     t->columns, t->engine) &&
           fleet_run(store, error, "CREATE TABLE IF NOT EXISTS %s.%s (%s) ENGINE = Distributed(%s, %s, %s_shard, %s)",
                     store->database, t->name, t->columns, cluster, store->database, t->name, t->shard);
}

static bool schema_create_sums(const struct fleet_store *store, const char *cluster, struct error *error)
{
    static const char columns[] = "day Date, run UInt64, part UInt64, module UInt64, function UInt64" AMOUNT_COLUMNS;
    const struct schema_table sums = { "sums_1", columns, "MergeTree PARTITION BY day ORDER BY (part, function)",
                                       "part" };
    char *from = need_text("paths_%d%s", FLEET_TABLES, cluster ? "_shard" : "");
    char *select = need_text(sums_select, store->database, from);
    const bool good =
        schema_create_table(store, &sums, cluster, error) &&
        fleet_run(store, error, "CREATE MATERIALIZED VIEW IF NOT EXISTS %s.sums_of_%s TO %s.sums_%d%s AS %s",
                  store->database, from, store->database, FLEET_TABLES, cluster ? "_shard" : "", select);
    free(select);
    free(from);
    return good;
}

static bool schema_check_cluster(const char *name, struct error *error)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    if (*name && strspn(name, allowed) == strlen(name))
        return true;
    return error_set(error, "'%s' is no name of a cluster: use letters, digits and _", name);
}

bool fleet_create(const struct fleet_store *store, const char *cluster, struct error *error)
{
    if (cluster && !schema_check_cluster(cluster, error))
        return false;
    if (!fleet_run(store, error, "CREATE DATABASE IF NOT EXISTS %s", store->database))
        return false;
    for (size_t i = 0; i < TABLES; i++)
        if (!schema_create_table(store, &tables[i], cluster, error))
            return false;
    return schema_create_sums(store, cluster, error);
}

bool fleet_check_version(struct fleet_store *store, struct error *error)
{
    store->plain = true; /* until the server has said that the user may change settings */
    FILE *answer = fleet_ask(
        store, error,
        "SELECT toUInt32(if(countIf(name = 'runs_%d') = 0, max(toUInt32(extract(name, '[0-9]+$'))), "
        "if(countIf(name = '" FLEET_DURATIONS "') > 0, %d, %d))), toUInt8((SELECT value FROM system.settings WHERE "
        "name = 'readonly') = '1') FROM system.tables WHERE database = '%s' AND match(name, "
        "'^(runs_[0-9]+|" FLEET_DURATIONS ")$') FORMAT RowBinary",
        FLEET_TABLES, FLEET_VERSION, FLEET_TABLES, store->database);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    const uint64_t version = binary_get(&r, 4);
    store->plain = binary_get(&r, 1) != 0;
    if (!fleet_end_answer(store, &r, error))
        return false;
    if (version == FLEET_VERSION || version == FLEET_TABLES)
        return true;
    if (!version)
        return error_set(error, "%s: has no profiles in the database %s: run dwell fleet init", store->url,
                         store->database);
    return error_set(error, "%s: the database %s has version %u of the tables, this dwell uses %d: use a newer dwell",
                     store->url, store->database, (unsigned)version, FLEET_VERSION);
}

bool fleet_find_durations(const struct fleet_store *store, bool *found, struct error *error)
{
    FILE *answer =
        fleet_ask(store, error,
                  "SELECT count() FROM system.tables WHERE database = '%s' AND name = '" FLEET_DURATIONS "' FORMAT "
                  "RowBinary",
                  store->database);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    *found = binary_get(&r, 8) > 0;
    return fleet_end_answer(store, &r, error);
}

/* ---- days that end ---- */

/* The names come back in a change, so no other text may. A partition is a day, such as 2026-11-23. */
static bool schema_may_drop(const char *name, const char *table, const char *partition)
{
    char *shard = need_text("%s_shard", name);
    const bool named = strcmp(table, name) == 0 || strcmp(table, shard) == 0;
    free(shard);
    return named && *partition && partition[strspn(partition, "0123456789-")] == 0;
}

/* The local table that holds the rows: that of the shard if there is a cluster. */
static bool schema_expire_table(const struct fleet_store *store, const char *name, uint16_t day, unsigned *days,
                                struct error *error)
{
    FILE *answer = fleet_ask(store, error,
                             "SELECT DISTINCT table, toString(partition) FROM system.parts WHERE active AND database = "
                             "'%s' AND table IN ('%s', '%s_shard') AND toDate(partition) < toDate(%u) ORDER BY "
                             "partition FORMAT RowBinary",
                             store->database, name, name, day);
    if (!answer)
        return false;
    struct binary_reader r = { .in = answer };
    bool good = true;
    while (good && binary_has_row(&r)) {
        char *table = binary_get_text(&r, NULL), *partition = binary_get_text(&r, NULL);
        r.broken |= !schema_may_drop(name, table, partition);
        good = !r.broken &&
               fleet_run(store, error, "ALTER TABLE %s.%s DROP PARTITION '%s'", store->database, table, partition);
        *days += good;
        free(table);
        free(partition);
    }
    return fleet_end_answer(store, &r, error) && good;
}

bool fleet_expire(const struct fleet_store *store, uint16_t day, bool rest, unsigned *days, struct error *error)
{
    static const char *const tables_of_rest[] = { "sums", "paths", "files" };
    bool good = true;
    *days = 0;
    for (size_t i = 0; i < (rest ? sizeof tables_of_rest / sizeof *tables_of_rest : 1) && good; i++) {
        char *name = need_text("%s_%d", rest ? tables_of_rest[i] : "runs", FLEET_TABLES);
        good = schema_expire_table(store, name, day, days, error);
        free(name);
    }
    return good && (!rest || schema_expire_table(store, FLEET_DURATIONS, day, days, error));
}
