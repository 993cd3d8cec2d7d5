/* Function templates, whose demangled names begin with the return type. main calls count() once and twice() ten times.
 */
namespace ns
{
template <class T> __attribute__((noinline)) T twice(T value)
{
    asm volatile("");
    return value + value;
}

template <class T> __attribute__((noinline)) T (*choose(T))(T)
{
    asm volatile("");
    return twice<T>;
}

__attribute__((noinline)) int count(int calls)
{
    int sum = 0;
    for (int i = 0; i < calls; i++)
        sum += choose(i)(i);
    return sum;
}
} // namespace ns

int main()
{
    return ns::count(10) == 90 ? 0 : 1;
}
