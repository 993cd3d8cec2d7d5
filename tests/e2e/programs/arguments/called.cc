/* The same as called.c for arguments of C++. */
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#define OUTER __attribute__((noinline))
#define QUIET __attribute__((no_instrument_function))

static volatile int sink;

enum class Kind : unsigned char { Get, Put = 200 };

struct Base {
    long serial;
};

struct Request : Base {
    Kind kind;
    std::string name;
    unsigned long length;
};

class Server
{
  public:
    int count = 3;
    OUTER int f_handle(const Request &request, std::string_view view, Request *const &pointer)
    {
        sink = count;
        return count + (int)request.length + (int)view.size() + (int)pointer->serial;
    }
    OUTER int f_own(std::unique_ptr<Request> own, std::shared_ptr<Request> shared) const
    {
        sink = count;
        return (int)(own->length + shared->length);
    }
    virtual ~Server() = default;
    OUTER virtual std::string f_title(int n) const
    {
        return std::string((size_t)n, 'x');
    }
};

template <class T> OUTER T f_largest(const std::vector<T> &list, T least)
{
    for (const T &each : list)
        if (least < each)
            least = each;
    sink = (int)list.size();
    return least;
}

OUTER std::unique_ptr<Request> f_make(bool good, std::string text)
{
    sink = 1;
    auto made = std::make_unique<Request>();
    made->name = text;
    made->length = good;
    return made;
}

OUTER Request &f_pass(Request &&request)
{
    sink = 2;
    return request;
}

OUTER int f_throws(int n)
{
    std::string text(30, 'x');
    if (n % 2)
        throw n;
    return n + (int)text.size();
}

QUIET static void show(int n)
{
    Server server;
    Request request;
    request.serial = 10 + n, request.kind = n % 2 ? Kind::Put : Kind::Get;
    request.name = std::string((size_t)n * 3, 'a'), request.length = 7ul * (unsigned long)n;
    const std::string_view view = std::string_view("viewed text").substr(0, (size_t)n % 11);
    std::printf("f_handle this %p\nf_handle this->count 3\nf_handle request.serial %ld\n", (void *)&server,
                request.serial);
    std::printf("f_handle request.kind %d\nf_handle request.name %.64s\nf_handle request.length %lu\n",
                (int)request.kind, request.name.c_str(), request.length);
    std::printf("f_handle view %.*s\nf_handle pointer->length %lu\n", (int)view.size(), view.data(), request.length);
    Request *const pointer = &request;
    std::printf("f_handle return %d\n", server.f_handle(request, view, pointer));
    auto own = std::make_unique<Request>(request);
    auto shared = std::make_shared<Request>(request);
    std::printf("f_own own %p\nf_own shared %p\nf_own own->serial %ld\n", (void *)own.get(), (void *)shared.get(),
                own->serial);
    std::printf("f_own shared->name %.64s\n", shared->name.c_str());
    std::printf("f_own return %d\n", server.f_own(std::move(own), std::move(shared)));
    std::printf("f_title n %d\n", n);
    const std::string title = server.f_title(n);
    std::printf("f_title return %.64s\n", title.c_str());
    std::printf("f_largest least %.17g\n", n / 2.0);
    const double largest = f_largest<double>({ 1.5, 2.5 }, n / 2.0);
    std::printf("f_largest return %.17g\n", largest);
    std::printf("f_make good %d\nf_make text %s\n", n % 2, std::string(view).c_str());
    const auto made = f_make(n % 2, std::string(view));
    std::printf("f_make return %p\nf_make return->length %lu\n", (void *)made.get(), made->length);
    std::printf("f_pass request.length %lu\n", request.length);
    Request &passed = f_pass(std::move(request));
    std::printf("f_pass return.length %lu\n", passed.length);
    std::printf("f_throws n %d\n", n);
    try {
        const int result = f_throws(n);
        std::printf("f_throws return %d\n", result);
    } catch (int) {
    }
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
    for (int i = 0; i < rounds; i++)
        show(i);
}
