// Calls from known lines in C++, a known number of times.
#include <stdexcept>
#include <vector>

#define APART __attribute__((noinline))

static volatile int sink;

APART int leaf(int n)
{
    sink += n;
    return n;
}

template <typename T> APART T twice(T n)
{
#line 100
    return leaf(int(n)) + leaf(int(n)) + T(1);
}

struct Node {
    virtual void draw() = 0;
};

struct Leaf : Node {
    APART void draw() override
    {
        sink++;
    }
};

// The same instruction calls both kinds, within itself.
struct Group : Node {
    Node *first = nullptr, *second = nullptr;
    APART void draw() override
    {
        for (Node *n : { first, second })
#line 110
            n->draw();
        sink++;
    }
};

APART void climb(int n)
{
    if (n == 0)
        throw std::runtime_error("top");
#line 120
    climb(n - 1);
    sink++;
}

struct Guard {
    APART ~Guard()
    {
#line 130
        leaf(1);
    }
};

APART void guarded()
{
    Guard guard;
#line 140
    climb(2);
}

int main()
{
#line 200
    twice(1);
#line 201
    twice(1.0);
#line 202
    twice(2.0);
    Leaf a, b;
    Group inner, outer;
    inner.first = &a;
    inner.second = &b;
    outer.first = &inner;
    outer.second = &a;
#line 210
    outer.draw();
    for (int i = 0; i < 3; i++) {
        try {
#line 220
            guarded();
        } catch (const std::exception &) {
            sink++;
        }
    }
    auto later = [](int n) {
#line 230
        leaf(n);
    };
#line 240
    later(1);
#line 241
    later(2);
    return 0;
}
