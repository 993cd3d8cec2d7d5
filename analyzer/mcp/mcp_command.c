/* dwell mcp: answers a coding assistant on standard input and output. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "commands/command_line.h"
#include "commands/commands.h"
#include "commands/die.h"
#include "mcp/mcp_feature.h"
#include "mcp/mcp_server.h"

static const struct shared_use shared[] = { { SHARED_END, NULL } };

struct mcp_settings {
    struct shared_options shared;
    struct mcp_options mcp;
};

static void mcp_add_folder(struct mcp_settings *s, const char *path)
{
    struct error error = { NULL };
    if (!mcp_folders_add(&s->mcp.folders, path, &error))
        die_of(&error);
}

static void mcp_take(void *settings, const struct option_row *row, char *argument)
{
    (void)row;
    mcp_add_folder(settings, argument);
}

static const struct option_row options[] = {
    { "allow-record", NULL, "Also run and record programs in the folders",
      STORE_FLAG(struct mcp_settings, mcp.allow_record) },
    { "with-values", NULL, "Answers may show recorded values of arguments, which can be secrets",
      STORE_FLAG(struct mcp_settings, mcp.with_values) },
    { TAKE_BY(mcp_take) },
    { 0 },
};

static const struct command_line line = {
    .name = "mcp",
    .arguments = "[FOLDER...]",
    .text =
        "Serves a coding assistant by the Model Context Protocol on standard input and output: it looks at "
        "sessions as the commands of these names do.\v"
        "The assistant starts it; docs/assistants.md has an example. Files are limited to FOLDER... (default: the "
        "current one). Only --allow-record lets it run programs, which must be in these folders, too. Recorded values "
        "of arguments can be secrets: answers have them only with --with-values.\n\nExamples:\n"
        "  dwell mcp\n"
        "  dwell mcp --allow-record ~/project",
    .options = options,
    .shared = shared,
};

/* Descriptors that are closed would be those of files that are opened later. */
static void mcp_open_missing(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            die(STATUS_ERROR, "/dev/null: it cannot be opened");
}

int mcp_command(int argc, char **argv)
{
    struct mcp_settings s = { 0 };
    command_line_parse(&line, argc, argv, &s, &s.shared);
    if (!s.mcp.folders.count)
        mcp_add_folder(&s, ".");
    mcp_open_missing();
    signal(SIGPIPE, SIG_IGN);
    mcp_serve(&s.mcp, STDIN_FILENO, stdout);
    mcp_folders_drop(&s.mcp.folders);
    return STATUS_OK;
}
