/* Values that are no numbers, endless, empty, or could not be read: each output tells them apart. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>
#include <string.h>

#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/viewed.h"

TestSuite(e2e_values_special, .timeout = 600);

#define RECORD                                                                                                         \
    "gcc -O2 -g -finstrument-functions -o specials " DWELL_CONSUMERS                                                   \
    "/../e2e/programs/values/specials.c -lm && $DWELL record -q --values '%s' ./specials %s"

static void special_record(const char *values, const char *how)
{
    free(run_well(RECORD, values, how));
}

static void special_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

#define ALL "handle:x,y,*at,text"
#define SCHEMAS "python3 -B " DWELL_CONSUMERS "/schemas.py " DWELL_CONSUMERS "/../../docs/schema "
#define JSON(what)                                                                                                     \
    "$DWELL values 'handle:" what "' --format json | tee out.json | jq -c '[.rows[] | [.values[\"" what                \
    "\"], .calls]]'; " SCHEMAS "out.json"
#define CSV(what) "$DWELL values 'handle:" what "' --format csv | sed -n 's/^\\([^,]*,[0-9]*\\),.*/\\1/p'"

Test(e2e_values_special, json)
{
    special_record(ALL, "few");
    special_expect(JSON("x"), "[[\"-inf\",1],[-0,1],[1.5,1],[\"inf\",1],[\"nan\",2]]\nvalues\n");
    special_expect(JSON("y"), "[[\"-inf\",1],[-0,1],[1.5,1],[\"inf\",1],[\"nan\",2]]\nvalues\n");
    special_expect(JSON("*at"), "[[\"-inf\",1],[-0,1],[\"inf\",1],[\"nan\",2],[null,1]]\nvalues\n");
    special_expect("$DWELL values handle:text --format json | jq -c '[.rows[].values.text] | sort'",
                   "[null,\"\",\"(unreadable)\",\"inf\",\"nan\",\"x\"]\n");
}

/* Without quotes, a text could not be read; with them, it is empty. */
Test(e2e_values_special, csv_and_text)
{
    special_record(ALL, "few");
    special_expect(CSV("x"), "-inf,1\n-0,1\n1.5,1\ninf,1\nnan,2\n");
    special_expect(CSV("*at"), "-inf,1\n-0,1\ninf,1\nnan,2\n,1\n");
    special_expect(CSV("text") " | LC_ALL=C sort", "\"\",1\n(unreadable),1\n,1\ninf,1\nnan,1\nx,1\n");
    special_expect("$DWELL values 'handle:*at' | sed -n '/VALUE$/,/^$/ s/.* //p'",
                   "VALUE\n-inf\n-0\ninf\nnan\n(unreadable)\n");
}

Test(e2e_values_special, ranges)
{
    special_record(ALL, "many");
    special_expect("$DWELL values handle:x --format json | tee out.json | jq -c '.rows[] | [.values.x.from, "
                   ".values.x.to, .calls]'; " SCHEMAS "out.json",
                   "[\"-inf\",\"-inf\",1]\n[\"-inf\",-8.98846567431158e+307,1]\n[0,0,1]\n[1,2,1]\n"
                   "[1.0715086071862673e+301,2.1430172143725346e+301,30]\n[8.98846567431158e+307,\"inf\",1]\n"
                   "[\"inf\",\"inf\",1]\n[\"nan\",\"nan\",2]\nvalues\n");
    special_expect("$DWELL values 'handle:*at' --format csv | cut -d, -f1-3 | tail -n 3",
                   "inf,inf,1\nnan,nan,2\n,,3\n");
    special_expect("$DWELL values handle:x | awk '/ VALUE$/ { at = index($0, \"VALUE\") } at { print substr($0, at) }' "
                   "| grep -e inf -e nan",
                   "-inf\n>-inf to -8.9884656743115795e+307\n8.9884656743115795e+307 to <inf\ninf\nnan\n");
}

/* ---- exports ---- */

#define EXPORTED(format, what)                                                                                         \
    "rm -rf out; $DWELL export " format " --with-values -o out; python3 -B " DWELL_CONSUMERS "/valued.py " format      \
    " out handle '" what "' | paste -sd'|'"

/* Formats that show texts to people have a text for what could not be read, too. */
Test(e2e_values_special, exports)
{
    special_record(ALL, "few");
    special_expect(EXPORTED("chrome", "*at"), "nan|nan|inf|-inf|null|0\n"); /* Python's zero has no sign */
    special_expect(EXPORTED("chrome", "text"), "nan||null|(unreadable)|inf|x\n");
    special_expect(EXPORTED("perfetto", "*at"), "nan|nan|inf|-inf|(unreadable)|-0\n");
    special_expect(EXPORTED("firefox", "*at"), "nan|nan|inf|-inf|(unreadable)|-0\n");
    special_expect(EXPORTED("ctf", "*at"), "nan|nan|inf|-inf|(unreadable)|-0\n");
    special_expect("$DWELL export sqlite --with-values -o db; sqlite3 db \"SELECT name, typeof(value), value, count(*) "
                   "FROM call_value WHERE name IN ('*at', 'text') GROUP BY 1, 2, 3\"",
                   "*at|null||1\n*at|real|-Inf|1\n*at|real|0.0|1\n*at|real|Inf|1\n*at|text|nan|2\ntext|null||1\n"
                   "text|text||1\ntext|text|(unreadable)|1\ntext|text|inf|1\ntext|text|nan|1\ntext|text|x|1\n");
}

/* ---- the page ---- */

static void special_expect_calls(struct json_object *function, const char *expected)
{
    struct json_object *values = json_object_new_array(), *calls = viewed_get(function, "calls");
    for (size_t i = 0; i < json_object_array_length(calls); i++)
        json_object_array_add(values,
                              json_object_get(json_object_array_get_idx(json_object_array_get_idx(calls, i), 1)));
    cr_assert(eq(str, (char *)json_object_to_json_string_ext(values, JSON_C_TO_STRING_PLAIN), (char *)expected));
    json_object_put(values);
}

Test(e2e_values_special, page)
{
    special_record("handle:*at", "few");
    free(run_well("$DWELL view --with-values -o page.html"));
    struct viewed_page page = viewed_page(test_path("page.html"));
    struct json_object *facts = viewed_get(viewed_session(&page, 0)->header, "recorded_values");
    const struct viewed *block = viewed_block(&page, 0, (unsigned)json_object_get_int(viewed_get(facts, "block")));
    struct json_object *function = json_object_array_get_idx(viewed_get(block->header, "functions"), 0);
    special_expect_calls(function, "[\"nan\",\"nan\",\"inf\",\"-inf\",null,-0.0]");
    viewed_page_drop(&page);
}

/* ---- what slow calls have in common ---- */

/* Other calls are slow if another program preempts them, which is so in few runs. */
Test(e2e_values_special, factors)
{
    static const char wanted[] = "[[\"*at=(unreadable)\",1,0],[\"x=nan\",1,0]]\nwhy\n";
    need_features("causes");
    char *factors =
        run_until(wanted,
                  RECORD " && $DWELL why --slow '>1ms' slowly --format json | tee out.json | jq -c '[.factors[] | "
                         "select(.name == \"argument\") | [.value, .slow_share, .usual_share]]'; " SCHEMAS "out.json",
                  "slowly:x,*at", "slow");
    cr_assert(eq(str, factors, (char *)wanted));
    free(factors);
}

/* What is no number is only the same as itself. */
#define WITHIN(condition)                                                                                              \
    "$DWELL report --by function --within 'handle: " condition                                                         \
    "' --format json | jq '.rows[] | select(.function == \"handle\").calls'"

Test(e2e_values_special, conditions)
{
    special_record(ALL, "few");
    special_expect(WITHIN("x = nan"), "2\n");
    special_expect(WITHIN("x != nan"), "4\n");
    special_expect(WITHIN("x = inf"), "1\n");
    special_expect(WITHIN("x > 1"), "2\n");
    special_expect(WITHIN("x < 0"), "1\n");
    special_expect(WITHIN("*at != nan"), "3\n");
    special_expect("$DWELL report --within 'handle: x > nan' 2>&1 >/dev/null; true",
                   "dwell: --within: no completed call has 'handle: x > nan'; dwell values 'handle:x' lists what they "
                   "have\n");
}
