/* The folder of a CTF trace and its streams. A stream is written in packets of bounded size and holds one in memory. */
#ifndef DWELL_EXPORT_CTF_STREAMS_H
#define DWELL_EXPORT_CTF_STREAMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "dwell/format.h"

/* The folder is made under a temporary name and renamed when it is complete. It can replace an empty folder only. */
struct ctf_folder {
    const char *path;
    char *unfinished; /* the temporary name */
    int fd;
    size_t stream_count;
    size_t held; /* packets in memory */
    struct error *error;
};

/* Begins a folder. The first failure from here on sets the error; nothing is written after that. */
bool ctf_folder_begin(struct ctf_folder *folder, const char *path, struct error *error);

/* Renames the folder to its path. If that or an earlier step fails, removes the folder and returns false. */
bool ctf_folder_end(struct ctf_folder *folder);

/* Opens the metadata's file, which ctf_close_metadata closes. Returns NULL if it cannot be made. */
FILE *ctf_open_metadata(struct ctf_folder *folder);
void ctf_close_metadata(struct ctf_folder *folder, FILE *metadata);

/* A stream: the file "stream-N" of the folder. */
struct ctf_stream {
    struct ctf_folder *folder;
    uint8_t *head; /* header and context of each packet */
    size_t head_length;
    size_t number;
    uint8_t *packet; /* NULL if no packet is held */
    size_t length, room;
    uint64_t begin, last; /* times of the packet's events; `last` never decreases */
    uint64_t sequence;
};

struct ctf_process {
    uint32_t pid, tid;
    char *process, *thread; /* names in UTF-8 */
};

/* Begins a stream. `id` is the number of its class in the metadata. */
struct ctf_stream ctf_stream_begin(struct ctf_folder *folder, const uint8_t uuid[16], uint32_t id,
                                   const struct ctf_process *process);
void ctf_stream_end(struct ctf_stream *stream);

/* Writes the held packet if too many packets are in memory. */
void ctf_stream_limit_held(struct ctf_stream *stream);

/* Begins an event of up to `most` bytes. Its time is at least that of the event before. */
void ctf_event(struct ctf_stream *stream, uint8_t id, uint64_t time, size_t most);
void ctf_put_8(struct ctf_stream *stream, uint8_t value);
void ctf_put_32(struct ctf_stream *stream, uint32_t value);
void ctf_put_64(struct ctf_stream *stream, uint64_t value);
void ctf_put_bytes(struct ctf_stream *stream, const void *bytes, size_t length);
void ctf_put_text(struct ctf_stream *stream, const char *text); /* including the final zero */

#endif
