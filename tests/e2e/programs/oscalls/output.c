/* Writes to streams in every way. The numbers of calls that need the OS follow from buffers of 4,096 bytes. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define APART __attribute__((noinline))
#define QUIET __attribute__((noinline, no_instrument_function))

int __fprintf_chk(FILE *stream, int flag, const char *format, ...);

static char buffer[4096];

QUIET static FILE *begin(FILE *stream, int mode)
{
    if (!stream || (mode != _IONBF && setvbuf(stream, buffer, mode, sizeof buffer)) ||
        (mode == _IONBF && setvbuf(stream, NULL, mode, 0)))
        abort();
    return stream;
}

/* 100 blocks of 100 bytes: the buffer is full twice. */
APART void blocks(FILE *stream)
{
    static const char block[100];
    for (int i = 0; i < 100; i++)
        fwrite(block, 1, sizeof block, stream);
}

/* 1,000 texts of 50 bytes: 12 times. */
APART void texts(FILE *stream)
{
    char text[51] = { 0 };
    memset(text, 'a', 50);
    for (int i = 0; i < 1000; i++)
        fputs(text, stream);
}

/* 10,000 bytes: twice. */
APART void bytes(FILE *stream)
{
    for (int i = 0; i < 10000; i++)
        putc('x', stream);
}

/* It fits exactly, so only the next byte needs the OS. */
APART void full(FILE *stream)
{
    static const char block[4095];
    fputc('x', stream);
    fwrite(block, 1, sizeof block, stream);
    fwrite(block, 1, 0, stream);
    fputs("", stream);
    fputc('x', stream);
}

APART void line_by_line(FILE *stream)
{
    fputs("a line\n", stream);
    fputs("half of ", stream);
    fwrite("a line\nand another half", 1, 23, stream);
    fprintf(stream, "%d\n", 1); /* ends a line */
    fprintf(stream, "%d", 1);   /* a row whose text stays in the buffer */
    putc('\n', stream);
}

APART void unbuffered(FILE *stream)
{
    fputs("text", stream);
    fputc('x', stream);
    fprintf(stream, "%d", 1);
    __fprintf_chk(stream, 1, "%s", "checked");
}

/* Nothing of this reaches the OS. */
APART void in_memory(void)
{
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    for (int i = 0; i < 10000; i++) {
        fwrite("0123456789", 1, 10, stream);
        fprintf(stream, "%d\n", i);
        fputc('x', stream);
    }
    fflush(stream);
    if (size < 100000)
        abort();
}

APART void to_stdout(void)
{
    for (int i = 0; i < 1000; i++)
        puts("twenty-nine bytes and the end");
}

APART void large(FILE *stream, const char *block, size_t size)
{
    fwrite(block, 1, size, stream);
}

enum { PAGE = 4096, REST = 100 };

QUIET static FILE *begin_at_new_pages(FILE *stream)
{
    char *pages = mmap(NULL, (size_t)2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!stream || pages == MAP_FAILED || setvbuf(stream, pages, _IOFBF, PAGE + REST))
        abort();
    return stream;
}

/* The text stays in the buffer, and its first byte on the second page needs the OS. */
APART void faults(FILE *stream)
{
    static const char block[PAGE - 5];
    fwrite(block, 1, sizeof block, stream);
    fprintf(stream, "%s", "twelve bytes");
}

static const size_t SIZE = 50000000;

int main(void)
{
    char *block = malloc(SIZE);
    memset(block, 1, SIZE);
    blocks(begin(fopen("file", "w"), _IOFBF));
    texts(begin(fopen("file", "w"), _IOFBF));
    bytes(begin(fopen("file", "w"), _IOFBF));
    full(begin(fopen("file", "w"), _IOFBF));
    line_by_line(begin(fopen("file", "w"), _IOLBF));
    unbuffered(begin(fopen("file", "w"), _IONBF));
    in_memory();
    faults(begin_at_new_pages(fopen("file", "w")));
    begin(stdout, _IOFBF);
    to_stdout();
    large(begin(fopen("file", "w"), _IOFBF), block, SIZE);
    _Exit(0);
}
