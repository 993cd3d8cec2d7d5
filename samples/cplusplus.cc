/*
 * cplusplus [N]: namespaces, overloads, templates, exceptions, and the templates of the standard library. The latter
 * are compiled in the program itself and so are instrumented.
 *
 * Names are printed as a C++ programmer writes them. N orders (default: 300) are parsed and sorted by price. Every
 * third throws an exception through three frames. The report should count the two overloads of price and the two
 * instances of larger each on a row of its own. It should count N calls of parse_order, read_order and read_field,
 * though a throw ended a third of them. Calls after the catch must again be below main, not below parse_order.
 */
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

namespace shop
{

struct Apples {
    unsigned count;
};

struct Pears {
    unsigned count;
};

struct Order {
    unsigned number;
    unsigned cents;
};

static unsigned long price_apples_calls;
static unsigned long price_pears_calls;
static unsigned long cheaper_calls;

unsigned price(const Apples &apples)
{
    price_apples_calls++;
    return apples.count * 35;
}

unsigned price(const Pears &pears)
{
    price_pears_calls++;
    return pears.count * 50;
}

bool cheaper(const Order &left, const Order &right)
{
    cheaper_calls++;
    return left.cents < right.cents || (left.cents == right.cents && left.number < right.number);
}

} // namespace shop

namespace text
{

static unsigned long parse_order_calls;
static unsigned long read_order_calls;
static unsigned long read_field_calls;
static unsigned long caught;

unsigned read_field(unsigned number)
{
    read_field_calls++;
    if (number % 3 == 2)
        throw std::runtime_error("no such field");
    return static_cast<unsigned>(number * UINT32_C(2654435761)) >> 24;
}

shop::Order read_order(unsigned number)
{
    read_order_calls++;
    unsigned count = read_field(number);
    unsigned cents = number % 3 == 0 ? shop::price(shop::Apples{ count }) : shop::price(shop::Pears{ count });
    return { number, cents };
}

void parse_order(unsigned number, std::vector<shop::Order> &orders)
{
    parse_order_calls++;
    orders.push_back(read_order(number));
}

} // namespace text

template <typename T> struct Calls {
    static unsigned long larger;
};
template <typename T> unsigned long Calls<T>::larger;

template <typename T> T larger(T left, T right)
{
    Calls<T>::larger++;
    return left < right ? right : left;
}

static std::vector<shop::Order> parse_orders(unsigned count)
{
    std::vector<shop::Order> orders;
    for (unsigned number = 0; number < count; number++) {
        try {
            text::parse_order(number, orders);
        } catch (const std::runtime_error &) {
            text::caught++;
        }
    }
    return orders;
}

static void print_largest(const std::vector<shop::Order> &orders)
{
    unsigned cents = 0;
    double euros = 0;
    for (const shop::Order &order : orders) {
        cents = larger<unsigned>(cents, order.cents);
        euros = larger<double>(euros, order.cents / 100.0);
    }
    std::printf("largest %u cents = %.2f euros\n", cents, euros);
}

static void print_calls()
{
    std::printf("caught %lu\n", text::caught);
    std::printf("calls shop::price(shop::Apples const&) %lu\n", shop::price_apples_calls);
    std::printf("calls shop::price(shop::Pears const&) %lu\n", shop::price_pears_calls);
    std::printf("calls shop::cheaper(shop::Order const&, shop::Order const&) %lu\n", shop::cheaper_calls);
    std::printf("calls text::parse_order(unsigned int, "
                "std::vector<shop::Order, std::allocator<shop::Order> >&) %lu\n",
                text::parse_order_calls);
    std::printf("calls text::read_order(unsigned int) %lu\n", text::read_order_calls);
    std::printf("calls text::read_field(unsigned int) %lu\n", text::read_field_calls);
    std::printf("calls unsigned int larger<unsigned int>(unsigned int, unsigned int) %lu\n", Calls<unsigned>::larger);
    std::printf("calls double larger<double>(double, double) %lu\n", Calls<double>::larger);
    std::printf("calls main 1\n");
}

int main(int argc, char **argv)
{
    unsigned long count = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 300;
    if (argc > 2 || count < 1 || count > 10000000) {
        std::fputs("usage: cplusplus [N], N from 1 to 10000000\n", stderr);
        return 2;
    }
    std::vector<shop::Order> orders = parse_orders(static_cast<unsigned>(count));
    std::sort(orders.begin(), orders.end(), shop::cheaper);
    print_largest(orders);
    print_calls();
    return EXIT_SUCCESS;
}
