/* The folder of a CTF trace, and the streams in it: packets of bounded size, of which each stream holds one. */
#ifndef DWELL_EXPORT_CTF_STREAMS_H
#define DWELL_EXPORT_CTF_STREAMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "dwell/format.h"

/* Made beside its place, and put there when it is whole; nothing is replaced but an empty folder. */
struct ctf_folder {
    const char *path;
    char *unfinished; /* the folder until then */
    int fd;
    size_t stream_count;
    size_t held; /* packets in memory */
    struct error *error;
};

/* Begins a folder. The first failure from here on sets the error; nothing is written after that. */
bool ctf_folder_begin(struct ctf_folder *folder, const char *path, struct error *error);

/* Puts the folder in its place. Where that or any step since the beginning failed, leaves nothing behind and returns
 * false. */
bool ctf_folder_end(struct ctf_folder *folder);

/* The metadata's file; ctf_close_metadata closes it. NULL if it cannot be made. */
FILE *ctf_open_metadata(struct ctf_folder *folder);
void ctf_close_metadata(struct ctf_folder *folder, FILE *metadata);

/* A file of the folder: "stream-N". */
struct ctf_stream {
    struct ctf_folder *folder;
    uint8_t *head; /* of each packet: header and context */
    size_t head_length;
    size_t number;
    uint8_t *packet; /* NULL: none is held */
    size_t length, room;
    uint64_t begin, last; /* times in it; the latter never falls */
    uint64_t sequence;
};

struct ctf_process {
    uint32_t pid, tid;
    char *process, *thread; /* names, in UTF-8 */
};

/* `id` is that of the stream's class in the metadata. */
struct ctf_stream ctf_stream_begin(struct ctf_folder *folder, const uint8_t uuid[16], uint32_t id,
                                   const struct ctf_process *process);
void ctf_stream_end(struct ctf_stream *stream);

/* Writes the packet that is held, if many are. */
void ctf_stream_rest(struct ctf_stream *stream);

/* Begins an event at that time, or at that of the one before, if it is later; `most`: bytes that it may have. */
void ctf_event(struct ctf_stream *stream, uint8_t id, uint64_t time, size_t most);
void ctf_put_8(struct ctf_stream *stream, uint8_t value);
void ctf_put_32(struct ctf_stream *stream, uint32_t value);
void ctf_put_64(struct ctf_stream *stream, uint64_t value);
void ctf_put_bytes(struct ctf_stream *stream, const void *bytes, size_t length);
void ctf_put_text(struct ctf_stream *stream, const char *text); /* with the zero behind it */

#endif
