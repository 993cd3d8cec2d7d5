/* Makes the folder of a CTF trace, and writes events as binary packets, one file for each stream. */
#include "export/ctf_streams.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/interrupted.h"
#include "base/memory.h"
#include "trace/read_error.h"
#include "trace/session_file.h"

enum {
    MAGIC = (int)0xc1fc1fc1,
    PACKET_SIZE = 1 << 16, /* bytes, unless a single event needs more */
    FIRST_ROOM = 1 << 12,
    MAX_HELD = 64, /* maximum number of packets in memory */
    EVENT_HEAD = 1 + 8,
};

/* Offsets of the fields of a packet's head that are filled in when the packet is complete. */
enum {
    AT_BEGIN = 4 + 16 + 4,
    AT_END = AT_BEGIN + 8,
    AT_CONTENT = AT_END + 8,
    AT_SIZE = AT_CONTENT + 8,
    AT_SEQUENCE = AT_SIZE + 8
};

/* ---- the folder ---- */

static void ctf_stream_file_name(char name[32], size_t number)
{
    snprintf(name, 32, "stream-%zu", number);
}

static bool ctf_folder_fail(struct ctf_folder *folder, int error)
{
    return error_set(folder->error, "%s: %s", folder->path, strerror(error));
}

static void ctf_folder_remove(const struct ctf_folder *folder)
{
    char name[32];
    for (size_t i = 0; i < folder->stream_count; i++) {
        ctf_stream_file_name(name, i);
        unlinkat(folder->fd, name, 0);
    }
    unlinkat(folder->fd, "metadata", 0);
    rmdir(folder->unfinished);
}

static bool ctf_folder_is_empty(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    size_t entries = 0;
    while (folder && (entry = readdir(folder)))
        entries += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (folder)
        closedir(folder);
    return folder && entries == 0;
}

static bool ctf_folder_make(struct ctf_folder *folder)
{
    const char *path = folder->path;
    struct stat status;
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        length--;
    if (lstat(path, &status) == 0 && !(S_ISDIR(status.st_mode) && ctf_folder_is_empty(path)))
        return error_set(folder->error, "%s: exists; ctf needs a new folder, choose another name", path);
    folder->unfinished = need_text("%.*s.XXXXXX", (int)length, path);
    if (!mkdtemp(folder->unfinished))
        return ctf_folder_fail(folder, errno);
    const mode_t mask = umask(0);
    umask(mask);
    chmod(folder->unfinished, 0777 & ~mask);
    folder->fd = open(folder->unfinished, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd >= 0)
        return true;
    ctf_folder_fail(folder, errno);
    rmdir(folder->unfinished);
    return false;
}

bool ctf_folder_begin(struct ctf_folder *folder, const char *path, struct error *error)
{
    *folder = (struct ctf_folder){ .path = path, .fd = -1, .error = error };
    if (ctf_folder_make(folder))
        return true;
    free(folder->unfinished);
    return false;
}

bool ctf_folder_end(struct ctf_folder *folder)
{
    const int unread = read_error_take_any();
    if (unread)
        ctf_folder_fail(folder, unread);
    if (!folder->error->text && rename(folder->unfinished, folder->path) < 0)
        ctf_folder_fail(folder, errno);
    const bool good = !folder->error->text;
    if (!good)
        ctf_folder_remove(folder);
    close(folder->fd);
    free(folder->unfinished);
    return good;
}

FILE *ctf_open_metadata(struct ctf_folder *folder)
{
    const int fd = openat(folder->fd, "metadata", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    FILE *metadata = fd < 0 ? NULL : fdopen(fd, "w");
    if (!metadata)
        ctf_folder_fail(folder, errno);
    return metadata;
}

void ctf_close_metadata(struct ctf_folder *folder, FILE *metadata)
{
    errno = 0;
    const int failed = ferror(metadata);
    if (fclose(metadata) != 0 || failed)
        ctf_folder_fail(folder, errno ? errno : EIO);
}

/* ---- packets ---- */

static void ctf_put_at(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

static bool ctf_stream_write(const struct ctf_stream *s, int fd)
{
    struct interruptions interruptions = { 0 };
    for (size_t done = 0; done < s->length;) {
        const ssize_t wrote = write(fd, s->packet + done, s->length - done);
        if (wrote < 0 && !interrupted(&interruptions))
            return false;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

/* Opens the file for each packet, as there may be more threads than a process may have open files. */
static void ctf_stream_append(struct ctf_stream *s)
{
    char name[32];
    ctf_stream_file_name(name, s->number);
    const int fd = openat(s->folder->fd, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || !ctf_stream_write(s, fd))
        ctf_folder_fail(s->folder, errno);
    if (fd >= 0 && close(fd) < 0)
        ctf_folder_fail(s->folder, errno);
}

static void ctf_stream_write_packet(struct ctf_stream *s)
{
    ctf_put_at(s->packet + AT_BEGIN, s->begin, 8);
    ctf_put_at(s->packet + AT_END, s->last, 8);
    ctf_put_at(s->packet + AT_CONTENT, (uint64_t)s->length * 8, 8);
    ctf_put_at(s->packet + AT_SIZE, (uint64_t)s->length * 8, 8);
    ctf_put_at(s->packet + AT_SEQUENCE, s->sequence++, 8);
    if (!s->folder->error->text)
        ctf_stream_append(s);
    s->length = s->head_length;
}

static void ctf_stream_begin_packet(struct ctf_stream *s)
{
    if (!s->packet) {
        s->room = s->head_length + FIRST_ROOM;
        s->packet = need_memory(s->room, 1);
        memcpy(s->packet, s->head, s->head_length);
        s->length = s->head_length;
        s->folder->held++;
    }
}

static void ctf_stream_drop_packet(struct ctf_stream *s)
{
    if (!s->packet)
        return;
    if (s->length > s->head_length)
        ctf_stream_write_packet(s);
    free(s->packet);
    s->packet = NULL;
    s->folder->held--;
}

void ctf_stream_limit_held(struct ctf_stream *s)
{
    if (s->folder->held > MAX_HELD)
        ctf_stream_drop_packet(s);
}

void ctf_event(struct ctf_stream *s, uint8_t id, uint64_t time, size_t most)
{
    ctf_stream_begin_packet(s);
    if (s->length > s->head_length && s->length + EVENT_HEAD + most > PACKET_SIZE)
        ctf_stream_write_packet(s);
    if (s->length + EVENT_HEAD + most > s->room) {
        s->room = 2 * (s->length + EVENT_HEAD + most);
        s->packet = need_more(s->packet, s->room, 1);
    }
    if (time > s->last)
        s->last = time;
    if (s->length == s->head_length)
        s->begin = s->last;
    ctf_put_8(s, id);
    ctf_put_64(s, s->last);
}

void ctf_put_8(struct ctf_stream *s, uint8_t value)
{
    s->packet[s->length++] = value;
}

void ctf_put_32(struct ctf_stream *s, uint32_t value)
{
    ctf_put_at(s->packet + s->length, value, 4);
    s->length += 4;
}

void ctf_put_64(struct ctf_stream *s, uint64_t value)
{
    ctf_put_at(s->packet + s->length, value, 8);
    s->length += 8;
}

void ctf_put_bytes(struct ctf_stream *s, const void *bytes, size_t length)
{
    memcpy(s->packet + s->length, bytes, length);
    s->length += length;
}

void ctf_put_text(struct ctf_stream *s, const char *text)
{
    ctf_put_bytes(s, text, strlen(text) + 1);
}

/* ---- start and end ---- */

struct ctf_stream ctf_stream_begin(struct ctf_folder *folder, const uint8_t uuid[16], uint32_t id,
                                   const struct ctf_process *process)
{
    const size_t names = process ? strlen(process->process) + strlen(process->thread) + 2 : 0;
    struct ctf_stream s = {
        .folder = folder,
        .number = folder->stream_count++,
        .head_length = AT_SEQUENCE + 8 + (process ? 8 + names : 0),
    };
    s.head = need_memory(s.head_length, 1);
    ctf_put_at(s.head, (uint32_t)MAGIC, 4);
    memcpy(s.head + 4, uuid, 16);
    ctf_put_at(s.head + 20, id, 4);
    if (process) {
        uint8_t *at = s.head + AT_SEQUENCE + 8;
        ctf_put_at(at, process->pid, 4);
        ctf_put_at(at + 4, process->tid, 4);
        memcpy(at + 8, process->process, strlen(process->process) + 1);
        memcpy(at + 8 + strlen(process->process) + 1, process->thread, strlen(process->thread) + 1);
    }
    return s;
}

void ctf_stream_end(struct ctf_stream *s)
{
    ctf_stream_drop_packet(s);
    free(s->head);
}
