/*
 * Calls a function with values of its kind, from four threads and from the handler of a timer. Prints how often each
 * value was given: "value|calls", in order. kinds FUNCTION [ROUNDS]; without arguments: a list of the functions, and
 * what of them is recorded.
 */
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <pthread.h>
#include <string>
#include <string_view>
#include <sys/time.h>
#include <type_traits>
#include <vector>

#define NOT_INLINED __attribute__((noinline))
#define PLAIN __attribute__((no_instrument_function))

enum Colour { RED, GREEN = 200, BLUE = -3 };
enum class Big : uint64_t { FIRST = 1, LAST = 0xfffffffffffffff0 };

struct Node {
    Node *next;
    int32_t size;
    int low : 5;
    unsigned high : 11;
    bool set : 1;
    char name[16];
};

static volatile uint64_t sink;

/* Needs all bytes of a value, also after the probe. */
template <class T> PLAIN static inline void use(const T &value)
{
    if constexpr (std::is_enum_v<T> || std::is_integral_v<T>) {
        sink = sink + static_cast<uint64_t>(value);
    } else {
        const volatile unsigned char *bytes = reinterpret_cast<const volatile unsigned char *>(&value);
        for (size_t i = 0; i < sizeof value; i++)
            sink = sink + bytes[i];
    }
}

/* Parameters: name, type, values and their texts. */
#define KINDS(KIND)                                                                                                    \
    KIND(i8, signed char, { -128, "\\x80" }, { -1, "\\xff" }, { 0, "\\x00" }, { 'b', "b" })                            \
    KIND(u8, unsigned char, { 0, "\\x00" }, { 'a', "a" }, { 128, "\\x80" }, { 255, "\\xff" })                          \
    KIND(i16, int16_t, { -32768, "-32768" }, { -1, "-1" }, { 0, "0" }, { 32767, "32767" })                             \
    KIND(u16, uint16_t, { 0, "0" }, { 1, "1" }, { 32768, "32768" }, { 65535, "65535" })                                \
    KIND(i32, int32_t, { INT32_MIN, "-2147483648" }, { -1, "-1" }, { 0, "0" }, { INT32_MAX, "2147483647" })            \
    KIND(u32, uint32_t, { 0, "0" }, { 1, "1" }, { 0x80000000, "2147483648" }, { UINT32_MAX, "4294967295" })            \
    KIND(i64, int64_t, { INT64_MIN, "-9223372036854775808" }, { -1, "-1" }, { 0, "0" },                                \
         { INT64_MAX, "9223372036854775807" })                                                                         \
    KIND(u64, uint64_t, { 0, "0" }, { 1, "1" }, { UINT64_C(1) << 63, "9223372036854775808" },                          \
         { UINT64_MAX, "18446744073709551615" })                                                                       \
    KIND(letter, char, { 'a', "a" }, { 'Z', "Z" }, { '7', "7" }, { '~', "~" })                                         \
    KIND(flag, bool, { false, "false" }, { true, "true" }, { true, "true" }, { false, "false" })                       \
    KIND(colour, Colour, { RED, "RED" }, { GREEN, "GREEN" }, { BLUE, "BLUE" }, { static_cast<Colour>(7), "7" })        \
    KIND(big, Big, { Big::FIRST, "FIRST" }, { Big::LAST, "LAST" }, { static_cast<Big>(5), "5" },                       \
         { static_cast<Big>(UINT64_MAX), "18446744073709551615" })                                                     \
    KIND(single, float, { -0.5f, "-0.5" }, { 0, "0" }, { 1.25f, "1.25" }, { 16777216, "16777216" })                    \
    KIND(real, double, { -0.125, "-0.125" }, { 0, "0" }, { 3.5, "3.5" }, { 1e300, "1.0000000000000001e+300" })         \
    KIND(wide, long double, { -0.125L, "-0.125" }, { 0, "0" }, { 1 / 3.0L, "0.33333333333333331" },                    \
         { 0x1p1000L, "1.0715086071862673e+301" })                                                                     \
    KIND(place, void *, { nullptr, "0x0" }, { reinterpret_cast<void *>(1), "0x1" },                                    \
         { reinterpret_cast<void *>(0x7fffffffffff), "0x7fffffffffff" },                                               \
         { reinterpret_cast<void *>(UINT64_MAX), "0xffffffffffffffff" })                                               \
    KIND(text, const char *, { "", "" }, { "GET", "GET" }, { "two words", "two words" },                               \
         { "0123456789012345678901234567890123456789012345678901234567890123",                                         \
           "0123456789012345678901234567890123456789012345678901234567890123" })                                       \
    KIND(string, const std::string &, { "", "" }, { "short", "short" },                                                \
         { "a name that is longer than the object", "a name that is longer than the object" }, { "x", "x" })           \
    KIND(view, std::string_view, { "", "" }, { "ab", "ab" }, { { "abcdef", 3 }, "abc" }, { "a b c", "a b c" })

/* Parts of what `v` points to, of a Node: name, WHAT, type, values and their texts. */
#define PARTS(PART)                                                                                                    \
    PART(path, "v->next->size", next->size, int32_t, { -7, "-7" }, { 0, "0" }, { 1, "1" },                             \
         { INT32_MAX, "2147483647" })                                                                                  \
    PART(low, "v->low", low, int, { -16, "-16" }, { -1, "-1" }, { 0, "0" }, { 15, "15" })                              \
    PART(high, "v->high", high, unsigned, { 0, "0" }, { 1, "1" }, { 1024, "1024" }, { 2047, "2047" })                  \
    PART(set, "v->set", set, bool, { false, "false" }, { true, "true" }, { true, "true" }, { false, "false" })         \
    PART(element, "v->name[2]", name[2], char, { 'a', "a" }, { 'b', "b" }, { '~', "~" }, { '0', "0" })

struct Base {
    int32_t key;
};

struct Inner {
    uint16_t count;
    int16_t low;
};

template <class T> struct Box {
    T content;
    T *self;
};

/* Members of members, of base classes and of templates, and classes of the library. */
struct Object : Base {
    Inner inner;
    Box<int64_t> box;
    std::string name;
    std::vector<int16_t> list;
    std::map<int, int> tree;
    std::optional<int32_t> maybe;
    std::unique_ptr<int32_t> owned;
    std::shared_ptr<double> shared;
    std::pair<uint32_t, double> two;
};

/* In registers, and too large for that. */
struct Small {
    int32_t first;
    float second;
    uint64_t third;
};

struct Large {
    int64_t first[5];
    int32_t last;
};

/* Parts of a class: name, WHAT, how it is passed, the class, what the value is set by, its type, values and their
 * texts.
 */
#define CLASSES(CLASS)                                                                                                 \
    CLASS(base, "v.key", const Object &, Object, object.key = value, int32_t, { INT32_MIN, "-2147483648" },            \
          { -1, "-1" }, { 0, "0" }, { 7, "7" })                                                                        \
    CLASS(inner, "v.inner.low", const Object &, Object, object.inner.low = value, int16_t, { -32768, "-32768" },       \
          { -1, "-1" }, { 0, "0" }, { 9, "9" })                                                                        \
    CLASS(content, "v.box.content", const Object &, Object, object.box.content = value, int64_t,                       \
          { INT64_MIN, "-9223372036854775808" }, { -1, "-1" }, { 0, "0" }, { 1, "1" })                                 \
    CLASS(named, "v.name", const Object &, Object, object.name = value, const char *, { "", "" }, { "GET", "GET" },    \
          { "a name that is longer than the object", "a name that is longer than the object" }, { "x", "x" })          \
    CLASS(vector, "v.list.size", const Object &, Object, object.list.resize(value), uint32_t, { 0, "0" }, { 1, "1" },  \
          { 3, "3" }, { 100, "100" })                                                                                  \
    CLASS(tree, "v.tree.size", const Object &, Object, for (uint32_t i = 0; i < value; i++) object.tree[i] = 1,        \
          uint32_t, { 0, "0" }, { 1, "1" }, { 2, "2" }, { 9, "9" })                                                    \
    CLASS(maybe, "*v.maybe", const Object &, Object, object.maybe = value, int32_t, { -7, "-7" }, { 0, "0" },          \
          { 1, "1" }, { 2, "2" })                                                                                      \
    CLASS(engaged, "v.maybe.has_value", const Object &, Object, if (value) object.maybe = 5, bool, { false, "false" }, \
          { true, "true" }, { true, "true" }, { false, "false" })                                                      \
    CLASS(owned, "*v.owned", const Object &, Object, object.owned = std::make_unique<int32_t>(value), int32_t,         \
          { -5, "-5" }, { 0, "0" }, { 1, "1" }, { 2, "2" })                                                            \
    CLASS(shared, "*v.shared", const Object &, Object, object.shared = std::make_shared<double>(value), double,        \
          { -0.5, "-0.5" }, { 0, "0" }, { 1.25, "1.25" }, { 3, "3" })                                                  \
    CLASS(pair, "v.two.second", const Object &, Object, object.two.second = value, double, { -0.5, "-0.5" },           \
          { 0, "0" }, { 1.25, "1.25" }, { 3, "3" })                                                                    \
    CLASS(small, "v.second", Small, Small, object.second = value, float, { -0.5f, "-0.5" }, { 0, "0" },                \
          { 1.25f, "1.25" }, { 3, "3" })                                                                               \
    CLASS(third, "v.third", Small, Small, object.third = value, uint64_t, { 0, "0" }, { 1, "1" }, { 2, "2" },          \
          { UINT64_MAX, "18446744073709551615" })                                                                      \
    CLASS(large, "v.last", Large, Large, object.last = value, int32_t, { -1, "-1" }, { 0, "0" }, { 1, "1" },           \
          { INT32_MAX, "2147483647" })

enum { VALUES = 4 };

template <class T> struct Value {
    T value;
    const char *text;
};

template <class T> using Stored = std::remove_cv_t<std::remove_reference_t<T>>;

#define DEFINE_KIND(name, type, ...)                                                                                   \
    static Value<Stored<type>> values_##name[VALUES] = { __VA_ARGS__ };                                                \
    NOT_INLINED void take_##name(type v);                                                                              \
    void take_##name(type v)                                                                                           \
    {                                                                                                                  \
        use(v);                                                                                                        \
    }                                                                                                                  \
    PLAIN static void call_take_##name(unsigned which)                                                                 \
    {                                                                                                                  \
        take_##name(values_##name[which].value);                                                                       \
    }                                                                                                                  \
    NOT_INLINED Stored<type> give_##name(unsigned which);                                                              \
    Stored<type> give_##name(unsigned which)                                                                           \
    {                                                                                                                  \
        const Stored<type> result = values_##name[which].value;                                                        \
        sink = sink + which;                                                                                           \
        return result;                                                                                                 \
    }                                                                                                                  \
    PLAIN static void call_give_##name(unsigned which)                                                                 \
    {                                                                                                                  \
        use(give_##name(which));                                                                                       \
    }                                                                                                                  \
    NOT_INLINED void look_##name(const Stored<type> *v);                                                               \
    void look_##name(const Stored<type> *v)                                                                            \
    {                                                                                                                  \
        use(*v);                                                                                                       \
    }                                                                                                                  \
    PLAIN static void call_look_##name(unsigned which)                                                                 \
    {                                                                                                                  \
        look_##name(&values_##name[which].value);                                                                      \
    }

#define DEFINE_PART(name, what, member, type, ...)                                                                     \
    static const Value<type> values_##name[VALUES] = { __VA_ARGS__ };                                                  \
    NOT_INLINED void part_##name(const Node *v);                                                                       \
    void part_##name(const Node *v)                                                                                    \
    {                                                                                                                  \
        use(v);                                                                                                        \
        use(v->size);                                                                                                  \
    }                                                                                                                  \
    PLAIN static void call_part_##name(unsigned which)                                                                 \
    {                                                                                                                  \
        Node last = {}, node = {};                                                                                     \
        node.next = &last;                                                                                             \
        node.member = values_##name[which].value;                                                                      \
        part_##name(&node);                                                                                            \
    }

/* The objects are there before a handler needs one, as it must not allocate. */
template <class T, class V, class Set> PLAIN static T *make_objects(const Value<V> *values, Set set)
{
    T *objects = new T[VALUES]();
    for (unsigned i = 0; i < VALUES; i++)
        set(objects[i], values[i].value);
    return objects;
}

/* Needs all of an object. */
template <class T> PLAIN static inline void use_object(const T &object)
{
    const volatile unsigned char *bytes = reinterpret_cast<const volatile unsigned char *>(&object);
    for (size_t i = 0; i < sizeof object; i++)
        sink = sink + bytes[i];
}

#define DEFINE_CLASS(name, what, passed, whole, set, type, ...)                                                        \
    static const Value<type> values_##name[VALUES] = { __VA_ARGS__ };                                                  \
    static whole *objects_##name = make_objects<whole>(values_##name, [](whole &object, type value) PLAIN { set; });   \
    NOT_INLINED void class_##name(passed v);                                                                           \
    void class_##name(passed v)                                                                                        \
    {                                                                                                                  \
        use_object(v);                                                                                                 \
    }                                                                                                                  \
    PLAIN static void call_class_##name(unsigned which)                                                                \
    {                                                                                                                  \
        class_##name(objects_##name[which]);                                                                           \
    }

KINDS(DEFINE_KIND)
PARTS(DEFINE_PART)
CLASSES(DEFINE_CLASS)

struct Function {
    const char *name, *what;
    void (*call)(unsigned which);
    const char *texts[VALUES];
};

#define TEXTS(name)                                                                                                    \
    {                                                                                                                  \
        values_##name[0].text, values_##name[1].text, values_##name[2].text, values_##name[3].text                     \
    }
#define LIST_KIND(name, ...)                                                                                           \
    { "take_" #name, "v", call_take_##name, TEXTS(name) }, { "give_" #name, "return", call_give_##name, TEXTS(name) }, \
        { "look_" #name, "*v", call_look_##name, TEXTS(name) },
#define LIST_PART(name, what, ...) { "part_" #name, what, call_part_##name, TEXTS(name) },
#define LIST_CLASS(name, what, ...) { "class_" #name, what, call_class_##name, TEXTS(name) },

static const Function functions[] = { KINDS(LIST_KIND) PARTS(LIST_PART) CLASSES(LIST_CLASS) };

static const Function *chosen;
static long rounds;
static std::atomic<long> calls[VALUES];

PLAIN static void call_chosen(unsigned &state)
{
    state = state * 1103515245 + 12345;
    const unsigned which = state >> 16 & (VALUES - 1);
    calls[which]++;
    chosen->call(which);
}

PLAIN static void *call_often(void *number)
{
    unsigned state = static_cast<unsigned>(reinterpret_cast<uintptr_t>(number));
    for (long i = 0; i < rounds; i++)
        call_chosen(state);
    return nullptr;
}

PLAIN static void on_alarm(int)
{
    static thread_local unsigned state;
    call_chosen(state);
}

PLAIN static void print_calls()
{
    std::vector<std::pair<std::string, long>> printed;
    for (unsigned i = 0; i < VALUES; i++) {
        const auto same = std::find_if(printed.begin(), printed.end(),
                                       [i](const auto &pair) { return pair.first == chosen->texts[i]; });
        if (same == printed.end())
            printed.emplace_back(chosen->texts[i], calls[i]);
        else
            same->second += calls[i];
    }
    for (const auto &pair : printed)
        printf("%s|%ld\n", pair.first.c_str(), pair.second);
}

PLAIN int main(int argc, char **argv)
{
    struct sigaction action = {};
    const itimerval timer = { { 0, 1000 }, { 0, 1000 } }, none = {};
    pthread_t threads[4];
    for (const Function &f : functions) {
        if (argc < 2)
            printf("%s %s\n", f.name, f.what);
        else if (strcmp(f.name, argv[1]) == 0)
            chosen = &f;
    }
    if (!chosen)
        return argc > 1;
    rounds = argc > 2 ? strtol(argv[2], nullptr, 10) : 1;
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    setitimer(ITIMER_REAL, &timer, nullptr);
    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], nullptr, call_often, reinterpret_cast<void *>(i));
    for (const pthread_t thread : threads)
        pthread_join(thread, nullptr);
    setitimer(ITIMER_REAL, &none, nullptr);
    print_calls();
    return 0;
}
