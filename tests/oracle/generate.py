"""Makes programs whose call stacks are hard to follow: generate.py LANGUAGE FIRST COUNT > FILE.

LANGUAGE is c or c++. Each of the COUNT programs, numbered from FIRST, is made at random from its number alone, and is
deterministic when it runs. One main() runs them all. Functions that a jump or an exception may leave are not inlined:
a call that is left while it is inlined into the frame that goes on has no trace in the machine's stack.
"""
import random
import sys

HEAD_C = '''#define _GNU_SOURCE 1
#include <alloca.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define KEEP __attribute__((noinline))
#define HIDDEN __attribute__((no_instrument_function))
#define CLEANUP(f) __attribute__((cleanup(f)))
static volatile long sink;
static long fuel;
'''
HEAD_CXX = HEAD_C + '''#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>
struct error { long value; };
'''


class Program:
    """One program: a few functions that call each other with a budget of calls."""

    def __init__(self, number, cxx):
        self.random = random.Random(number * 2 + cxx)
        self.cxx = cxx
        self.number = number # in functions that would else be the same in two programs, and then be one
        self.prefix = 'p%d_' % number
        self.count = self.random.randint(4, 10)
        self.lines = []
        self.jumps = self.random.random() < 0.6
        self.throws = cxx and self.random.random() < 0.7
        self.signals = self.random.random() < 0.4
        self.helpers = []

    def name(self, index):
        return '%sf%d' % (self.prefix, index)

    def put(self, text):
        self.lines.append(text)

    def pick(self, *choices):
        return self.random.choice(choices)

    def callee(self):
        return self.name(self.random.randrange(self.count))

    def call(self, argument='x'):
        return '%s(%s + %d)' % (self.callee(), argument, self.random.randint(1, 9))

    def make(self):
        for i in range(self.count):
            self.put('static long %s(long x);' % self.name(i))
        if self.jumps:
            self.put('static sigjmp_buf %sjump; static volatile int %sarmed;' % (self.prefix, self.prefix))
        self.make_helpers()
        if self.signals:
            self.make_handler()
        for i in range(self.count):
            self.make_function(i)
        self.make_entry()
        return '\n'.join(self.lines) + '\n'

    def make_helpers(self):
        """Functions that always return: they may be inlined."""
        p = self.prefix
        for i in range(self.random.randint(1, 4)):
            name = '%sh%d' % (p, i)
            inner = '%s(x)' % self.random.choice(self.helpers) if self.helpers and self.pick(0, 1) else 'x * 3'
            shape = self.random.randrange(5)
            quality = self.pick('static inline', 'static', 'static inline __attribute__((always_inline))', 'static KEEP')
            if shape == 0:
                self.put('%s long %s(long x) { sink += x; return %s + 1; }' % (quality, name, inner))
            elif shape == 1:
                self.put('%s long %s(long x) { long s = 0; for (int i = 0; i < 3; i++) s += %s; return s; }'
                         % (quality, name, inner))
            elif shape == 2:
                self.put('static KEEP long %s(long x) { char *room = (char *)alloca((size_t)(x & 63) + 1); '
                         'memset(room, 1, (size_t)(x & 63) + 1); sink += room[x & 31 & (x & 63)]; return %s; }' % (name, inner))
            elif shape == 3:
                self.put('static KEEP long %s(long x) { return x > 6 ? %s(x / 2) : x; }' % (name, name))
            else:
                self.put('static KEEP long %sv(int count, ...) { va_list a; va_start(a, count); long s = 0; '
                         'while (count--) s += va_arg(a, long); va_end(a); return s; }' % name)
                self.put('%s long %s(long x) { return %sv(3, x, %s, 5L); }' % (quality, name, name, inner))
            self.helpers.append(name)
        self.put('static int %scompare(const void *a, const void *b) { sink += %s(*(const int *)a); '
                 'return *(const int *)a - *(const int *)b; }' % (p, self.helpers[0]))
        self.put('static void %sclean(long *x) { sink += *x; }' % p)

    def make_handler(self):
        p = self.prefix
        if self.jumps and self.pick(0, 1):
            self.put('static KEEP void %shandler(int number) { sink += %s(number); if (%sarmed && fuel %% 3 == 0) '
                     '{ %sarmed = 0; siglongjmp(%sjump, 2); } }' % (p, self.helpers[0], p, p, p))
        else:
            self.put('static KEEP void %shandler(int number) { sink += %s(number); if (fuel-- > 0) sink += %s; }'
                     % (p, self.helpers[-1], '%s(1)' % self.name(self.count - 1) if not self.throws else '1'))

    def statement(self):
        p = self.prefix
        choices = ['x += %s;' % self.call(), 'x ^= %s;' % self.call(), 'if (x & 1) x += %s; else x += %s;' % (self.call(), self.call()),
                   'for (int i = 0; i < %d; i++) x += %s;' % (self.random.randint(1, 3), self.call('x + i')),
                   'x += %s(x);' % self.random.choice(self.helpers),
                   '{ int list[5] = { 3, 1, 2, (int)x & 7, 0 }; qsort(list, 5, sizeof *list, %scompare); x += list[2]; }' % p,
                   '{ long CLEANUP(%sclean) kept = x; x += %s; kept++; }' % (p, self.call() if not self.jumps else '1'),
                   '{ long (*volatile pointer)(long) = %s; x += pointer(x); }' % self.callee(),
                   '{ char room[(x & 31) + 1]; room[0] = (char)x; x += %s; sink += room[0]; }' % self.call() if not self.cxx else
                   '{ char *room = (char *)alloca((size_t)(x & 31) + 1); room[0] = (char)x; x += %s; sink += room[0]; }' % self.call(),
                   'switch (x & 3) { case 0: x += %s; break; case 1: x -= %s; break; default: x++; }' % (self.call(), self.call())]
        if self.jumps:
            choices.append('if (%sarmed && (x & 3) == 1) { %sarmed = 0; siglongjmp(%sjump, 1); }' % (p, p, p))
        if self.signals:
            choices.append('raise(SIGUSR1);')
        if self.throws:
            choices += ['if ((x & 7) == 3) throw error{x};', 'if ((x & 7) == 5) throw std::runtime_error("x");',
                        'try { x += %s; } catch (const error &e) { x += e.value + %s(x); }' % (self.call(), self.helpers[0]),
                        'try { x += %s; } catch (...) { x += %s; if (x & 1) throw; }' % (self.call(), self.call())]
        if self.cxx:
            choices += ['{ %sguard guard{x}; x += %s; }' % (p, self.call()),
                        '{ auto lambda = [&](long y) __attribute__((noinline)) { x += y; return %s; }; x += lambda(x); }' % self.call('y'),
                        '{ %sbase *object = %smake(x); x += object->act(x); delete object; }' % (p, p),
                        'x += %stwice<int>(x);' % p]
        return self.random.choice(choices)

    def make_classes(self):
        p = self.prefix
        self.put('struct %sguard { long at; ~%sguard(); };' % (p, p))
        self.put('KEEP %sguard::~%sguard() { sink += %s(at); }' % (p, p, self.helpers[0]))
        self.put('struct %sbase { virtual long act(long x); virtual ~%sbase(); };' % (p, p))
        self.put('struct %sother : %sbase { long act(long x) override; };' % (p, p))
        self.put('KEEP long %sbase::act(long x) { return x + %d; }' % (p, self.number))
        self.put('KEEP %sbase::~%sbase() { sink += %d; }' % (p, p, self.number))
        self.put('KEEP long %sother::act(long x) { return %s; }' % (p, self.call()))
        self.put('static KEEP %sbase *%smake(long x) { return x & 1 ? new %sbase : new %sother; }' % (p, p, p, p))
        self.put('template <typename T> KEEP long %stwice(long x) { return %s + (long)sizeof(T); }' % (p, self.call()))

    def make_function(self, index):
        p, name = self.prefix, self.name(index)
        if index == 0 and self.cxx:
            self.make_classes()
        self.put('static KEEP long %s(long x)\n{' % name)
        self.put('    if (fuel-- <= 0) return x;')
        armed = self.jumps and self.random.random() < 0.4
        if armed:
            # What changes between sigsetjmp and the jump is volatile: its value is the same at all levels.
            self.put('    volatile long begun = x;')
            self.put('    if (!%sarmed) {' % p)
            self.put('        if (sigsetjmp(%sjump, 1) == 0) { %sarmed = 1; begun = %s; %sarmed = 0; }' % (p, p, self.call('begun'), p))
            self.put('        else { begun += %s(begun); }' % self.helpers[0])
            self.put('        return begun + %s;' % self.call('begun'))
            self.put('    }')
        for _ in range(self.random.randint(1, 4)):
            self.put('    ' + self.statement())
        self.put('    return %s;' % self.pick(self.call(), 'x', 'x + %s' % self.call()))
        self.put('}')

    def make_entry(self):
        p = self.prefix
        self.put('KEEP void %srun(void)\n{' % p)
        self.put('    fuel = %d;' % self.random.randint(30, 80))
        if self.signals:
            on_stack = self.pick(0, 1)
            if on_stack:
                self.put('    static char room[1 << 20]; stack_t stack = {}; stack.ss_sp = room; stack.ss_size = sizeof room; '
                         'sigaltstack(&stack, NULL);')
            self.put('    struct sigaction action = {}; action.sa_handler = %shandler; action.sa_flags = SA_NODEFER%s; '
                     'sigaction(SIGUSR1, &action, NULL);' % (p, ' | SA_ONSTACK' if on_stack else ''))
        self.put('    for (int i = 0; i < 3 && fuel > 0; i++) {')
        if self.throws:
            self.put('        try { sink += %s(i); } catch (const error &) { sink++; } catch (const std::exception &) { sink += 2; }'
                     % self.name(0))
        else:
            self.put('        sink += %s(i);' % self.name(0))
        if self.jumps:
            self.put('        %sarmed = 0;' % p)
        self.put('    }\n}')


def main():
    cxx, first, count = sys.argv[1] == 'c++', int(sys.argv[2]), int(sys.argv[3])
    print(HEAD_CXX if cxx else HEAD_C)
    for number in range(first, first + count):
        print(Program(number, cxx).make())
    print('int main(void)\n{')
    for number in range(first, first + count):
        print('    p%d_run();' % number)
    print('    printf("%ld\\n", sink);\n    return 0;\n}')


main()
