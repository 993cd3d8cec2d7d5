"""Makes a library and a program that calls its functions: made(SEED, FOLDER) writes library.h, library.c and program.c.

Functions take and return values of each class of arguments. Both files are C and C++. Functions of the library begin
with f_, and count their calls."""
import random

HEAD = '''#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#define HELPER static inline __attribute__((unused, no_instrument_function))
typedef unsigned long u64;
#if __LDBL_MANT_DIG__ == 64
#define LONG_DOUBLE 10
#else
#define LONG_DOUBLE 16
#endif
HELPER u64 fold(u64 h, const void *p, u64 n)
{
    for (u64 i = 0; i < n; i++)
        h = (h ^ ((const unsigned char *)p)[i]) * 0x100000001b3ul;
    return h ^ h >> 29;
}
HELPER unsigned next(u64 *s)
{
    *s = *s * 6364136223846793005ul + 1442695040888963407ul;
    return *s >> 33;
}
static const char text[] = "How many words are in a text of some fifty characters?";
typedef const char *pointer;
#ifdef __clang__
typedef long variadic128; /* calls and va_arg of clang 14 disagree on where an __int128 is */
#else
typedef __int128 variadic128;
#endif
#ifdef __cplusplus
typedef bool truth;
struct thrown { u64 value; };
struct object {
    u64 a, b, c;
    __attribute__((no_instrument_function)) object(u64 n) : a(n), b(n * 3), c(~n) {}
    __attribute__((no_instrument_function)) object(const object &o) : a(o.a), b(o.b), c(o.c) {}
    __attribute__((no_instrument_function)) ~object() { a = b = c = 0; }
};
HELPER object make_object(u64 *s) { return object(next(s)); }
HELPER u64 fold_object(u64 h, const object *v) { return fold(h, v, sizeof *v); }
extern "C" {
#else
typedef _Bool truth;
#endif
HELPER pointer make_pointer(u64 *s) { return text + next(s) % 50; }
HELPER u64 fold_pointer(u64 h, const pointer *v) { return fold(h, *v, 1); }
'''

# name, type, size, alignment
NUMBERS = [('i8', 'signed char', 1), ('u8', 'unsigned char', 1), ('i16', 'short', 2), ('u16', 'unsigned short', 2),
           ('i32', 'int', 4), ('u32', 'unsigned', 4), ('i64', 'long', 8), ('f32', 'float', 4), ('f64', 'double', 8),
           ('f80', 'long double', 16), ('i128', '__int128', 16)]
COMPLEX = [('c32', '_Complex float', 8, 4), ('c64', '_Complex double', 16, 8), ('c80', '_Complex long double', 32, 16)]
VECTORS = [('v8', 'short', 8), ('v16', 'int', 16), ('w16', 'float', 16), ('v32', 'double', 32)]
STACK = 900  # bytes of arguments; without their declaration, 1024 are copied


LIBRARY = """#include "library.h"
static u64 counts[99];
u64 *library_counts(void) { return counts; }
HELPER void count_one(int i) { __atomic_fetch_add(&counts[i], 1, __ATOMIC_RELAXED); }
"""
PROGRAM = """#include "library.h"
#ifndef JUMPS
#define JUMPS
#endif
struct context { u64 h; int until; jmp_buf to; };
static __thread struct context contexts[99];
"""


class Types:
    """The types of a program, with functions that make and fold their values."""

    def __init__(self, rand, cxx):
        self.random = rand
        self.lines = []
        self.size = {'pointer': (8, 8), 'truth': (1, 1)}
        self.number('truth', 'truth', 1)
        for name, type_, size in NUMBERS:
            self.lines.append('typedef %s %s;' % (type_, name))
            self.number(name, type_, size)
        for name, type_, size, align in COMPLEX:
            self.size[name] = (size, align)
            part = 'LONG_DOUBLE' if name == 'c80' else str(size // 2)
            self.lines.append('typedef %s %s;' % (type_, name))
            self.helpers(name, '__real__ v = (int)(next(s) % 99); __imag__ v = (int)(next(s) % 99);',
                         'h = fold(h, v, %s); h = fold(h, (const char *)v + sizeof *v / 2, %s);' % (part, part))
        for name, type_, size in VECTORS:
            self.size[name] = (size, size)
            self.lines.append('typedef %s %s __attribute__((vector_size(%d)));' % (type_, name, size))
            self.helpers(name, 'for (u64 i = 0; i < sizeof v / sizeof v[0]; i++) v[i] = (short)next(s);',
                         'h = fold(h, v, sizeof *v);')
        self.scalars = list(self.size)
        self.number('variadic128', 'variadic128', 16)
        self.structs = ['s%d' % i for i in range(12)]
        for name in self.structs:
            self.struct(name)
        self.objects = ['object'] if cxx else []
        if cxx:
            self.size['object'] = (8, 8)

    def helpers(self, name, make, fold):
        self.lines.append('HELPER %s make_%s(u64 *s) { %s v; %s return v; }' % (name, name, name, make))
        self.lines.append('HELPER u64 fold_%s(u64 h, const %s *v) { %s return h; }' % (name, name, fold))

    def number(self, name, type_, size):
        self.size[name] = (size, size)
        self.helpers(name, 'v = (%s)(int)next(s);' % type_ if type_ != 'truth' else 'v = next(s) & 1;',
                     'h = fold(h, v, %s);' % ('LONG_DOUBLE' if name == 'f80' else 'sizeof *v'))

    def struct(self, name):
        """Of 1 to 200 bytes: of one class, of several, of characters, or aligned."""
        r = self.random
        limit = r.choice([r.randint(1, 16), r.randint(9, 40), r.randint(1, 200)])
        align = r.choice([0, 0, 0, 0, 16, 32])
        kinds = r.choice([['f32'], ['f64'], ['i32', 'f32'], ['i64', 'f64'], ['f80'], ['u8'], ['c32', 'i16'],
                          self.scalars])
        members, end, most = [], 0, 1
        for i in range(r.randint(1, 9)):
            kind = r.choice(kinds)
            size, own = self.size[kind]
            count = r.choice([1, 1, 1, r.randint(2, 5)])
            start = -(-end // own) * own
            if start + size * count > limit:
                continue
            members.append((kind, 'm%d' % i, count))
            end, most = start + size * count, max(most, own)
        if not members:
            members.append(('u8', 'm', limit))
            end = limit
        most = max(most, align)
        self.size[name] = (-(-end // most) * most, most)
        self.lines.append('typedef struct { %s } %s%s;' % (
            ' '.join('%s %s[%d];' % member for member in members),
            '__attribute__((aligned(%d))) ' % align if align else '', name))
        self.helpers(name, ' '.join('for (int i = 0; i < %d; i++) v.%s[i] = make_%s(s);' % (n, m, k)
                                    for k, m, n in members),
                     ' '.join('for (int i = 0; i < %d; i++) h = fold_%s(h, &v->%s[i]);' % (n, k, m)
                              for k, m, n in members))

    def pick(self):
        return self.random.choice([self.random.choice(self.scalars), self.random.choice(self.structs)] + self.objects)

    def several(self, most):
        """Types of arguments that need no more than STACK bytes."""
        types, room = [], STACK
        for _ in range(self.random.choice([self.random.randint(0, 4), self.random.randint(0, most)])):
            name = self.pick()
            size, align = self.size[name]
            room -= max(size, 8) + max(align, 8)
            if room < 0:
                break
            types.append(name)
        return types


PROMOTED = ['i32', 'u32', 'i64', 'f64', 'f80', 'variadic128', 'pointer', 'c64', 'v16', 'v32']


class Program:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.cxx = self.random.random() < 0.4
        self.types = Types(self.random, self.cxx)
        self.header, self.library, self.program = [HEAD] + self.types.lines, [LIBRARY], [PROGRAM]
        self.nested = []  # functions that callbacks may call, too
        self.count = self.random.randint(8, 14)
        kinds = ['plain'] * 4 + ['variadic'] * 3 + ['back', 'sort', 'jump'] + (['throw'] * 2 if self.cxx else [])
        for i in range(self.count):
            getattr(self, self.random.choice(kinds) if i else 'plain')(i)
        self.main()

    # ---- the library ----

    def function(self, i, result, parameters, body, end=''):
        declaration = '%s f_%d(%s)' % (result, i, ', '.join(parameters) or 'void')
        self.header.append(declaration + ';')
        frame = self.random.choice(['', '', '', 'volatile char area[h % 300 + 1]; area[h % 300] = 1;',
                                    'volatile char *area = (char *)alloca(h % 99 + 1); *area = 1;'])
        self.library.append('%s\n{\n    count_one(%d);\n    u64 h = %d;\n    %s\n    %s\n    %s\n}' % (
            declaration, i, i, '\n    '.join(body), frame,
            end or 'u64 s = h;\n    return make_%s(&s);' % result))

    def folds(self, names, types):
        return ['h = fold_%s(h, &%s);' % (type_, name) for name, type_ in zip(names, types)]

    def arguments(self, types, letter='a'):
        names = ['%s%d' % (letter, n) for n in range(len(types))]
        return names, ['%s %s' % pair for pair in zip(types, names)]

    # ---- their callers ----

    def caller(self, i, types, call, before=''):
        """A function that makes the arguments, calls, and looks at its own frame afterwards."""
        r = self.random
        names, _ = self.arguments(types)
        areas = []
        if r.random() < 0.3:
            areas.append(('', 'unsigned char many[%d];' % r.randint(1, 3000), 'sizeof many', 'many'))
        moves = all(self.types.size[kind][1] < 32 for kind in types)  # elsewhere, clang 14 loses the stack's alignment
        if moves and r.random() < 0.3:
            areas.append(('u64 n = seed % 211 + 1;', 'unsigned char vla[n];', 'n', 'vla'))
        if moves and r.random() < 0.3:
            areas.append(('u64 m = seed % 300 + 1;', 'unsigned char *area = (unsigned char *)alloca(m);', 'm', 'area'))
        lines = ['u64 s = seed, h = 0;', before]
        for size, declare, length, name in areas:
            lines += [size, declare, 'memset(%s, (int)seed, %s);' % (name, length)]
        lines += ['%s %s = make_%s(&s);' % (type_, name, type_) for name, type_ in zip(names, types)]
        lines += [call]
        lines += ['h = fold(h, %s, %s);' % (name, length) for _, _, length, name in areas]
        if r.random() < 0.5:
            lines += self.folds(names, types)
        self.program.append('%sstatic u64 call_%d(u64 seed)\n{\n    %s\n    return h;\n}' % (
            r.choice(['', '__attribute__((noinline)) ']), i,
            '\n    '.join(line for line in lines if line)))

    def result(self, type_, call):
        return '%s r = %s;\n    h = fold_%s(h, &r);' % (type_, call, type_)

    # ---- kinds of functions ----

    def plain(self, i):
        """Sometimes, another function jumps to it."""
        types = self.types.several(14)
        names, parameters = self.arguments(types)
        folds = self.folds(names, types)
        if self.random.random() < 0.2:
            self.function(i, 'void', ['u64 *out'] + parameters, folds, '*out = h;')
            self.caller(i, types, 'f_%d(%s);' % (i, ', '.join(['&h'] + names)))
        elif self.random.random() < 0.2:
            self.function(i, 'u64', parameters, folds, 'return h;')
            self.program.append(
                'JUMPS __attribute__((noinline)) static u64 jump_%d(%s)\n{\n    return f_%d(%s);\n}' % (
                    i, ', '.join(parameters) or 'void', i, ', '.join(names)))
            self.caller(i, types, 'h = jump_%d(%s);' % (i, ', '.join(names)))
        else:
            type_ = self.types.pick()
            self.function(i, type_, parameters, folds)
            self.caller(i, types, self.result(type_, 'f_%d(%s)' % (i, ', '.join(names))))
        self.nested.append(i)

    def variadic(self, i):
        """The first argument has a letter for each of those that follow."""
        small = [name for name in self.types.structs if self.types.size[name][0] <= 16 < 2 * self.types.size[name][1]]
        structs = [self.random.choice(self.types.structs) for _ in range(3)]
        structs = [name for name in structs if name not in small]  # va_arg of GCC 12 reads some of these as if aligned
        kinds = self.random.choice([['i64'], ['f64'], PROMOTED + structs])
        named = self.types.several(5)[:5]
        room = STACK - sum(self.types.size[t][0] + 32 for t in named)
        rest = []
        for _ in range(self.random.choice([0, 1, 30, self.random.randint(0, 30)])):
            kind = self.random.choice(kinds)
            room -= max(self.types.size[kind][0], 8) + max(self.types.size[kind][1], 8)
            if room > 0:
                rest.append(kind)
        names, parameters = self.arguments(named)
        letters = {kind: chr(ord('a') + n) for n, kind in enumerate(dict.fromkeys(kinds))}
        cases = ' '.join("case '%s': { %s v = va_arg(list, %s); h = fold_%s(h, &v); break; }" % (letter, k, k, k)
                         for k, letter in letters.items())
        body = self.folds(names, named) + [
            'va_list list;', 'va_start(list, %s);' % (names[-1] if names else 'kinds'),
            'for (; *kinds; kinds++)', '    switch (*kinds) { %s }' % cases, 'va_end(list);']
        type_ = self.types.pick()
        self.function(i, type_, ['const char *kinds'] + parameters + ['...'], body)
        types = named + rest
        call = ', '.join(['"%s"' % ''.join(letters[kind] for kind in rest)] + self.arguments(types)[0])
        self.caller(i, types, self.result(type_, 'f_%d(%s)' % (i, call)))
        self.nested.append(i)

    def back(self, i):
        """Calls back up to three times. Callbacks may jump over the library, or throw through it."""
        back_types, types = self.types.several(8), self.types.several(6)
        result, back_result = self.types.pick(), self.types.pick()
        back_names, back_parameters = self.arguments(back_types, 'b')
        names, parameters = self.arguments(types)
        makes = ' '.join('%s %s = make_%s(&t);' % (k, n, k) for k, n in zip(back_types, back_names))
        catches = self.cxx and self.random.random() < 0.5
        call = '%s r = back(%s); h = fold_%s(h, &r);' % (back_result, ', '.join(back_names + ['p']), back_result)
        if catches:
            call = 'try { %s } catch (const thrown &e) { h = fold(h, &e.value, 8); }' % call
        self.function(i, result, ['%s (*back)(%s)' % (back_result, ', '.join(back_types + ['void *'])), 'void *p']
                      + parameters, self.folds(names, types) + [
                          'u64 t = h;', 'for (u64 i = h % 3 + 1; i; i--) {', '    ' + makes, '    ' + call, '}'])
        nested = ['c->h += call_%d(c->h);' % self.random.choice(self.nested)] if self.random.random() < 0.5 else []
        throws = self.cxx and (catches or self.random.random() < 0.5)
        leave = 'if (c->until-- == 0)\n        %s' % (
            'throw thrown{c->h};' if throws else 'longjmp(c->to, 5);')
        self.program.append('static %s back_%d(%s)\n{\n    %s\n}' % (
            back_result, i, ', '.join(back_parameters + ['void *p']), '\n    '.join(
                ['struct context *c = (struct context *)p;', 'u64 h = c->h;'] + self.folds(back_names, back_types) + [
                    'c->h = h;'] + nested + [leave, 'return make_%s(&h);' % back_result])))
        call = self.result(result, 'f_%d(%s)' % (i, ', '.join(['back_%d' % i, 'c'] + names)))
        call = 'c->h = seed;\n    c->until = (int)(seed >> 8 & 7);\n    ' + (
            'try { %s } catch (const thrown &e) { h = fold(h, &e.value, 8); }' if throws else
            'if (!setjmp(c->to)) { %s }') % call
        self.caller(i, types, call + '\n    h += c->h;', 'struct context *c = &contexts[%d];' % i)

    def sort(self, i):
        """As qsort."""
        type_ = self.types.pick()
        while type_ == 'object':
            type_ = self.types.pick()
        declaration = 'void f_%d(void *base, u64 count, u64 size, int (*compare)(const void *, const void *))' % i
        self.header.append(declaration + ';')
        self.library.append('''%s
{
    count_one(%d);
    unsigned char *b = (unsigned char *)base, *t = (unsigned char *)alloca(size);
    for (u64 i = 1; i < count; i++)
        for (u64 j = i; j && compare(b + j * size - size, b + j * size) > 0; j--) {
            memcpy(t, b + j * size, size);
            memcpy(b + j * size, b + j * size - size, size);
            memcpy(b + j * size - size, t, size);
        }
}''' % (declaration, i))
        nested = '(int)(call_%d(x) & 1) * 0' % self.random.choice(self.nested) if self.random.random() < 0.3 else '0'
        self.program.append('''static int compare_%d(const void *p, const void *q)
{
    u64 x = fold_%s(0, (const %s *)p), y = fold_%s(0, (const %s *)q);
    return x < y ? -1 : x > y ? 1 : %s;
}''' % (i, type_, type_, type_, type_, nested))
        self.caller(i, [], 'f_%d(all, count, sizeof *all, compare_%d);\n    '
                    'for (u64 i = 0; i < count; i++) h = fold_%s(h, &all[i]);' % (i, i, type_),
                    'u64 count = seed %% 12 + 1;\n    %s all[12];\n    for (u64 i = 0; i < count; i++) all[i] = '
                    'make_%s(&s);' % (type_, type_))

    def jump(self, i):
        types = self.types.several(8)
        names, parameters = self.arguments(types)
        self.function(i, 'u64', ['jmp_buf to', 'u64 *out'] + parameters, self.folds(names, types), '''*out = h;
    if (h & 1)
        longjmp(to, 3);
    return h;''')
        self.caller(i, types, '''c->h = 0;
    if (!setjmp(c->to))
        c->h += f_%d(%s);
    h = c->h;''' % (i, ', '.join(['c->to', '&c->h'] + names)), 'struct context *c = &contexts[%d];' % i)

    def throw(self, i):
        types = self.types.several(14)
        names, parameters = self.arguments(types)
        type_ = self.types.pick()
        self.function(i, type_, parameters, self.folds(names, types) + ['if (h & 1) throw thrown{h};'])
        self.caller(i, types, 'try { %s }\n    catch (const thrown &e) { h = e.value; }' % self.result(
            type_, 'f_%d(%s)' % (i, ', '.join(names))))

    # ---- main ----

    def main(self):
        forks, signals, threads = self.random.random() < 0.3, self.random.random() < 0.2, self.random.random() < 0.5
        self.header += ['u64 *library_counts(void);', 'struct wide { u64 a[9]; };', 'u64 f_98(u64 a, struct wide b);',
                        '#ifdef __cplusplus', '}', '#endif']
        self.library.append('''u64 f_98(u64 a, struct wide b)
{
    count_one(98);
    return a + b.a[8];
}''')
        self.program.append('''static void handler(int number)
{
    struct wide w = { { 0 } };
    w.a[8] = (u64)number;
    if (f_98(5, w) != 5 + (u64)number)
        _exit(9);
}
static u64 rounds(u64 seed, int count)
{
    u64 sum = 0;
    for (int i = 0; i < count; i++) {
        %s
    }
    return sum;
}
static void *thread(void *p)
{
    *(u64 *)p = rounds(*(u64 *)p, 50);
    return NULL;
}
static void print_counts(void)
{
    for (int i = 0; i < 99; i++)
        if (library_counts()[i])
            printf("calls f_%%d %%lu\\n", i, library_counts()[i]);
    fflush(stdout);
}
int main(void)
{
    u64 one = 1, two = 2;
    pthread_t t;
    if (%d) {
        fflush(stdout);
        pid_t child = fork();
        if (!child) {
            printf("sum of the child %%lu\\n", rounds(9, 5));
            print_counts();
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        printf("sum %%d\\n", status);
    }
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    struct itimerval every = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
    sigaction(SIGALRM, &action, NULL);
    if (%d)
        setitimer(ITIMER_REAL, &every, NULL);
    if (%d) {
        pthread_create(&t, NULL, thread, &two);
        thread(&one);
        pthread_join(t, NULL);
    } else
        thread(&one);
    setitimer(ITIMER_REAL, &never, NULL);
    printf("sum %%lu %%lu\\n", one, two);
    print_counts();
    return 0;
}''' % ('\n        '.join('seed = fold(seed, &i, sizeof i);\n        sum += call_%d(seed);' % i
                            for i in range(self.count)), forks, signals, threads))


def made(seed, folder):
    program = Program(seed)
    for name, lines in ('library.h', program.header), ('library.c', program.library), ('program.c', program.program):
        with open(folder + '/' + name, 'w', encoding='ascii') as out:
            out.write('\n'.join(lines) + '\n')
    return program.cxx
