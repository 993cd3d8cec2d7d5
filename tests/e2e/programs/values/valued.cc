/* Calls methods whose values are recorded, and prints the values in the caller: valued rounds */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

struct Item {
    long size;
};

class Store
{
  public:
    explicit Store(long count) : count(count)
    {
    }
    __attribute__((noinline)) long put(const std::string &name, std::string_view part,
                                       const std::unique_ptr<Item> &item, double factor);

    long count;
};

static volatile unsigned long sink;

long Store::put(const std::string &name, std::string_view part, const std::unique_ptr<Item> &item, double factor)
{
    sink = sink + name.size() + static_cast<unsigned long>(item->size);
    for (const char c : part)
        sink = sink + static_cast<unsigned long>(c);
    count += static_cast<long>(factor);
    return count;
}

int main(int argc, char **argv)
{
    const long rounds = argc > 1 ? strtol(argv[1], nullptr, 10) : 0;
    const std::string names[] = { "", "short", "a name that is longer than the room in the object itself" };
    for (long i = 0; i < rounds; i++) {
        Store store(i % 13);
        const auto item = std::make_unique<Item>(Item{ i % 5 * 1000 });
        const std::string &name = names[i % 3];
        store.put(name, std::string_view("abcdefgh").substr(0, static_cast<size_t>(i % 8)), item,
                  static_cast<double>(i % 4) / 4);
        printf("%ld|%s|%.*s|%ld|%g\n", i % 13, name.c_str(), static_cast<int>(i % 8), "abcdefgh", item->size,
               static_cast<double>(i % 4) / 4);
    }
    return 0;
}
