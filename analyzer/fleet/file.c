/* Sends files in pieces, and gets them back. What a server sends is checked like any file of strangers. */
#include "fleet/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/gzip.h"
#include "base/memory.h"
#include "base/sorted.h"
#include "fleet/schema.h"
#include "fleet/session_sums.h"
#include "sums/sums.h"

/* ---- to the store ---- */

static uint64_t file_size(const struct session_file *file)
{
    struct stat status;
    return fstat(file->fd, &status) == 0 ? (uint64_t)status.st_size : 0;
}

uint32_t fleet_file_pieces(const struct session_file *file)
{
    return (uint32_t)((file_size(file) + FLEET_FILE_PIECE - 1) / FLEET_FILE_PIECE);
}

static bool file_read(int fd, uint8_t *bytes, size_t length, uint64_t at)
{
    for (size_t done = 0; done < length;) {
        const ssize_t more = pread(fd, bytes + done, length - done, (off_t)(at + done));
        if (more <= 0)
            return false;
        done += (size_t)more;
    }
    return true;
}

bool fleet_file_put(struct binary_rows *rows, const struct session_file *file, uint32_t number)
{
    const uint64_t at = (uint64_t)number * FLEET_FILE_PIECE, rest = file_size(file) - at;
    const size_t length = rest < FLEET_FILE_PIECE ? (size_t)rest : FLEET_FILE_PIECE;
    uint8_t *bytes = need_memory(FLEET_FILE_PIECE, 1);
    const bool good = file_read(file->fd, bytes, length, at);
    char *compressed;
    size_t compressed_length;
    FILE *out = need_stream(&compressed, &compressed_length);
    struct gzip *gzip = gzip_begin(out);
    gzip_write(gzip, bytes, length);
    gzip_end(gzip);
    need_stream_end(out);
    free(bytes);
    binary_put(rows, number, 4);
    binary_put(rows, fleet_file_pieces(file), 4);
    binary_put_length(rows, compressed_length);
    binary_put_bytes(rows, compressed, compressed_length);
    free(compressed);
    return good;
}

/* ---- from the store ---- */

/* Decompresses a piece into a buffer of FLEET_FILE_PIECE bytes. Returns its length, or zero. */
static size_t file_decompress(const char *compressed, size_t length, uint8_t *piece)
{
    enum { GZIP = 31 };
    z_stream z = {
        .next_in = (Bytef *)compressed, .avail_in = (uInt)length, .next_out = piece, .avail_out = FLEET_FILE_PIECE
    };
    if (inflateInit2(&z, GZIP) != Z_OK)
        out_of_memory();
    const bool whole = inflate(&z, Z_FINISH) == Z_STREAM_END && !z.avail_in;
    const size_t made = FLEET_FILE_PIECE - z.avail_out;
    inflateEnd(&z);
    return whole ? made : 0;
}

static bool file_unpack_piece(struct binary_reader *r, FILE *out, uint8_t *piece, bool last)
{
    size_t length;
    char *compressed = binary_get_text(r, &length);
    const size_t made = r->broken ? 0 : file_decompress(compressed, length, piece);
    free(compressed);
    return made && (last || made == FLEET_FILE_PIECE) && fwrite(piece, 1, made, out) == made;
}

bool fleet_file_unpack(FILE *answer, FILE *out)
{
    struct binary_reader r = { .in = answer };
    uint8_t *piece = need_memory(FLEET_FILE_PIECE, 1);
    uint64_t next = 0, count = 1;
    bool good = true;
    while (good && binary_has_row(&r)) {
        const uint64_t number = binary_get(&r, 4), pieces = binary_get(&r, 4);
        count = next ? count : pieces;
        good =
            number == next && pieces == count && number < count && file_unpack_piece(&r, out, piece, ++next == count);
    }
    free(piece);
    return good && !r.broken && next == count && fflush(out) == 0;
}

static FILE *file_fetch(const struct fleet_store *store, const struct fleet_run *run, struct error *error)
{
    char *rows = fleet_runs_sql(run, 1);
    FILE *answer = fleet_ask(store, error,
                             "SELECT number, pieces, bytes FROM %s.files_%d WHERE %s ORDER BY number FORMAT RowBinary",
                             store->database, FLEET_TABLES, rows);
    free(rows);
    if (!answer)
        return NULL;
    FILE *out = tmpfile();
    if (!out)
        error_set(error, "a temporary file: %s", strerror(errno));
    else if (!fleet_file_unpack(answer, out)) {
        error_set(error, "%s: the session of run %016llx is not there, or damaged", store->url,
                  (unsigned long long)run->run);
        fclose(out);
        out = NULL;
    }
    fclose(answer);
    return out;
}

/* The file is that of the run. Messages about it name the run. */
static struct session_file *file_open(const struct fleet_store *store, const struct fleet_run *run, FILE *fetched,
                                      struct error *error)
{
    char *path = need_text("/proc/self/fd/%d", fileno(fetched));
    const char *wrong = NULL;
    struct session_file *file = session_file_open(path, &wrong);
    free(path);
    if (file && file->sums.summed_count && fleet_session_number(file) == run->run) {
        free(file->path);
        file->path = need_text("run %016llx", (unsigned long long)run->run);
        return file;
    }
    if (file)
        session_file_close(file);
    error_set(error, "%s: the session of run %016llx is another one, or damaged%s%s", store->url,
              (unsigned long long)run->run, wrong ? ": " : "", wrong ? wrong : "");
    return NULL;
}

static bool file_add(struct sums *sums, const struct fleet_store *store, const struct fleet_run *run,
                     struct error *error)
{
    FILE *fetched = file_fetch(store, run, error);
    if (!fetched)
        return false;
    struct session_file *file = file_open(store, run, fetched, error);
    const bool good = file && sums_add(sums, file, error);
    if (file)
        session_file_close(file);
    fclose(fetched);
    return good;
}

bool fleet_pull(const struct fleet_store *store, const struct fleet_runs *runs, const char *path, struct error *error)
{
    if (!runs->count)
        return error_set(error, "%s: there is no such run", store->url);
    struct sums *sums = sums_new();
    bool good = true;
    for (size_t i = 0; good && i < runs->count; i++)
        good = file_add(sums, store, &runs->list[i], error);
    const char *wrong = good ? sums_write(sums, path) : NULL;
    sums_free(sums);
    return wrong ? error_set(error, "%s: %s", path, wrong) : good;
}
