/* Writes packets of Perfetto's trace format. */
#ifndef DWELL_EXPORT_PERFETTO_PACKETS_H
#define DWELL_EXPORT_PERFETTO_PACKETS_H

#include <stdbool.h>
#include <stdio.h>

#include "dwell/format.h"
#include "perfetto.pb-c.h"

/* Types of events. */
enum { PACKET_BEGIN = 1, PACKET_END, PACKET_INSTANT, PACKET_COUNTER };

/* A packed part of a packet. */
struct packet_piece {
    uint8_t *at;
    size_t length;
};

struct packet_piece packet_piece_of(const Perfetto__Packet *packet);

/* A sequence of packets. */
struct packet_stream {
    FILE *out;
    uint32_t sequence;
    struct packet_piece common; /* the part that all packets have */
};

/* Writes the first packet of a sequence: times are those of CLOCK_MONOTONIC, and `track` is the default track of events
 * (0 for none). With a header it also writes the clocks' values at the session's start. */
struct packet_stream packet_stream_begin(FILE *out, uint32_t sequence, uint64_t track,
                                         const struct dwell_file_header *header);
void packet_stream_end(struct packet_stream *stream);

/* Writes a packet. Sets the fields that the stream defines. */
void packet_write(const struct packet_stream *stream, Perfetto__Packet *packet);

/* Writes a packet that consists of a time and the piece. */
void packet_write_piece(const struct packet_stream *stream, uint64_t time, const struct packet_piece *piece);

/* Fill in a message. The message refers to the given texts, so they must stay valid. */
void packet_intern(Perfetto__Interned__Text *entry, uint64_t id, char *text);
void packet_annotate_number(Perfetto__Annotation *annotation, char *name, uint64_t number);
void packet_annotate_text(Perfetto__Annotation *annotation, char *name, char *text);

#endif
