// Calls with texts of known lengths: strings good prints each text that can be read, at most 64 bytes of it, up to a
// zero. strings bad makes calls with texts that cannot be read, but for two.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <sys/mman.h>

#define NOT_INLINED __attribute__((noinline, noclone, noipa))

static volatile std::uint64_t sink;

NOT_INLINED static void take_string(const std::string &text, int after)
{
    sink += reinterpret_cast<std::uint64_t>(&text) + static_cast<unsigned>(after);
}

NOT_INLINED static void take_view(std::string_view text, int after)
{
    sink += text.size() + static_cast<unsigned>(after) + reinterpret_cast<std::uint64_t>(text.data());
}

NOT_INLINED static void take_both(const std::string &one, const std::string &other)
{
    sink += one.size() + other.size();
}

// The caller pushes the address of the text, as the registers are taken.
void take_pushed(long a, long b, long c, long d, long e, long f, std::string text, long after);

NOT_INLINED void take_pushed(long a, long b, long c, long d, long e, long f, std::string text, long after)
{
    sink += static_cast<std::uint64_t>(a + b + c + d + e + f + after) + text.size();
}

static void print(std::string_view text)
{
    std::printf("%s%s\n", std::string(text.substr(0, 64)).c_str(), text.size() > 64 ? "..." : "");
}

static void take(std::string_view text, int after)
{
    const std::string copy(text);
    take_string(copy, after);
    take_view(text, after);
    take_both(copy, copy);
    take_pushed(after, 2, 3, 4, 5, 6, copy, after);
    print(text);
}

// Texts up to the end of a page, behind which nothing is; and one over the border of two pages.
static void good()
{
    static const std::size_t lengths[] = { 0, 1, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 200, 4095 };
    const std::size_t page = 4096;
    char *pages =
        static_cast<char *>(mmap(nullptr, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(pages + 2 * page, page, PROT_NONE);
    for (std::size_t i = 0; i < 2 * page; i++)
        pages[i] = static_cast<char>('a' + i % 26);
    for (int round = 0; round < 3; round++)
        for (const std::size_t length : lengths) {
            take(std::string_view(pages + 2 * page - length, length), round);
            take(std::string_view(pages + page - length / 2, length), round);
        }
    take(std::string_view("a\0b\0", 4), 1);
    take(std::string_view("\0", 1), 2);
}

// What lies where a std::string should.
struct object {
    const char *text;
    std::size_t length;
    char rest[16];
};

static void bad_string(const char *text, std::size_t length)
{
    const object o = { text, length, "" };
    take_string(*reinterpret_cast<const std::string *>(&o), 5);
    take_view(std::string_view(text, length), 5);
}

static void bad()
{
    char *nothing =
        static_cast<char *>(mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    std::memset(nothing, 'x', 8192);
    bad_string(nothing, 4096);
    munmap(nothing + 4096, 4096);
    bad_string(nullptr, 3);
    bad_string(reinterpret_cast<const char *>(0x1234567890123), 3);
    bad_string(nothing + 4090, 16);
    bad_string(nothing + 4090, SIZE_MAX);
    bad_string(nothing + 4096, 1);
    bad_string(nullptr, 0);
    munmap(nothing, 4096);
    bad_string(nothing, 16);
    take_string(*reinterpret_cast<const std::string *>(nothing), 5);
}

int main(int argc, char **argv)
{
    if (argc > 1 && std::strcmp(argv[1], "good") == 0)
        good();
    else if (argc > 1 && std::strcmp(argv[1], "bad") == 0)
        bad();
    return 0;
}
