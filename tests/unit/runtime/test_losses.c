/* Events of chunks of which some pages are in memory only, because the disk is full. */
#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "guard.h"
#include "losses.h"
#include "process.h"
#include "record.h"
#include "session.h"
#include "unit/runtime/runtime_block.h"

enum { UNIT = DWELL_UNIT, UNITS = 8, SIZE = UNITS * UNIT };

static void losses_end(void)
{
    unlink(runtime.path);
}

TestSuite(unit_runtime_losses, .fini = losses_end);

static int losses_fd; /* of the session */

/* Otherwise each write fails, as on a full disk. */
static void losses_let_write(bool may)
{
    const struct rlimit limit = { may ? RLIM_INFINITY : 0, RLIM_INFINITY };
    signal(SIGXFSZ, SIG_IGN);
    cr_assert(eq(int, setrlimit(RLIMIT_FSIZE, &limit), 0));
}

/* ---- a chunk ---- */

/* An empty chunk of events at the beginning of a file. */
static struct dwell_chunk_header *losses_chunk(void)
{
    runtime_block();
    struct stat status;
    strcpy(runtime.path, "/tmp/losses-XXXXXX");
    losses_fd = mkstemp(runtime.path);
    cr_assert(eq(int, ftruncate(losses_fd, SIZE), 0));
    cr_assert(eq(int, fstat(losses_fd, &status), 0));
    runtime.session.device = status.st_dev;
    runtime.session.inode = status.st_ino;
    losses_let_write(false);
    struct dwell_chunk_header *chunk = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, losses_fd, 0);
    *chunk = (struct dwell_chunk_header){ .magic = DWELL_CHUNK_MAGIC, .kind = DWELL_CHUNK_EVENTS, .size = SIZE };
    cr_assert(guard_add(chunk, SIZE, 0));
    return chunk;
}

static void losses_replace(struct dwell_chunk_header *chunk, int unit)
{
    cr_assert(guard_replace((char *)chunk + unit * UNIT));
}

/* Fills the chunk with exits. Returns their number. */
static uint64_t losses_fill(struct dwell_chunk_header *chunk)
{
    uint16_t *at = (uint16_t *)(chunk + 1), *end = (uint16_t *)((char *)chunk + SIZE);
    for (uint16_t *word = at; word < end; word++)
        *word = DWELL_WORD_EXIT << DWELL_WORD_KIND_SHIFT | 1;
    chunk->used = SIZE;
    return (uint64_t)(end - at);
}

static uint64_t losses_counted(void)
{
    return runtime.session.header->lost_events;
}

static uint32_t losses_used_in_file(void)
{
    struct dwell_chunk_header stored;
    cr_assert(eq(long, pread(losses_fd, &stored, sizeof stored, 0), (long)sizeof stored));
    return stored.used;
}

enum { IN_UNIT = UNIT / 2, IN_FIRST = (UNIT - sizeof(struct dwell_chunk_header)) / 2 };

Test(unit_runtime_losses, nothing_in_memory)
{
    struct dwell_chunk_header *chunk = losses_chunk();
    losses_fill(chunk);
    losses_of_events(chunk, SIZE);
    cr_assert(eq(u64, losses_counted(), 0));
    cr_assert(eq(u32, chunk->used, SIZE));
}

Test(unit_runtime_losses, room_again)
{
    struct dwell_chunk_header *chunk = losses_chunk();
    losses_replace(chunk, 0);
    losses_replace(chunk, 3);
    losses_fill(chunk);
    losses_let_write(true);
    losses_of_events(chunk, SIZE);
    cr_assert(eq(u64, losses_counted(), 0));
    cr_assert(eq(u32, losses_used_in_file(), SIZE));
}

/* Readers stop there. */
Test(unit_runtime_losses, cut_at_the_first_event_that_is_missing)
{
    struct dwell_chunk_header *chunk = losses_chunk();
    losses_replace(chunk, 3);
    const uint64_t events = losses_fill(chunk);
    losses_of_events(chunk, SIZE);
    cr_assert(eq(u32, losses_used_in_file(), 3 * UNIT));
    cr_assert(eq(u64, losses_counted(), events - IN_FIRST - 2 * IN_UNIT));
}

/* Readers do not know where the chunk ends: they find what comes after the missing page. Of a page of zeros, they take
 * two for exits. */
Test(unit_runtime_losses, a_header_that_cannot_be_stored)
{
    struct dwell_chunk_header *chunk = losses_chunk();
    losses_fill(chunk);
    chunk->used = 0; /* in the file */
    memset((char *)chunk + 3 * UNIT, 0, UNIT);
    losses_replace(chunk, 0);
    losses_replace(chunk, 3);
    losses_fill(chunk);
    losses_of_events(chunk, SIZE);
    cr_assert(eq(u32, losses_used_in_file(), 0));
    cr_assert(eq(u64, losses_counted(), IN_UNIT - UNIT % ENTER_BYTES / EXIT_BYTES));
    losses_let_write(true); /* what was counted stays true */
    cr_assert(guard_save(chunk, SIZE, losses_fd));
    cr_assert(eq(u32, losses_used_in_file(), 0));
}

/* The helper's header is there still, so readers find no events. */
Test(unit_runtime_losses, a_chunk_that_is_free_in_the_file)
{
    struct dwell_chunk_header *chunk = losses_chunk();
    chunk->kind = DWELL_CHUNK_FREE;
    losses_replace(chunk, 0);
    chunk->kind = DWELL_CHUNK_EVENTS;
    const uint64_t events = losses_fill(chunk);
    losses_of_events(chunk, SIZE);
    cr_assert(eq(u64, losses_counted(), events));
}
