/* Texts of bytes that are no characters: no output makes two of them one, and all show them alike. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdlib.h>

#include "support/features.h"
#include "support/run.h"
#include "support/scenario.h"
#include "support/viewed.h"

TestSuite(e2e_values_bytes, .timeout = 600);

#define RECORD                                                                                                         \
    "gcc -O2 -g -finstrument-functions -o bytes " DWELL_CONSUMERS                                                      \
    "/../e2e/programs/values/bytes.c && $DWELL record -q --values take:text ./bytes %s"

static void bytes_record(const char *how)
{
    free(run_well(RECORD, how));
}

static void bytes_expect(const char *command, const char *expected)
{
    char *text = run_well("%s", command);
    cr_assert(eq(str, text, (char *)expected), "%s", command);
    free(text);
}

/* By the number of calls, which differs for each text. */
Test(e2e_values_bytes, of_data)
{
    bytes_record("");
    bytes_expect("$DWELL values take:text --format json | jq -c '.rows | sort_by(.calls) | [.[].values.text]'",
                 "[\"a\\\\xff\",\"a\\\\xfe\",\"a\\\\x5cxff\",\"a\xc3\xa9\",\"a\xef\xbf\xbd\",\"a\\nb\",\"a\\\\x\","
                 "\"\\\\x5cx01\",\"\\\\xed\\\\xa0\\\\x80\",\"a\\\\x5cx5cxff\"]\n");
    bytes_expect(
        "$DWELL values take:text --format csv | grep -v '^\"\\|^b\"' | cut -d, -f1,2 | sort -t, -n -k2",
        "values.text,calls\na\\xff,1\na\\xfe,2\na\\x5cxff,3\na\xc3\xa9,4\na\xef\xbf\xbd,5\na\\x,7\n\\x5cx01,8\n"
        "\\xed\\xa0\\x80,9\na\\x5cx5cxff,10\n");
}

/* A line break needs an escape there, too. */
Test(e2e_values_bytes, on_terminals)
{
    bytes_record("");
    bytes_expect("LC_ALL=C.UTF-8 $DWELL values take:text | sed -n '/VALUE$/,$ s/^ *\\([0-9]*\\) .* /\\1 /p' | sort -n",
                 "1 a\\xff\n2 a\\xfe\n3 a\\x5cxff\n4 a\xc3\xa9\n5 a\xef\xbf\xbd\n6 a\\x0ab\n7 a\\x\n8 \\x5cx01\n"
                 "9 \\xed\\xa0\\x80\n10 a\\x5cx5cxff\n");
}

#define EXPORTED(format)                                                                                               \
    "rm -rf out; $DWELL export " format " --with-values -o out; python3 -B " DWELL_CONSUMERS "/valued.py " format      \
    " out take text | grep -v '^b$\\|^a$\\|^a.b$' | sort | uniq -c | sed 's/^ *//' | sort -n"

static const char exported[] = "1 a\\xff\n2 a\\xfe\n3 a\\x5cxff\n4 a\xc3\xa9\n5 a\xef\xbf\xbd\n7 a\\x\n8 \\x5cx01\n"
                               "9 \\xed\\xa0\\x80\n10 a\\x5cx5cxff\n";

Test(e2e_values_bytes, in_exports)
{
    bytes_record("");
    bytes_expect(EXPORTED("chrome"), exported);
    bytes_expect(EXPORTED("firefox"), exported);
    bytes_expect(EXPORTED("perfetto"), exported);
    bytes_expect(EXPORTED("sqlite"), exported);
}

Test(e2e_values_bytes, on_the_page)
{
    bytes_record("");
    free(run_well("$DWELL view --with-values -o page.html"));
    struct viewed_page page = viewed_page(test_path("page.html"));
    struct json_object *facts = viewed_get(viewed_session(&page, 0)->header, "recorded_values");
    const struct viewed *block = viewed_block(&page, 0, (unsigned)json_object_get_int(viewed_get(facts, "block")));
    struct json_object *calls =
        viewed_get(json_object_array_get_idx(viewed_get(block->header, "functions"), 0), "calls");
    static const char *const texts[] = { "a\\xff", "a\\xfe", "a\\xfe", "a\\x5cxff" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct json_object *call = json_object_array_get_idx(calls, i);
        cr_expect(eq(str, (char *)json_object_get_string(json_object_array_get_idx(call, 1)), (char *)texts[i]));
    }
    viewed_page_drop(&page);
}

#define CALLS(condition)                                                                                               \
    "$DWELL report --by function --filter 'take:text " condition                                                       \
    "' --format json | jq '.rows[] | select(.function == \"take\").calls'"

/* The shown form names one text, and so do the characters themselves. */
Test(e2e_values_bytes, in_conditions)
{
    bytes_record("");
    bytes_expect(CALLS("= a\\xff"), "1\n");
    bytes_expect(CALLS("= a\\xfe"), "2\n");
    bytes_expect(CALLS("= a\\x5cxff"), "3\n");
    bytes_expect(CALLS("= a\xc3\xa9"), "4\n");
    bytes_expect(CALLS("= a\\x0ab"), "6\n");
    bytes_expect(CALLS("= a\nb"), "6\n");
    bytes_expect(CALLS("= \\xed\\xa0\\x80"), "9\n");
    bytes_expect(CALLS("!= a\\xff"), "54\n");
    bytes_expect(CALLS("~ a?xf*"), "3\n");
}

/* Other calls are slow if another program preempts them, which is so in few runs. The thread may also have come to
 * another processor: then that is a longer name below. */
Test(e2e_values_bytes, in_factors)
{
    static const char wanted[] = "[[\"text=b\\\\xfe\",1]]\n";
    need_features("causes");
    char *factors = run_until(wanted,
                              RECORD " && $DWELL why --slow '>1ms' take --format json | jq -c '[.factors[] | "
                                     "select(.name == \"argument\") | [.value, .slow_share]]'",
                              "slow");
    cr_assert(eq(str, factors, (char *)wanted));
    free(factors);
    bytes_expect("LC_ALL=C.UTF-8 $DWELL why --slow '>1ms' take | grep -c 'argument  *text=b.xfe$'", "1\n");
}
