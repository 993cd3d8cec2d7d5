/* The files of sessions in the store: what rows of call paths lack, such as threads, waits and ticks. */
#ifndef DWELL_FLEET_FILE_H
#define DWELL_FLEET_FILE_H

#include "base/error.h"
#include "fleet/binary.h"
#include "fleet/runs.h"
#include "trace/session_file.h"

/* A file is sent in pieces of this many bytes. Each is compressed, and a row of its own. */
enum { FLEET_FILE_PIECE = 8 << 20 };

/* How many pieces an open session has. */
uint32_t fleet_file_pieces(const struct session_file *file);

/* Adds the columns of a piece: its number, the number of pieces, its bytes. False if the file cannot be read. */
bool fleet_file_put(struct binary_rows *rows, const struct session_file *file, uint32_t number);

/* Writes the file that an answer has, whose rows are such columns in their order. False if it is incomplete, or not
 * what fleet_file_put writes. A piece of the answer costs no more room than FLEET_FILE_PIECE. */
bool fleet_file_unpack(FILE *answer, FILE *out);

/* Gets the sessions of runs and writes their sum as a session. An older session at `path` becomes `path`.old. */
bool fleet_pull(const struct fleet_store *store, const struct fleet_runs *runs, const char *path, struct error *error);

#endif
