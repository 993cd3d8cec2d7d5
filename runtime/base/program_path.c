/* Finds the file of the recorded program by /proc, or by what the kernel or the loader says of it. */
#include "program_path.h"

#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>

#include "interposed.h"
#include "modules.h"
#include "sys.h"

/* A line of /proc/self/maps while it is read: begin-end, four fields of no interest, path. */
struct map_line {
    uint64_t begin, end;
    unsigned field;
    size_t length; /* of the path */
};

enum { FIELD_BEGIN, FIELD_END, FIELD_PATH = 6 };

static uint64_t program_add_digit(uint64_t number, char digit)
{
    return number << 4 | (uint64_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static void program_take_letter(struct map_line *line, char letter, char *path, size_t size)
{
    if (line->field == FIELD_PATH) {
        if ((letter != ' ' || line->length) && line->length < size)
            path[line->length++] = letter;
    } else if (letter == (line->field == FIELD_BEGIN ? '-' : ' ')) {
        line->field++;
    } else if (line->field == FIELD_BEGIN) {
        line->begin = program_add_digit(line->begin, letter);
    } else if (line->field == FIELD_END) {
        line->end = program_add_digit(line->end, letter);
    }
}

/* The path of the file that is mapped at the address. */
static size_t program_mapped_at(uint64_t address, char *path, size_t size)
{
    char text[512];
    struct map_line line = { 0 };
    long got;
    const int fd = sys_open("/proc/self/maps", O_RDONLY, 0);
    if (fd < 0)
        return 0;
    bool found = false;
    while (!found && (got = SYS3(read, fd, text, sizeof text)) > 0) {
        for (long i = 0; i < got && !found; i++) {
            found = text[i] == '\n' && address >= line.begin && address < line.end;
            if (text[i] != '\n')
                program_take_letter(&line, text[i], path, size);
            else if (!found)
                line = (struct map_line){ 0 };
        }
    }
    sys_close(fd);
    return found ? line.length : 0;
}

struct text program_path_below(struct text name)
{
    const char *at = name.at;
    size_t length = name.length;
    while (length > 2 && at[0] == '.' && at[1] == '/') {
        at += 2;
        length -= 2;
    }
    return (struct text){ at, length };
}

static size_t program_executed(char *path, size_t size)
{
    const char *name = (const char *)getauxval(AT_EXECFN);
    const size_t length = name ? strlen(name) : 0;
    if (length == 0 || length > size)
        return 0;
    const long folder = name[0] == '/' ? 0 : SYS2(getcwd, path, size - length);
    if (folder < 0)
        return 0;
    if (folder > 0)
        path[folder - 1] = '/';
    const struct text below =
        folder ? program_path_below((struct text){ name, length }) : (struct text){ name, length };
    memcpy(path + folder, below.at, below.length);
    return (size_t)folder + below.length;
}

/* A program that has an interpreter, but whose kernel says that it has none, was started by that one. */
static bool program_is_loaded(void)
{
    return &dwell_interposed && getauxval(AT_BASE) == 0;
}

size_t program_path(char *path, size_t size)
{
    size_t length = 0;
    if (program_is_loaded()) {
        length = program_mapped_at(getauxval(AT_PHDR), path, size);
    } else {
        const long link = SYS4(readlinkat, AT_FDCWD, "/proc/self/exe", path, size);
        length = link > 0 ? (size_t)link : 0;
    }
    return length ? length : program_executed(path, size);
}
