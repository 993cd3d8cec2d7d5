/* Encodes packets of Perfetto's trace format: their length and timestamp by hand, the rest with protobuf-c. */
#include "export/perfetto_packets.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* Tags of the fields that are packed by hand, and the format's numbers of clocks and flags. */
enum {
    TAG_PACKET = 1 << 3 | 2,
    TAG_TIMESTAMP = 8 << 3,
    CLOCK_IS_REALTIME = 1,
    CLOCK_IS_MONOTONIC = 3,
    CLOCK_IS_BOOTTIME = 6,
    STATE_CLEARED = 1,
    STATE_NEEDED = 2,
    LONGEST_NUMBER = 10,
};

static uint8_t *packet_put_number(uint8_t *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *to++ = (uint8_t)(number | 0x80);
    *to++ = (uint8_t)number;
    return to;
}

struct packet_piece packet_piece_of(const Perfetto__Packet *packet)
{
    struct packet_piece piece = { .length = perfetto__packet__get_packed_size(packet) };
    piece.at = need_memory(piece.length + 1, 1);
    perfetto__packet__pack(packet, piece.at);
    return piece;
}

static void packet_write_begin(FILE *out, size_t length)
{
    uint8_t begin[1 + LONGEST_NUMBER] = { TAG_PACKET };
    fwrite_unlocked(begin, 1, (size_t)(packet_put_number(begin + 1, length) - begin), out);
}

void packet_write(const struct packet_stream *stream, Perfetto__Packet *packet)
{
    const struct packet_piece piece = packet_piece_of(packet);
    packet_write_begin(stream->out, stream->common.length + piece.length);
    fwrite_unlocked(stream->common.at, 1, stream->common.length, stream->out);
    fwrite_unlocked(piece.at, 1, piece.length, stream->out);
    free(piece.at);
}

void packet_write_piece(const struct packet_stream *stream, uint64_t time, const struct packet_piece *piece)
{
    uint8_t timestamp[1 + LONGEST_NUMBER] = { TAG_TIMESTAMP };
    const size_t length = (size_t)(packet_put_number(timestamp + 1, time) - timestamp);
    packet_write_begin(stream->out, length + stream->common.length + piece->length);
    fwrite_unlocked(timestamp, 1, length, stream->out);
    fwrite_unlocked(stream->common.at, 1, stream->common.length, stream->out);
    fwrite_unlocked(piece->at, 1, piece->length, stream->out);
}

static void packet_set_clock(Perfetto__ClockSnapshot__Clock *clock, uint32_t id, uint64_t timestamp)
{
    perfetto__clock_snapshot__clock__init(clock);
    clock->has_id = clock->has_timestamp = true;
    clock->id = id;
    clock->timestamp = timestamp;
}

static void packet_write_first(FILE *out, Perfetto__Packet *packet)
{
    const struct packet_piece piece = packet_piece_of(packet);
    packet_write_begin(out, piece.length);
    fwrite_unlocked(piece.at, 1, piece.length, out);
    free(piece.at);
}

struct packet_stream packet_stream_begin(FILE *out, uint32_t sequence, uint64_t track,
                                         const struct dwell_file_header *header)
{
    struct packet_stream stream = { .out = out, .sequence = sequence };
    Perfetto__Packet packet = PERFETTO__PACKET__INIT;
    packet.has_sequence = packet.has_sequence_flags = true;
    packet.sequence = sequence;
    packet.sequence_flags = STATE_NEEDED;
    stream.common = packet_piece_of(&packet);

    Perfetto__PacketDefaults defaults = PERFETTO__PACKET_DEFAULTS__INIT;
    Perfetto__EventDefaults event = PERFETTO__EVENT_DEFAULTS__INIT;
    Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
    Perfetto__ClockSnapshot__Clock clocks[3], *list[3] = { &clocks[0], &clocks[1], &clocks[2] };
    packet.sequence_flags = STATE_CLEARED | STATE_NEEDED;
    packet.has_first_on_sequence = packet.first_on_sequence = true;
    packet.defaults = &defaults;
    defaults.has_clock_id = true;
    defaults.clock_id = CLOCK_IS_MONOTONIC;
    event.has_track = true;
    event.track = track;
    defaults.event = track ? &event : NULL;
    if (header) {
        packet_set_clock(&clocks[0], CLOCK_IS_MONOTONIC, header->start_monotonic);
        packet_set_clock(&clocks[1], CLOCK_IS_REALTIME, header->start_realtime);
        /* Some readers need CLOCK_BOOTTIME. This is its value if the machine was never suspended. */
        packet_set_clock(&clocks[2], CLOCK_IS_BOOTTIME, header->start_monotonic);
        snapshot.n_clocks = 3;
        snapshot.clocks = list;
        snapshot.has_primary = true;
        snapshot.primary = CLOCK_IS_MONOTONIC;
        packet.clock_snapshot = &snapshot;
    }
    packet_write_first(out, &packet);
    return stream;
}

void packet_stream_end(struct packet_stream *stream)
{
    free(stream->common.at);
}

void packet_intern(Perfetto__Interned__Text *entry, uint64_t id, char *text)
{
    perfetto__interned__text__init(entry);
    entry->has_id = true;
    entry->id = id;
    entry->text = text;
}

void packet_annotate_number(Perfetto__Annotation *annotation, char *name, uint64_t number)
{
    perfetto__annotation__init(annotation);
    annotation->name = name;
    annotation->has_number = true;
    annotation->number = number;
}

void packet_annotate_text(Perfetto__Annotation *annotation, char *name, char *text)
{
    perfetto__annotation__init(annotation);
    annotation->name = name;
    annotation->text = text;
}
