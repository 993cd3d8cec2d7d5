/*
 * Interposed calls that write to streams. See oscalls.c.
 *
 * A call that only copies into a stream's buffer does not call the OS and is no row. It is a row if the text does not
 * fit into the buffer, if the stream has none, or if a line-buffered stream gets the end of a line. Then libc writes to
 * the file, by a call of its own that cannot be interposed. The state of the stream shows this before the call. Another
 * thread may use the stream meanwhile: then a row can be missing or too many, and nothing else happens.
 */
#include "oscalls.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- the state of a stream ---- */

#if defined(__GLIBC__)

/* Flags of glibc's streams, which are part of its binary interface. */
enum { STREAM_UNBUFFERED = 0x2, STREAM_LINE_BUFFERED = 0x200, STREAM_WRITES = 0x800 };

/* A stream gets its buffer when it is first used: of the size of the file's blocks, or of this size. */
enum { USUAL_BUFFER = 4096 };

static size_t stream_room(const FILE *stream)
{
    const size_t size = (size_t)(stream->_IO_buf_end - stream->_IO_buf_base);
    if (!stream->_IO_buf_base ||
        !(stream->_flags & STREAM_WRITES)) /* the first block is written if it fills a buffer */
        return (size ? size : USUAL_BUFFER) - 1;
    const char *end = stream->_flags & STREAM_LINE_BUFFERED ? stream->_IO_buf_end : stream->_IO_write_end;
    return end > stream->_IO_write_ptr ? (size_t)(end - stream->_IO_write_ptr) : 0;
}

/* Streams in memory have no descriptor. */
static bool stream_has_file(const FILE *stream)
{
    return stream && stream->_fileno >= 0;
}

static bool stream_is(const FILE *stream, int flag)
{
    return stream->_flags & flag;
}

static const char *stream_position(const FILE *stream)
{
    return stream->_IO_write_ptr;
}

#else

enum { STREAM_UNBUFFERED, STREAM_LINE_BUFFERED };
#define stream_room(stream) ((void)(stream), (size_t)0)
#define stream_has_file(stream) ((void)(stream), false)
#define stream_is(stream, flag) ((void)(stream), false)
#define stream_position(stream) ((void)(stream), (const char *)NULL)

#endif

static bool stream_writes_byte(const FILE *stream, int byte)
{
    if (!stream_has_file(stream))
        return false;
    return stream_is(stream, STREAM_UNBUFFERED) || stream_room(stream) == 0 ||
           (byte == '\n' && stream_is(stream, STREAM_LINE_BUFFERED));
}

static bool stream_writes_block(const FILE *stream, const char *block, size_t size)
{
    if (!size || !stream_has_file(stream))
        return false;
    if (stream_is(stream, STREAM_UNBUFFERED) || size > stream_room(stream))
        return true;
    for (size_t i = size; stream_is(stream, STREAM_LINE_BUFFERED) && i-- > 0;)
        if (block[i] == '\n')
            return true;
    return false;
}

/* Looks no further into the text than the stream has room. `more` bytes follow it, the last one the end of a line. */
static bool stream_writes_text(const FILE *stream, const char *text, size_t more)
{
    if (!stream_has_file(stream))
        return false;
    const size_t room = stream_room(stream), length = strnlen(text, room + 1);
    return length + more > room || stream_writes_block(stream, text, length) ||
           (more && stream_writes_byte(stream, '\n'));
}

/* libc's stdout, only to look at its state. A program may define or assign another; then rows of it are missing. */
INTERPOSED(stdout);
static FILE *stream_stdout(void)
{
    FILE *const *found = next_stdout ? next_stdout : interpose_next(&next_stdout, "stdout");
    return found ? *found : NULL;
}

/* ---- blocks, texts and bytes ---- */

#define OS_OUTPUT(to, condition, row, result, name, parameters, arguments)                                             \
    OS_CALL_ON_DESCRIPTOR(condition, stream_fd(to), descriptor_written(stream_fd(to)), NOTHING, NOTHING, true, row,    \
                          result, name, parameters, arguments)

OS_OUTPUT(stream, stream_writes_block(stream, block, size *count), fwrite, size_t, fwrite,
          (const void *block, size_t size, size_t count, FILE *stream), (block, size, count, stream))
OS_OUTPUT(stream, stream_writes_block(stream, block, size *count), fwrite, size_t, fwrite_unlocked,
          (const void *block, size_t size, size_t count, FILE *stream), (block, size, count, stream))
OS_OUTPUT(stream, stream_writes_text(stream, text, 0), fputs, int, fputs, (const char *text, FILE *stream),
          (text, stream))
OS_OUTPUT(stream, stream_writes_text(stream, text, 0), fputs, int, fputs_unlocked, (const char *text, FILE *stream),
          (text, stream))
OS_OUTPUT(stream_stdout(), stream_writes_text(stream_stdout(), text, 1), puts, int, puts, (const char *text), (text))
OS_OUTPUT(stream, stream_writes_byte(stream, byte), fputc, int, fputc, (int byte, FILE *stream), (byte, stream))
OS_OUTPUT(stream, stream_writes_byte(stream, byte), fputc, int, putc, (int byte, FILE *stream), (byte, stream))
OS_OUTPUT(stream_stdout(), stream_writes_byte(stream_stdout(), byte), fputc, int, putchar, (int byte), (byte))

/* ---- formatted text: its length is known only after the call ---- */

/* If less room is left, the text may not fit. */
enum { USUAL_LINE = 256 };

static bool stream_may_write(const FILE *stream)
{
    return stream_has_file(stream) && (stream_is(stream, STREAM_UNBUFFERED) ||
                                       stream_is(stream, STREAM_LINE_BUFFERED) || stream_room(stream) < USUAL_LINE);
}

/* Ends the row of a call that wrote `length` bytes from `position` on. If they are all in the buffer, the call did not
 * need the OS, and its interval is not flagged. */
static void stream_end_row(enum os_call call, const FILE *stream, struct object *object, const char *position,
                           int length)
{
    if (length >= 0 && !stream_is(stream, STREAM_UNBUFFERED) && position &&
        stream_position(stream) == position + length)
        os_call_end_of_lock(call, NULL);
    else
        os_call_end_descriptor(call, stream_fd(stream), object, length >= 0);
}

/*
 * A function of libc that takes a list of arguments, and the one that takes them itself. libc's own printf calls the
 * former as well. stream_NAME makes the call a row if the text may not stay in the buffer of the stream `to`.
 */
#define OS_PRINT_LIST(name, to, parameters, arguments, with_address)                                                   \
    int name parameters;                                                                                               \
    INTERPOSED(name);                                                                                                  \
    static OS_CALL_CODE int stream_##name with_address                                                                 \
    {                                                                                                                  \
        int(*real) parameters = (int(*) parameters)os_call_next(&next_##name, #name);                                  \
        const FILE *const to_ = (to);                                                                                  \
        if (!stream_may_write(to_) || !os_call_begin(OS_fprintf, return_address))                                      \
            return real arguments;                                                                                     \
        const char *position_ = stream_position(to_);                                                                  \
        struct object object_ = descriptor_written(stream_fd(to_));                                                    \
        const int length_ = real arguments;                                                                            \
        stream_end_row(OS_fprintf, to_, &object_, position_, length_);                                                 \
        return length_;                                                                                                \
    }

#define OS_PRINT(name, parameters, call)                                                                               \
    int name parameters;                                                                                               \
    DWELL_EXPORT int name parameters                                                                                   \
    {                                                                                                                  \
        va_list list;                                                                                                  \
        va_start(list, format);                                                                                        \
        const int length = call;                                                                                       \
        va_end(list);                                                                                                  \
        return length;                                                                                                 \
    }

#define OS_PRINT_OF_LIST(name, parameters, call)                                                                       \
    DWELL_EXPORT int name parameters                                                                                   \
    {                                                                                                                  \
        return call;                                                                                                   \
    }

#define FROM_HERE __builtin_return_address(0)

OS_PRINT_LIST(vprintf, stream_stdout(), (const char *format, va_list list), (format, list),
              (const char *format, va_list list, void *return_address))
OS_PRINT_LIST(vfprintf, stream, (FILE * stream, const char *format, va_list list), (stream, format, list),
              (FILE * stream, const char *format, va_list list, void *return_address))
OS_PRINT_LIST(__vprintf_chk, stream_stdout(), (int flag, const char *format, va_list list), (flag, format, list),
              (int flag, const char *format, va_list list, void *return_address))
OS_PRINT_LIST(__vfprintf_chk, stream, (FILE * stream, int flag, const char *format, va_list list),
              (stream, flag, format, list),
              (FILE * stream, int flag, const char *format, va_list list, void *return_address))

OS_PRINT(printf, (const char *format, ...), stream_vprintf(format, list, FROM_HERE))
OS_PRINT(fprintf, (FILE * stream, const char *format, ...), stream_vfprintf(stream, format, list, FROM_HERE))
OS_PRINT(__printf_chk, (int flag, const char *format, ...), stream___vprintf_chk(flag, format, list, FROM_HERE))
OS_PRINT(__fprintf_chk, (FILE * stream, int flag, const char *format, ...),
         stream___vfprintf_chk(stream, flag, format, list, FROM_HERE))
OS_PRINT_OF_LIST(vprintf, (const char *format, va_list list), stream_vprintf(format, list, FROM_HERE))
OS_PRINT_OF_LIST(vfprintf, (FILE * stream, const char *format, va_list list),
                 stream_vfprintf(stream, format, list, FROM_HERE))
OS_PRINT_OF_LIST(__vprintf_chk, (int flag, const char *format, va_list list),
                 stream___vprintf_chk(flag, format, list, FROM_HERE))
OS_PRINT_OF_LIST(__vfprintf_chk, (FILE * stream, int flag, const char *format, va_list list),
                 stream___vfprintf_chk(stream, flag, format, list, FROM_HERE))
