"""Makes a program in C++ whose functions get and return classes: made(SEED, FOLDER) writes program.cc.

Before and after each call, the caller prints all members that could be shown, as lines "FUNCTION|PATH|VALUE". A class
with a single member is that member, so it has a line with the path of the class as well. Functions use their parameters
behind the probe, so that compilers keep them."""
import random

FUNCTIONS = 18
HEAD = '''#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>
#define PLAIN __attribute__((no_instrument_function))
#define OUTER __attribute__((noinline))
typedef uint64_t u64;
static volatile u64 sink;
enum Colour { RED, GREEN = 200, BLUE = -3 };
enum class Big : u64 { FIRST = 1, LAST = 0xfffffffffffffff0 };
static const char *const texts[] = { "", "GET", "two words", "a text that is longer than a short string has room for" };
PLAIN static inline unsigned next(u64 &s)
{
    s = s * 6364136223846793005ul + 1442695040888963407ul;
    return s >> 33;
}
PLAIN static inline void use(const void *p, u64 size)
{
    const volatile unsigned char *bytes = (const volatile unsigned char *)p;
    for (u64 i = 0; i < size; i++)
        sink = sink + bytes[i];
}
static const char *function;
PLAIN static void line(const std::string &path, const std::string &value) { printf("%s|%s|%s\\n", function, path.c_str(), value.c_str()); }
template <class T> PLAIN static void show(const std::string &path, const T &v)
{
    char text[64];
    if constexpr (std::is_same_v<T, bool>) line(path, v ? "true" : "false");
    else if constexpr (std::is_floating_point_v<T>) { snprintf(text, sizeof text, "%.17g", (double)v); line(path, text); }
    else if constexpr (std::is_same_v<T, Colour>) line(path, v == RED ? "RED" : v == GREEN ? "GREEN" : "BLUE");
    else if constexpr (std::is_same_v<T, Big>) line(path, v == Big::FIRST ? "FIRST" : "LAST");
    else if constexpr (std::is_integral_v<T>) line(path, std::to_string(v));
    else if constexpr (std::is_same_v<T, void *>) { snprintf(text, sizeof text, "%#lx", (u64)v); line(path, v ? text : "0x0"); }
    else line(path, std::string(v));
}
template <class T> PLAIN static void show(const std::string &path, const std::vector<T> &v) { line(path + ".size", std::to_string(v.size())); }
template <class K, class T> PLAIN static void show(const std::string &path, const std::map<K, T> &v) { line(path + ".size", std::to_string(v.size())); }
template <class K, class T> PLAIN static void show(const std::string &path, const std::unordered_map<K, T> &v) { line(path + ".size", std::to_string(v.size())); }
template <class T> PLAIN static void show(const std::string &path, const std::list<T> &v) { line(path + ".size", std::to_string(v.size())); }
template <class T> PLAIN static void show(const std::string &path, const std::optional<T> &v)
{
    show(path + ".has_value", v.has_value());
    if (v) show("*" + path, *v); else line("*" + path, "(unreadable)");
}
template <class A, class B> PLAIN static void show(const std::string &path, const std::pair<A, B> &v) { show(path + ".first", v.first); show(path + ".second", v.second); }
template <class R, class P> PLAIN static void show(const std::string &path, const std::chrono::duration<R, P> &v) { show(path, v.count()); show(path + ".__r", v.count()); }
template <class T> PLAIN static void show(const std::string &path, const std::shared_ptr<T> &v) { show(path, (void *)v.get()); show("*" + path, *v); }
template <class T> PLAIN static void show_address(const std::string &path, T &v) { show(path, (void *)&v); }
'''

# type, how a value is made of s
SCALARS = [('short', '(short)next(s)'), ('unsigned short', '(unsigned short)next(s)'), ('int', '(int)next(s) * 3'),
           ('unsigned', 'next(s) * 2'), ('long', '(long)next(s) * -1234567'), ('u64', 'next(s) * 0x900000001ul'),
           ('float', '(float)(int)(next(s) % 4096) / 8 - 100'), ('double', '(double)(int)(next(s) % 65536) / 64 - 300'),
           ('bool', 'next(s) & 1'), ('Colour', 'next(s) % 3 == 0 ? RED : next(s) & 1 ? GREEN : BLUE'),
           ('Big', 'next(s) & 1 ? Big::FIRST : Big::LAST'), ('void *', '(void *)(u64)next(s)'),
           ('const char *', 'texts[next(s) % 4]')]
LIBRARY = [('std::string', 'texts[next(s) % 4]'), ('std::string_view', 'std::string_view(texts[next(s) % 4]).substr(0, next(s) % 2 ? 3 : 99)'),
           ('std::vector<int>', 'std::vector<int>(next(s) % 50)'), ('std::vector<std::pair<std::string, short>>', 'std::vector<std::pair<std::string, short>>(next(s) % 9)'),
           ('std::map<int, int>', 'next(s) & 1 ? std::map<int, int>{ { 1, 2 }, { 2, 3 } } : std::map<int, int>()'),
           ('std::unordered_map<int, int>', 'next(s) & 1 ? std::unordered_map<int, int>{ { 1, 2 } } : std::unordered_map<int, int>()'),
           ('std::list<int>', 'std::list<int>(next(s) % 5)'), ('std::optional<int>', 'next(s) & 1 ? std::optional<int>((int)next(s)) : std::nullopt'),
           ('std::optional<double>', 'next(s) & 1 ? std::optional<double>((double)(next(s) % 99)) : std::nullopt'),
           ('std::pair<int, double>', 'std::make_pair((int)next(s), (double)(next(s) % 1000))'),
           ('std::pair<float, float>', 'std::make_pair((float)(next(s) % 1000), (float)(next(s) % 1000) / 2)'),
           ('std::chrono::milliseconds', 'std::chrono::milliseconds(next(s))'),
           ('std::shared_ptr<int>', 'std::make_shared<int>((int)next(s))')]


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.out = [HEAD]
        self.makers = dict(SCALARS + LIBRARY)
        self.classes = []
        self.values = {}  # of a class: how many members are single values, and how many are not

    def member(self, i):
        """(declaration, how it is set, how it is shown, its values)"""
        r = self.random
        name = 'm%d' % i
        kind = r.choice(['scalar'] * 6 + ['bits', 'text', 'class', 'class', 'library', 'array'])
        if kind == 'bits':
            type_, bits = r.choice([('unsigned', 5), ('int', 7), ('u64', 33), ('bool', 1)])
            cast = '(long)' if type_ == 'int' else ''
            return '%s %s : %d;' % (type_, name, bits), 'v.%s = %snext(s);' % (name, cast), 'show(path + "%s", (%s)v.%s);' % (name, type_, name), (1, 0)
        if kind == 'text':
            return 'char %s[6];' % name, 'memcpy(v.%s, "abcdefg" + next(s) %% 2, 6); if (next(s) & 1) v.%s[3] = 0;' % (name, name), \
                'show(path + "%s", std::string(v.%s, strnlen(v.%s, 6)));' % (name, name, name), (1, 0)
        if kind == 'array':
            return 'short %s[2];' % name, 'v.%s[0] = v.%s[1] = (short)next(s);' % (name, name), '', (0, 1)
        if kind == 'class' and self.classes:
            type_ = r.choice(self.classes)
            return '%s %s;' % (type_, name), 'make_%s(v.%s, s);' % (type_, name), 'show_%s(path + "%s", v.%s);' % (type_, name, name), self.values[type_]
        type_ = r.choice(LIBRARY if kind == 'library' else SCALARS)[0]
        return '%s %s;' % (type_, name), 'v.%s = %s;' % (name, self.makers[type_]), 'show(path + "%s", v.%s);' % (name, name), self.values_of(type_)

    @staticmethod
    def values_of(type_):
        """Containers have sizes, but are more than that. What an optional has is not shown within classes."""
        if type_.startswith('std::pair'):
            return 2, 0
        if type_.startswith('std::optional'):
            return 0, 1
        return (1, 1) if type_.startswith(('std::vector', 'std::map', 'std::unordered_map', 'std::list')) else (1, 0)

    def add_class(self, number):
        r = self.random
        name = 'C%d' % number
        count = r.choice([0, 1, 1, 2, 2, 2, 3, 4, 6])
        members = [self.member(i + 10 * number) for i in range(count)]
        base = r.choice(self.classes) if self.classes and r.random() < 0.2 else None
        how = r.choice(['plain'] * 5 + ['end', 'copy', 'default', 'virtual', 'moved', 'deleted'])
        functions = {
            'plain': '', 'end': 'PLAIN ~%s() { sink = sink + 1; }',
            'copy': 'PLAIN %s() {} PLAIN %s(const %s &o) { *this = o; } PLAIN %s &operator=(const %s &) = default;',
            'default': '%s() = default; ~%s() = default; %s(const %s &) = default; %s &operator=(const %s &) = default;',
            'virtual': 'virtual PLAIN void method() {}',
            'moved': '%s() = default; %s(%s &&) = default; %s &operator=(%s &&) = default; %s(const %s &) = default; %s &operator=(const %s &) = default;',
            'deleted': '%s() = default; PLAIN %s(const %s &o, int) { *this = o; } PLAIN %s(%s &&o) { *this = o; } %s(const %s &) = delete; %s &operator=(const %s &) = default;',
        }[how]
        if how == 'deleted' and number < 99:
            functions = functions.replace('%s(const %s &) = delete;', '%s(const %s &) = default;', 1)
        self.out.append('%s %s%s {' % (r.choice(['struct', 'class']), name, ' : public ' + base if base else ''))
        self.out.append('  public:')
        self.out += ['    ' + declaration for declaration, _, _, _ in members]
        self.out.append('    ' + functions.replace('%s', name))
        self.out.append('};')
        self.out.append('PLAIN static void make_%s(%s &v, u64 &s) { (void)v; (void)s; %s %s }' % (
            name, name, 'make_%s(v, s);' % base if base else '', ' '.join(made for _, made, _, _ in members)))
        sums = [sum(values[i] for _, _, _, values in members) + (self.values[base][i] if base else 0) for i in (0, 1)]
        sums[1] += how == 'virtual'
        self.values[name] = tuple(sums)
        alone = 'false' if sums != [1, 0] else 'alone && joint == "."'
        lines = [shown.replace('path + "m%d"' % (i + 10 * number), 'single ? outer : path + "m%d"' % (i + 10 * number))
                 for i, (_, _, shown, _) in enumerate(members)]
        self.out.append('PLAIN static void show_%s(const std::string &outer, const %s &v, const std::string &joint = ".", bool alone = true) '
                        '{ const std::string path = outer + joint; const bool single = %s; (void)v; (void)path; %s %s }' % (
                            name, name, alone, 'show_%s(outer, v, joint, single);' % base if base else '', ' '.join(lines)))
        self.classes.append(name)

    def address(self, type_, path, object_):
        """A reference to what has no values is an address, if there is anything."""
        values = self.values.get(type_, (1, 0))
        return 'show_address("%s", %s); ' % (path, object_) if not values[0] and values[1] else ''

    def parameter(self, i):
        """(declaration, argument's definition, how it is given, used and shown)"""
        r = self.random
        name = 'p%d' % i
        how = r.choice(['value', 'value', 'value', 'reference', 'pointer', 'scalar', 'library', 'library'])
        type_ = r.choice(self.classes) if how in ('value', 'reference', 'pointer') else r.choice(SCALARS if how == 'scalar' else LIBRARY)[0]
        is_class = type_ in self.classes
        made = '%s a%d{};' % (type_, i)
        made += ' make_%s(a%d, s);' % (type_, i) if is_class else ' a%d = %s;' % (i, self.makers[type_])
        shown = 'show_%s("%s", a%d);' % (type_, name, i) if is_class else 'show("%s", a%d);' % (name, i)
        if how == 'pointer':
            return 'const %s *%s' % (type_, name), made, '&a%d' % i, 'use(%s, sizeof *%s);' % (name, name), 'show("%s", (void *)&a%d); show_%s("%s", a%d, "->");' % (name, i, type_, name, i)
        if how == 'reference' or (how == 'library' and r.random() < 0.5):
            return 'const %s &%s' % (type_, name), made, 'a%d' % i, 'use(&%s, sizeof %s);' % (name, name), self.address(type_, name, 'a%d' % i) + shown
        return '%s %s' % (type_, name), made, 'a%d' % i, 'use(&%s, sizeof %s);' % (name, name), shown

    def add_function(self, number):
        r = self.random
        parameters = [self.parameter(i) for i in range(r.choice([1, 1, 2, 3, 4]))]
        how = r.choice(['value', 'value', 'value', 'reference', 'library', 'scalar', 'void'])
        type_ = {'value': self.classes, 'reference': self.classes}.get(how) or [name for name, _ in (LIBRARY if how == 'library' else SCALARS)]
        type_ = r.choice(type_)
        result = {'void': 'void', 'reference': 'const %s &' % type_}.get(how, type_)
        is_class = type_ in self.classes
        make = 'make_%s(r, s);' % type_ if is_class else 'r = %s;' % self.makers[type_]
        body = ' '.join(used for _, _, _, used, _ in parameters)
        if how == 'void':
            body = 'sink = sink + s; ' + body
        elif how == 'reference':
            body = 'static %s r; r.~%s(); new (&r) %s(); %s %s return r;' % (type_, type_, type_, make, body)
        else:
            body = '%s r{}; %s %s return r;' % (type_, make, body)
        self.out.append('OUTER %s f%d(u64 s%s) { %s }' % (result, number, ''.join(', ' + p[0] for p in parameters), body))
        shown = ' '.join(p[4] for p in parameters)
        call = 'f%d(seed%s)' % (number, ''.join(', ' + p[2] for p in parameters))
        if how == 'void':
            call += ';'
        else:
            after = 'show_%s("return", r);' % type_ if is_class else 'show("return", r);'
            if how == 'reference':
                after = self.address(type_, 'return', 'const_cast<%s &>(r)' % type_) + after
            call = '%s r = %s; %s' % ('const ' + result if how == 'reference' else 'auto', call, after)
            call = call.replace('const const', 'const')
        self.out.append('PLAIN static void call_f%d(u64 s) { const u64 seed = s * 77; (void)seed; function = "f%d"; show("s", seed); %s %s %s }' % (
            number, number, ' '.join(p[1] for p in parameters), shown, call))

    def text(self):
        for i in range(1, 10):
            self.add_class(i)
        for i in range(FUNCTIONS):
            self.add_function(i)
        self.out.append('PLAIN int main(int argc, char **argv) { const int rounds = argc > 1 ? atoi(argv[1]) : 1; for (int i = 0; i < rounds; i++) {')
        self.out += ['call_f%d(%d + i * 1000003ul);' % (i, i + 1) for i in range(FUNCTIONS)]
        self.out.append('} return 0; }')
        return '\n'.join(self.out) + '\n'


def made(seed, folder):
    with open('%s/program.cc' % folder, 'w', encoding='utf-8') as file:
        file.write(Program(seed).text())
