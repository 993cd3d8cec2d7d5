/* Packets of Perfetto's trace format, written one by one. */
#ifndef DWELL_EXPORT_PERFETTO_PACKETS_H
#define DWELL_EXPORT_PERFETTO_PACKETS_H

#include <stdbool.h>
#include <stdio.h>

#include "dwell/format.h"
#include "perfetto.pb-c.h"

/* What an event is. */
enum { PACKET_BEGIN = 1, PACKET_END, PACKET_INSTANT, PACKET_COUNTER };

/* A part of a packet, packed. */
struct packet_piece {
    uint8_t *at;
    size_t length;
};

struct packet_piece packet_piece_of(const Perfetto__Packet *packet);

/* A sequence of packets. */
struct packet_stream {
    FILE *out;
    uint32_t sequence;
    struct packet_piece common; /* of all packets */
};

/* Writes the first packet: times are CLOCK_MONOTONIC's, events are of that track unless they say another (zero: each
 * does). With a header, also what the clocks said when the session began. */
struct packet_stream packet_stream_begin(FILE *out, uint32_t sequence, uint64_t track,
                                         const struct dwell_file_header *header);
void packet_stream_end(struct packet_stream *stream);

/* The stream's own fields are set. */
void packet_write(const struct packet_stream *stream, Perfetto__Packet *packet);

/* A packet of a time, and what the piece holds. */
void packet_write_piece(const struct packet_stream *stream, uint64_t time, const struct packet_piece *piece);

/* These refer to the texts that they are given. */
void packet_intern(Perfetto__Interned__Text *entry, uint64_t id, char *text);
void packet_annotate_number(Perfetto__Annotation *annotation, char *name, uint64_t number);
void packet_annotate_text(Perfetto__Annotation *annotation, char *name, char *text);

#endif
