/* dwell/event.h, from a program through the session to `dwell events`. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dwell/event.h"
#include "support/run.h"
#include "support/scenario.h"

TestSuite(e2e_events, .timeout = 300);

static const char *const modes[] = { "trace", "ring=1G", "profile" };
enum { MODES = sizeof modes / sizeof *modes };

/* Runs a scenario, which must find no error. Returns its output, which the caller frees. */
static char *events_record(const char *environment, const char *mode, const char *options, const char *scenario)
{
    char *out =
        run_well("%s $DWELL record -q --mode %s %s $PROGRAMS/events/events %s", environment, mode, options, scenario);
    cr_assert(not(has(out, "wrong")), "%s %s: %s", mode, scenario, out);
    return out;
}

/* Columns of `dwell events --format csv`, called in a shell as `events COLUMNS [OPTIONS]`. */
#define EVENTS                                                                                                         \
    "events() { columns=$1; shift; $DWELL events --format csv \"$@\" | tr -d '\\r' | "                                 \
    "awk -F, -v wanted=$columns 'BEGIN { n = split(wanted, w, \"+\") } NR == 1 { for (i = 1; i <= NF; i++) at[$i] = "  \
    "i; next } "                                                                                                       \
    "{ line = $at[w[1]]; for (i = 2; i <= n; i++) line = line \" \" $at[w[i]]; print line }'; }\n"

static void check_events(const char *arguments, const char *wanted, const char *what)
{
    char *rows = run_well(EVENTS "events %s", arguments);
    cr_assert(eq(str, rows, (char *)wanted), "%s: events %s", what, arguments);
    free(rows);
}

Test(e2e_events, every_way_to_write_one)
{
    for (int i = 0; i < MODES; i++) {
        free(events_record("", modes[i], "--event shop:4", "one"));
        check_events("type+level+version+size+data_hex+stack",
                     "INFO 4 0 7 696e206c656166 main > one > inner > leaf > say\n"
                     "CHECKPOINT 2 0 8 696e20696e6e6572 main > one > inner > say\n"
                     "200 3 4660 7 000102030405ff main > one > write_header\n"
                     "EXTENSION 0 0 16 6162636465666768696a6b6c6d6e6f70 main > one > write_fields\n"
                     "11 3 7 6 6f6e6574776f main > one > write_fields\n"
                     "END 0 0 0  main > one\n",
                     modes[i]);
        check_events("class+guid --type END", "shop 9a1c5b7e-2f30-4d11-8e02-5c710b6f3d94\n", modes[i]);
        char *info = run_well("$DWELL info");
        cr_assert(has(info, "trace events    6, 2 classes registered\n"), "%s", info);
        cr_assert(has(info, "timer resolution 10000 x 100 ns"), "%s", info);
        free(info);
    }
}

/* Without the helper and with the slower clock, and by a GUID in capitals. */
Test(e2e_events, without_the_helper_and_with_other_clocks)
{
    free(events_record("DWELL_CLOCK=monotonic DWELL_HELPER=off", "trace",
                       "--event {9A1C5B7E-2F30-4D11-8E02-5C710B6F3D94}:information", "one"));
    check_events("data --type INFO", "in leaf\n", "");
    free(events_record("", "trace", "--os-events none --suppress inner --suppress say --event shop:4", "one"));
    check_events("stack",
                 "main > one > leaf\nmain > one\nmain > one > write_header\nmain > one > write_fields\n"
                 "main > one > write_fields\nmain > one\n",
                 "filtered");
}

Test(e2e_events, events_that_are_not_enabled_are_not_recorded)
{
    static const struct {
        const char *options, *events;
    } cases[] = {
        { "", "" },
        { "--event audit.log", "0 1\n" }, /* the program writes one of them */
        { "--event shop:off", "" },
        { "--event shop:1", "5 0\n2 0\n" },
        { "--event shop:error", "8 2\n5 0\n2 0\n" },
        { "--event '*:3' --event shop:2", "8 2\n5 0\n0 1\n2 0\n" },
        { "--event shop:2 --event '*:3'", "8 2\n200 3\n5 0\n11 3\n0 1\n2 0\n" },
        { "--event '*' --event shop:off", "0 1\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        free(run_well("$DWELL record -q %s $PROGRAMS/events/events one", cases[i].options));
        char *rows = run_well(EVENTS "events type_number+level");
        cr_assert(eq(str, rows, (char *)cases[i].events), "%s", cases[i].options);
        free(rows);
    }
}

Test(e2e_events, events_of_all_sizes)
{
    for (int i = 0; i < MODES; i++) {
        free(events_record("", modes[i], "--event '*'", "sizes"));
        char *rows = run_well(EVENTS "events version+size+data_hex");
        char wanted[256], *at = rows;
        for (unsigned size = 0; size <= 64; size++) {
            int length = snprintf(wanted, sizeof wanted, "%u %u ", size, size);
            for (unsigned j = 0; j < size; j++)
                length += snprintf(wanted + length, sizeof wanted - (size_t)length, "78");
            wanted[length++] = '\n';
            cr_assert(eq(int, strncmp(at, wanted, (size_t)length), 0), "%s: %u", modes[i], size);
            at += length;
        }
        for (int j = 0; j < 20; j++) {
            cr_assert(eq(int, strncmp(at, "0 65415 ", 8), 0), "%s", modes[i]);
            at += 8;
            cr_assert(eq(sz, strspn(at, "78"), 2 * DWELL_EVENT_LONGEST_DATA));
            at += 2 * DWELL_EVENT_LONGEST_DATA + 1;
        }
        cr_assert(eq(str, at, ""));
        free(rows);
    }
}

Test(e2e_events, several_threads_and_handlers_in_between)
{
    for (int i = 0; i < MODES; i++) {
        char *out = events_record("", modes[i], "--event '*'", "several");
        char *counts = run_well("$DWELL events --format csv | tr -d '\\r' | awk -F, 'NR > 1 { n[$14]++ } END { "
                                "printf \"events shop %%d\\nevents audit %%d\\n\", n[\"shop\"], n[\"audit.log\"] }'");
        cr_assert(eq(str, counts, out), "%s", modes[i]);
        free(counts);
        /* Each START has its END with the same data. Only the handler's events of that thread lie between them. */
        char *steps = run_well(EVENTS "events tid+type+data --class shop | awk '"
                                      "$2 == \"START\" { if (open[$1] != \"\") print \"wrong\"; open[$1] = $3; next } "
                                      "{ if (open[$1] != $3) print \"wrong\"; open[$1] = \"\"; n[$1]++ } "
                                      "END { for (t in n) print n[t] }'");
        cr_assert(eq(str, steps, "5000\n5000\n5000\n5000\n"), "%s", modes[i]);
        free(steps);
        char *pairs = run_well("$DWELL events --queues --class shop --format csv | tr -d '\\r' | "
                               "awk -F, 'NR > 1 { print $1, $2, $16, $17, $18, $19 }'");
        cr_assert(eq(str, pairs, "20000 0 0 0 0 shop\n"), "%s", modes[i]);
        free(pairs);
        free(out);
    }
}

/* The version tells the consumer which class deciphers the event's data. */
Test(e2e_events, fields_are_shown_as_the_program_describes_them)
{
    for (int i = 0; i < MODES; i++) {
        free(events_record("", modes[i], "--event shop", "described"));
        char *rows = run_well("$DWELL events --format json | python3 -c 'import json, sys\n"
                              "for e in json.load(sys.stdin)[\"rows\"]: print(e[\"type\"], e[\"data\"])'");
        cr_assert(eq(str, rows,
                     "ROUTE user=42, path=/index, delta=-2\nROUTE user=42, path=/i, delta=?\nINFO text=other\n"
                     "EXTENSION rest\n"),
                  "%s", modes[i]);
        free(rows);
    }
    free(run_well("$DWELL record -q --event shop $PROGRAMS/events/events described && "
                  "for format in chrome firefox perfetto; do $DWELL export $format -o $format && "
                  "grep -aq 'user=42, path=/index, delta=-2' $format || exit 1; done; "
                  "grep -q '\"name\":\"shop ROUTE\"' chrome && "
                  "$DWELL export ctf -o described.ctf && "
                  "grep -aqr 'user=42, path=/index, delta=-2' described.ctf"));
}

/* Trace events are lines between the calls, unless they are left out. */
Test(e2e_events, replay_shows_events_between_the_calls)
{
    free(events_record("", "trace", "--event shop:4", "one"));
    char *lines = run_well("$DWELL replay --format csv | tr -d '\\r' | grep -A2 -B1 ',event,' | cut -d, -f 6-8,11");
    cr_assert(has(lines, "4,begin,say,\n5,event,,shop INFO: in leaf\n"), "%s", lines);
    free(lines);
    lines = run_well("$DWELL replay --root inner --depth 1");
    cr_assert(has(lines, "-- event shop CHECKPOINT: in inner\n"), "%s", lines);
    cr_assert(not(has(lines, "write_header")), "%s", lines);
    free(lines);
    lines = run_well("$DWELL replay --no-events");
    cr_assert(not(has(lines, "event shop")), "%s", lines);
    free(lines);
}

Test(e2e_events, events_in_children)
{
    for (int i = 0; i < MODES; i++) {
        free(events_record("", modes[i], "--event shop", "family"));
        check_events("type+data",
                     "START parent\nINFO child\nINFO child\nINFO child\nINFO child\nINFO child\nINFO child\n"
                     "INFO executed\nEND parent\n",
                     modes[i]);
        char *processes = run_well(EVENTS "events pid | uniq -c | awk '{ print $1 }' | tr '\\n' ' '");
        cr_assert(eq(str, processes, "1 1 2 3 1 1 "), "%s", modes[i]);
        free(processes);
    }
}

Test(e2e_events, events_while_functions_are_not_recorded)
{
    for (int i = 0; i < MODES; i++) {
        free(events_record("", modes[i], "--event shop", "paused"));
        check_events("data+stack", "paused main > paused > hidden > say\nin leaf main > paused > leaf > say\n",
                     modes[i]);
        free(events_record("", modes[i], "--event shop:4 --paused", "one"));
        check_events("type", "INFO\nCHECKPOINT\n200\nEXTENSION\n11\nEND\n", modes[i]);
    }
}

Test(e2e_events, the_innermost_functions_of_a_deep_stack)
{
    for (int i = 0; i < MODES; i++) {
        free(events_record("", modes[i], "--event shop", "deep"));
        char *stack = run_well(EVENTS "events depth+stack | sed 's/ > deeper//g'");
        cr_assert(eq(str, stack, "103 (39 more) > say\n"), "%s", modes[i]); /* main, deep, 100 times deeper, say */
        free(stack);
    }
}

Test(e2e_events, stacks_after_longjmp_swapcontext_and_in_handlers)
{
    for (int i = 0; i < MODES; i++) {
        free(events_record("", modes[i], "--event shop", "stacks"));
        check_events("data+stack",
                     "jumped main > stacks\ncoroutine coroutine > say\nswitched back main > stacks\n"
                     "handler main > stacks > interrupted > on_own_stack > say\n"
                     "after main > stacks > interrupted > say\nplain \n",
                     modes[i]);
    }
}

Test(e2e_events, events_before_a_kill)
{
    for (int i = 0; i < MODES; i++) {
        struct ran r = run("$DWELL record -q --mode %s --event '*' $PROGRAMS/events/events killed", modes[i]);
        cr_assert(eq(int, r.status, 137));
        ran_drop(&r);
        char *rows = run_well(EVENTS "events data | tail -n 1; events data | wc -l");
        cr_assert(eq(str, rows, "00000999\n1000\n"), "%s", modes[i]);
        free(rows);
    }
}

/* 64 KiB hold that many events of 64 bytes of data and stack. The last ones are there, without a gap. */
Test(e2e_events, a_ring_keeps_the_last_ones)
{
    free(events_record("", "ring=64K", "--event '*'", "flood 20000"));
    char *rows = run_well(
        EVENTS
        "events data | awk 'NR == 1 { first = $1 } END { print (NR == $1 - first + 1), $1, (NR > 300), (NR < 1200) }'");
    cr_assert(eq(str, rows, "1 00019999 1 1\n"));
    free(rows);
}

Test(e2e_events, a_ring_of_threads_that_end)
{
    free(events_record("", "ring=64K", "--event '*'", "waves"));
    char *rows = run_well(EVENTS "events data | tail -n 1; [ $(stat -c %%s dwell.data) -lt 3000000 ]; echo $?");
    cr_assert(eq(str, rows, "00000999\n0\n"));
    free(rows);
}

/* The session has no functions, and no event is the thread's first. */
Test(e2e_events, events_of_a_program_that_is_not_instrumented)
{
    for (int i = 0; i < MODES; i++) {
        char *said =
            run_well("$DWELL record --mode %s --event shop:4 $PROGRAMS/events/events-plain one 2>&1", modes[i]);
        cr_assert(has(said, "dwell: 0 events, 6 trace events, 1 thread, 1 process, "), "%s", said);
        free(said);
        check_events("type+depth", "INFO 0\nCHECKPOINT 0\n200 0\nEXTENSION 0\n11 0\nEND 0\n", modes[i]);
    }
}

Test(e2e_events, in_a_sandbox_cpu_times_are_unknown)
{
    for (int i = 0; i < MODES; i++) {
        free(events_record("", modes[i], "--event shop", "sandbox"));
        char *known = run_well(EVENTS "events data+resolution_100ns+cpu_total_ns | awk '{ print $1, NF }'");
        cr_assert(eq(str, known, "before 3\nbehind 1\n"), "%s", modes[i]);
        free(known);
    }
}

Test(e2e_events, events_of_the_first_process_alone)
{
    char *out = run_well("$DWELL record -q --event shop --no-follow $PROGRAMS/events/events family");
    cr_assert(
        eq(str, out,
           "wrong: register shop is 1, not 0\nwrong: register audit is 1, not 0\n")); /* in the executed program */
    free(out);
    check_events("type+data", "START parent\nEND parent\n", "");
}

Test(e2e_events, a_session_without_events)
{
    free(run_well("$DWELL record -q $PROGRAMS/events/events one"));
    struct ran r = run("$DWELL events --format csv | wc -l");
    cr_assert(eq(str, r.out, "1\n"));
    cr_assert(eq(str, r.err,
                 "dwell: dwell.data: no trace events; dwell record --event CLASS records them. The program has "
                 "registered: shop, audit.log\n"));
    ran_drop(&r);
    r = run("$DWELL record -q $SAMPLES/fib 5 >out; $DWELL events");
    cr_assert(eq(str, r.err,
                 "dwell: dwell.data: no trace events; the program has registered no class of them (dwell/event.h)\n"));
    cr_assert(eq(int, r.status, 0));
    ran_drop(&r);
}

Test(e2e_events, events_without_room_are_counted)
{
    char *out = run_well("ulimit -f 2048; $DWELL record --event '*' $PROGRAMS/events/events flood 100000 2>&1");
    cr_assert(has(out, "trace events were lost: the disk is full, or a limit on file sizes was reached"), "%s", out);
    char *sum = run_well("lost=$($DWELL info | sed -n 's/^remark *\\([0-9]*\\) trace events were lost/\\1/p'); "
                         "here=$($DWELL events --format csv 2>/dev/null | wc -l); echo $((lost + here - 1))");
    cr_assert(eq(str, sum, "100000\n"));
    free(sum);
    free(out);
}

Test(e2e_events, the_cpu_time_between_two_events)
{
    free(events_record("", "trace", "--event shop", "burn"));
    char *row =
        run_well(EVENTS "events resolution_100ns+cost+cpu_ns+kernel_time+user_time --timer-period 100us | tail -n 1");
    unsigned resolution, cost, kernel, user;
    unsigned long cpu;
    cr_assert(eq(int, sscanf(row, "%u %u %lu %u %u", &resolution, &cost, &cpu, &kernel, &user), 5), "%s", row);
    cr_assert(eq(u32, resolution, 1000));
    cr_assert(gt(ulong, cpu, 50000000)); /* it stops when its thread has used 100 ms */
    cr_assert(ge(u32, kernel + user, cost));
    cr_assert(gt(u32, cost, 500)); /* of 100 us */
    free(row);
}

/* The list equals the reference byte for byte, except for the kernel's numbers, which are unknown. */
Test(e2e_events, as_records_of_etw)
{
    free(events_record("", "trace", "--event shop:4", "one"));
    char *ids = run_well(EVENTS "events pid+tid --type END");
    unsigned pid, tid;
    cr_assert(eq(int, sscanf(ids, "%u %u", &pid, &tid), 2));
    free(ids);
    free(run_well(
        "$DWELL events --format etw -o out.etl; $DWELL events --format etw > other.etl; cmp out.etl other.etl"));
    FILE *in = fopen(test_path("out.etl"), "rb");
    cr_assert(ne(ptr, in, NULL));
    static const struct {
        uint8_t type, level;
        uint16_t version, size;
    } wanted[] = { { 0, 4, 0, 7 },  { 8, 2, 0, 8 },  { 200, 3, 0x1234, 7 },
                   { 5, 0, 0, 16 }, { 11, 3, 7, 6 }, { 2, 0, 0, 0 } };
    static const uint8_t guid[16] = { 0x7e, 0x5b, 0x1c, 0x9a, 0x30, 0x2f, 0x11, 0x4d,
                                      0x8e, 0x02, 0x5c, 0x71, 0x0b, 0x6f, 0x3d, 0x94 };
    int64_t before = 0;
    uint8_t log[48 + 280]; /* the log's own record: its resolution is 1 ms */
    cr_assert(eq(sz, fread(log, 1, sizeof log, in), sizeof log));
    cr_assert(log[0] == (uint8_t)sizeof log && log[1] == sizeof log >> 8 && log[24] == 0x00 && log[27] == 0x68);
    cr_assert(log[48 + 24] == 0x10 && log[48 + 25] == 0x27 && log[48 + 26] == 0);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        uint8_t record[48 + 16], parts[24];
        cr_assert(eq(sz, fread(record, 1, 48u + wanted[i].size, in), 48u + wanted[i].size));
        const uint32_t size = 48u + wanted[i].size;
        const uint8_t begin[] = {
            (uint8_t)size,
            0,
            0x14,
            0xc0,
            wanted[i].type,
            wanted[i].level,
            (uint8_t)wanted[i].version,
            (uint8_t)(wanted[i].version >> 8),
            (uint8_t)tid,
            (uint8_t)(tid >> 8),
            (uint8_t)(tid >> 16),
            (uint8_t)(tid >> 24),
            (uint8_t)pid,
            (uint8_t)(pid >> 8),
            (uint8_t)(pid >> 16),
            (uint8_t)(pid >> 24),
        };
        cr_assert(eq(int, memcmp(record, begin, sizeof begin), 0), "%zu", i);
        cr_assert(eq(int, memcmp(record + 24, guid, 16), 0));
        int64_t time;
        memcpy(&time, record + 16, sizeof time);
        cr_assert(gt(i64, time, before));
        before = time;
        memcpy(parts, record + 40, 8);
    }
    cr_assert(eq(int, fgetc(in), EOF));
    fclose(in);
    char *now = run_well("echo $((($(date +%%s) + 11644473600) * 10000000))"); /* from 1601, in units of 100 ns */
    const int64_t difference = strtoll(now, NULL, 10) - before;
    cr_assert(lt(i64, difference, 600000000000), "%s", now);
    cr_assert(gt(i64, difference, -600000000000), "%s", now);
    free(now);
}

/* Each order has four events. Its number identifies them, because two cooks take turns. */
Test(e2e_events, the_sample)
{
    for (int i = 0; i < MODES; i++) {
        char *out = run_well("$DWELL record -q --mode %s --event orders $SAMPLES/orders 300", modes[i]);
        struct report *r = report_of("");
        check_counts(out, r, 5);
        report_drop(r);
        free(out);
        char *types = run_well(EVENTS "events type+size+function | sort | uniq -c | awk '{ print $1, $2, $3, $4 }'");
        cr_assert(
            eq(str, types, "300 CHECKPOINT 4 cook\n300 DEQUEUE 4 kitchen\n300 END 4 kitchen\n300 START 4 order\n"),
            "%s", modes[i]);
        free(types);
        char *queues = run_well("$DWELL events --queues --key 4 --format csv | tr -d '\\r' | cut -d, -f1,2,16-19");
        cr_assert(
            eq(str, queues, "ended,queued,replies,unmatched_starts,unmatched_others,class\n300,300,0,0,0,orders\n"),
            "%s", queues);
        free(queues);
        /* No event has so long a key, so that each is without a partner. The remarks and the columns count alike. */
        queues = run_well("$DWELL events --queues --key 64 --format csv | tr -d '\\r' | cut -d, -f1,2,17-19");
        cr_assert(eq(str, queues, "ended,queued,unmatched_starts,unmatched_others,class\n0,0,300,600,orders\n"), "%s",
                  queues);
        free(queues);
        char *remarks = run_well("$DWELL events --queues --key 64 | grep '^!.*unmatched' | cut -d: -f1");
        cr_assert(eq(str, remarks, "! 300 unmatched START\n! 300 unmatched DEQUEUE\n! 300 unmatched END\n"), "%s",
                  remarks);
        free(remarks);
    }
    free(run_well("$DWELL record -q --event orders:information $SAMPLES/orders 300"));
    char *types = run_well(EVENTS "events type | sort -u | tr '\\n' ' '");
    cr_assert(eq(str, types, "DEQUEUE END START "));
    free(types);
}

/* ---- dwell control ---- */

static char *events_serve(const char *options, const char *script)
{
    return run_well("mkfifo in out; $DWELL record -q %s $PROGRAMS/events/events served < in > out & recorder=$!\n"
                    "exec 3> in 4< out; read pid <&4\n"
                    "tell() { echo \"$1\" >&3; read answer <&4; echo \"$answer\"; }\n"
                    "control() { $DWELL control $pid \"$@\" 2>&1; echo \"status $?\"; }\n"
                    "%s\nexec 3>&-; wait $recorder; rm in out",
                    options, script);
}

/* The class' levels are 1, 2, 3, 1, 2, 3 and so on; its versions count the lines. */
Test(e2e_events, enabled_while_it_runs)
{
    for (int i = 0; i < MODES; i++) {
        char options[64];
        snprintf(options, sizeof options, "--mode %s", modes[i]);
        char *out =
            events_serve(options, "tell say; tell say; tell say; control event shop:2; tell say; tell say; tell say; "
                                  "control event shop:off; tell say; control event '*:3'; tell say; tell say; "
                                  "control event 9A1C5B7E-2F30-4D11-8E02-5C710B6F3D94:critical; tell say; tell say");
        cr_assert(eq(str, out, "20\n20\n20\nstatus 0\n0\n0\n20\nstatus 0\n20\nstatus 0\n0\n0\nstatus 0\n0\n20\n"), "%s",
                  out);
        check_events("version+level+data", "3 1 told\n4 2 told\n7 2 told\n8 3 told\n9 1 told\n", modes[i]);
        free(out);
    }
}

Test(e2e_events, enabled_for_programs_that_are_executed)
{
    char *out = events_serve("--event shop:off",
                             "tell execute; control event shop; tell execute; control event '*:off'; tell execute");
    cr_assert(eq(str, out, "20\nstatus 0\n0\nstatus 0\n20\n"), "%s", out);
    check_events("data", "executed\n", "");
    free(out);
}

/* A setting applies to a class that is registered later or again, and to a whole session. */
Test(e2e_events, enabled_before_it_is_known)
{
    char *out = events_serve(
        "", "control event audit.log:2; tell audit; tell register; tell audit; tell unregister; tell audit; "
            "tell register; tell audit; $DWELL control dwell.data event '*:off'; tell audit");
    cr_assert(has(out, "has no class 'audit.log' yet; the setting holds when it registers one\nstatus 0\n"), "%s", out);
    cr_assert(has(out, "status 0\n20\n0\n0\n0\n20\n0\n0\n20\n"), "%s", out);
    check_events("class+data", "audit.log told\naudit.log told\n", "");
    free(out);
}

Test(e2e_events, a_dump_contains_events)
{
    char *out = events_serve("--event '*'", "tell say; tell say; control dump -o early.data; tell say");
    cr_assert(has(out, "status 0\n"), "%s", out);
    check_events("version early.data", "0\n1\n", "");
    check_events("version", "0\n1\n2\n", "");
    free(out);
}

/* ---- other ---- */

Test(e2e_events, names_of_classes)
{
    free(events_record("", "trace", "--event '*'", "names"));
}

Test(e2e_events, without_the_runtime_and_with_one_that_records_nothing)
{
    char *out = run_well("$PROGRAMS/events/events alone; LD_PRELOAD=$RUNTIME $PROGRAMS/events/events alone");
    cr_assert(eq(str, out, ""));
    free(out);
}

Test(e2e_events, mistakes)
{
    static const struct {
        const char *command;
        int status;
        const char *message;
    } cases[] = {
        { "record --event 'a b' true", 125,
          "dwell: --event: 'a b' is neither the name of a class of events, nor a GUID, nor *\n" },
        { "record --event shop:256 true", 125,
          "dwell: --event: '256' is not a level: a number from 0 to 255, critical, error, warning, information, verbose, "
          "or off\n" },
        { "control 1 event", 2, "dwell: control: which class of events? Give NAME, GUID or *, and :LEVEL or :off\n" },
        { "control 1 pause x", 2, "dwell: control: too many arguments: 'x'\n" },
        { "events none.data", 2, "dwell: none.data: No such file or directory\n" },
        { "events --type WHAT", 2,
          "dwell: --type: 'WHAT' is not a type: a number from 0 to 255, INFO, START, END, DC_START, DC_END, "
          "EXTENSION, REPLY, DEQUEUE, CHECKPOINT, SEND or RECEIVE\n" },
        { "events --level 300", 2,
          "dwell: --level: '300' is not a level: a number from 0 to 255, critical, error, warning, information or "
          "verbose\n" },
        { "events --from 1x", 2,
          "dwell: --from: '1x' is neither a time such as 2.5ms or 1s nor a mark such as mark:1 or mark:loaded\n" },
        { "events --format xml", 2, "dwell: --format: 'xml' is none of text, csv, json, etw\n" },
        { "events --format etw --pairs", 2, "dwell: --format etw: only of events, without --pairs and --queues\n" },
        { "events --key 4", 2, "dwell: --key: only with --pairs or --queues\n" },
        { "events --pairs --key 65", 2, "dwell: --key: '65' is not between 1 and 64 bytes\n" },
        { "events --pairs --type END", 2,
          "dwell: --type: an activity has events of several types; leave it out with --pairs and --queues\n" },
        { "events --processor-time", 2, "dwell: --processor-time: only with --format etw\n" },
        { "events --timer-period 0ns", 2, "dwell: --timer-period: '0ns' is not a multiple of 100ns up to 1s\n" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ran r = run("$DWELL %s", cases[i].command);
        cr_assert(eq(int, r.status, cases[i].status), "%s", cases[i].command);
        cr_assert(eq(str, r.err, (char *)cases[i].message), "%s", cases[i].command);
        ran_drop(&r);
    }
    free(run_well("$DWELL record -q --event shop $PROGRAMS/events/events one"));
    struct ran r = run("$DWELL events --format etw -o dwell.data");
    cr_assert(eq(str, r.err, "dwell: dwell.data: is the session itself\n"));
    cr_assert(eq(int, r.status, 2));
    ran_drop(&r);
}
