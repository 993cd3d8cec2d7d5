/* Functions that get and return classes. With -DOTHER, another unit of the program, which has inlined copies. */
#include <chrono>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#define OUTER __attribute__((noinline))

extern volatile int sink;
enum class Level { LOW, HIGH = 7 };

/* A text of its own. */
class Slice
{
  public:
    __attribute__((noinline)) Slice(const char *data, size_t size) : data_(data), size_(size)
    {
    }
    const char *data_;
    size_t size_;
};

class Part
{
  public:
    explicit Part(int n) : n(n)
    {
        sink = n;
    }
    int n;
};

#ifdef OTHER

int other(int n)
{
    const Part part(n);
    sink = part.n;
    return n;
}

#else

volatile int sink;
int other(int n);

struct Empty {
};

struct Status {
    ~Status()
    {
    }
    int code;
};

struct Point {
    int x;
    double y;
};

struct Base {
    long id;
    virtual void method()
    {
    }
};

struct Request : public Base {
    Point from, to;
    Level level;
    char name[8];
    unsigned low : 3;
    std::vector<Point> points;
    Status status;
    union {
        int one;
        float other;
    };
    int numbers[3];
    long more, evenmore;
};

struct Opaque {
    union {
        int one;
        float other;
    } either;
};

struct Many {
    int a, b, c, d, e, f, g, h, i, j;
};

struct Shared {
    int n;
};
struct Left : public virtual Shared {
    ~Left()
    {
        sink = n;
    }
};

OUTER int f_request(const Request &request)
{
    sink = 1;
    return request.low;
}

OUTER int f_pointer(const Request *request)
{
    sink = 2;
    return request->low;
}

OUTER long f_library(const std::vector<Point> &points, const std::map<int, int> &map, const std::list<int> &list,
                     const std::optional<int> &maybe, std::chrono::milliseconds time,
                     const std::unique_ptr<Point> &point, const std::vector<int>::iterator &at)
{
    sink = 3;
    return static_cast<long>(points.size() + map.size() + list.size()) + maybe.value_or(0) + time.count() + point->x +
           *at;
}

OUTER int f_nothing(Empty, std::nullptr_t, const Empty &empty, const std::mutex &mutex, const Opaque &opaque,
                    Opaque value)
{
    sink = &empty == nullptr;
    sink = reinterpret_cast<long>(&mutex) == reinterpret_cast<long>(&opaque);
    return value.either.one;
}

OUTER int f_many(const Many &one, const Many &two, const Many &three, const Many &four)
{
    sink = 4;
    return one.j + two.j + three.j + four.j;
}

OUTER char f_text(const char (&text)[12], Slice slice)
{
    sink = 5;
    return text[1] + slice.data_[0];
}

OUTER Slice f_slice(const char *text)
{
    sink = 6;
    return Slice(text, 2);
}

OUTER Status f_status(int code)
{
    Status status{ code };
    sink = 7;
    return status;
}

OUTER Point f_point(int x)
{
    sink = 8;
    return { x, 1.5 };
}

OUTER Point &f_reference(Point &point)
{
    sink = 9;
    return point;
}

OUTER std::string f_string(int n)
{
    sink = 10;
    return std::string(static_cast<size_t>(n), 'x');
}

int main()
{
    Request request{};
    Many many{};
    Point point{};
    Left left;
    std::vector<int> numbers(1);
    std::mutex mutex;
    f_request(request);
    f_pointer(&request);
    f_library({}, {}, {}, 1, std::chrono::milliseconds(5), std::make_unique<Point>(), numbers.begin());
    f_nothing({}, nullptr, {}, mutex, Opaque{}, Opaque{});
    f_many(many, many, many, many);
    f_text("hello world", Slice("abc", 1));
    f_slice("abc");
    f_status(1);
    f_point(1);
    f_reference(point);
    f_string(3);
    const Part part(1);
    return other(part.n) - 1;
}

#endif
