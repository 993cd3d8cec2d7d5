/* dwell profile: reads its options and writes the sums of sessions. */
#include <stdlib.h>
#include <string.h>

#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/sessions.h"
#include "sums/sums.h"

static const struct shared_use shared[] = {
    { SHARED_OUTPUT, "(required); an older session of that name becomes FILE.old" },
    { SHARED_JOBS, NULL },
    { SHARED_STRICT, NULL },
    { SHARED_END, NULL },
};

struct profile_settings {
    struct shared_options shared;
    struct sums_shard shard;
    struct session_list sessions;
};

static void profile_read_shard(void *settings, const struct option_row *row, char *text)
{
    struct profile_settings *s = settings;
    char *end;
    const unsigned long number = strtoul(text, &end, 10);
    const char *slash = end;
    const unsigned long count = *slash == '/' ? strtoul(slash + 1, &end, 10) : 0;
    const bool digits = *text >= '0' && *text <= '9' && *slash == '/' && slash[1] >= '0' && slash[1] <= '9';
    (void)row;
    if (!digits || *end || number == 0 || number > count || count > DWELL_MOST_SHARDS)
        die(STATUS_ERROR, "--shard: '%s' is not a part such as 1/4, of at most %d", text, DWELL_MOST_SHARDS);
    s->shard = (struct sums_shard){ (uint32_t)number - 1, (uint32_t)count };
}

static const struct option_row options[] = {
    { "shard", "SHARD",
      "only one of several parts, such as 1/4: a run for each shares the work on a large session. dwell merge makes the "
      "whole of them",
      READ_BY(profile_read_shard) },
    { TAKE_SESSIONS(struct profile_settings, sessions) },
    { 0 },
};

static const struct command_line line = {
    .name = "profile",
    .arguments = "FILE... -o OUT",
    .options = options,
    .text =
        "Writes a session that holds only sums: call paths with times, calls and waits, by process and thread, and the "
        "names of functions. It is small, and can be read without the programs. dwell merge adds such sessions of "
        "any machines.\v"
        "report, tree, callers and waits show the same as for the recorded session. Views that need the order of "
        "calls cannot be made of sums.\n\nExamples:\n"
        "  dwell profile run.data -o run.sums\n"
        "  dwell profile big.data --shard 2/8 -o big.2.sums",
    .shared = shared,
};

/* Of all sessions so far. */
static struct damage profile_damage(const struct sums *sums)
{
    struct damage all = { 0 };
    for (size_t i = 0; i < sums->session_count; i++) {
        const struct dwell_rec_summed *record = &sums->sessions[i].summed.record;
        all.chunks += record->damaged_chunks;
        all.records += record->damaged_records;
        all.bytes += record->damaged_bytes;
    }
    return all;
}

static void profile_report_damage(const char *path, const struct sums *sums, struct damage before, bool strict)
{
    struct damage damage = profile_damage(sums);
    damage.chunks -= before.chunks;
    damage.records -= before.records;
    damage.bytes -= before.bytes;
    damage.any = damage.chunks || damage.records || damage.bytes;
    damage_report(path, damage, strict);
}

int command_profile(int argc, char **argv)
{
    struct profile_settings s = { .shard = { 0, 1 } };
    struct error error = { NULL };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    session_list_unique(&s.sessions);
    if (!s.sessions.count)
        session_list_add(&s.sessions, DEFAULT_SESSION);
    if (!s.shared.output)
        die(STATUS_ERROR, "profile: say which session file to write, with -o FILE");
    struct sums *sums = sums_new();
    for (size_t i = 0; i < s.sessions.count; i++) {
        const struct damage before = profile_damage(sums);
        output_spare(s.shared.output, s.sessions.paths[i]);
        if (!sums_add_recorded(sums, s.sessions.paths[i], s.shard, s.shared.load.jobs, &error))
            die(STATUS_ERROR, "%s", error.text);
        profile_report_damage(s.sessions.paths[i], sums, before, s.shared.load.strict);
    }
    const char *wrong = sums_write(sums, s.shared.output);
    if (wrong)
        die(STATUS_ERROR, "%s: %s", s.shared.output, wrong);
    sums_free(sums);
    session_list_drop(&s.sessions);
    return finish_output();
}
