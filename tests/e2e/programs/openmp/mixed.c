/* openmp-mixed ROUNDS: regions, loops, sections, tasks and cancellations of OpenMP. Exits with 0 if all results are
 * right. Needs OMP_CANCELLATION=true. */
#include <omp.h>
#include <stdlib.h>

enum { LOOP = 100, HALF = LOOP / 2, LOOP_SUM = LOOP * (LOOP - 1) / 2, INNER = 30, INNER_SUM = INNER * (INNER - 1) / 2 };

static volatile long sink;

static int leaf(int i)
{
    sink = i;
    return i;
}

static int nested(void)
{
    int total = 0;
#pragma omp parallel num_threads(2) reduction(+ : total)
    {
        int inner = 0;
#pragma omp parallel for num_threads(3) reduction(+ : inner)
        for (int i = 0; i < INNER; i++)
            inner += leaf(i);
        total += inner;
    }
    return total == 2 * INNER_SUM;
}

static int fib(int n)
{
    int a, b;
    if (n < 2)
        return n;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

static int tasks(void)
{
    int result = 0, sum = 0;
#pragma omp parallel num_threads(3)
#pragma omp single
    result = fib(8);
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    {
#pragma omp task shared(sum)
        sum = leaf(3);
    }
    return result == 21 && sum == 3;
}

static int copies(void)
{
    int x = 0, right = 0;
#pragma omp parallel num_threads(3) firstprivate(x) reduction(+ : right)
    {
#pragma omp single copyprivate(x)
        x = leaf(HALF);
        right += x == HALF;
    }
    return right == 3;
}

static int cancels(void)
{
    int found = -1;
#pragma omp parallel num_threads(4)
    {
#pragma omp for schedule(dynamic)
        for (int i = 0; i < LOOP; i++) {
            if (leaf(i) == HALF) {
#pragma omp atomic write
                found = i;
#pragma omp cancel for
            }
        }
#pragma omp barrier
    }
    return found == HALF;
}

static int sections(void)
{
    int a = 0, b = 0;
#pragma omp parallel sections num_threads(2)
    {
        a = leaf(1);
#pragma omp section
        b = leaf(2);
    }
    return a + b == 3;
}

static int loops(void)
{
    int sum = 0;
#pragma omp parallel for schedule(runtime) reduction(+ : sum) num_threads(2)
    for (int i = 0; i < LOOP; i++)
        sum += leaf(i);
#pragma omp parallel for schedule(guided, 4) reduction(+ : sum) num_threads(2)
    for (int i = 0; i < LOOP; i++)
        sum += leaf(i);
#pragma omp parallel for schedule(static, 4) reduction(+ : sum) num_threads(2)
    for (int i = 0; i < LOOP; i++)
        sum += leaf(i);
#pragma omp parallel for schedule(dynamic, 4) reduction(+ : sum) num_threads(2)
    for (int i = 0; i < LOOP; i++)
        sum += leaf(i);
    return sum == 4 * LOOP_SUM;
}

int main(int argc, char **argv)
{
    omp_set_max_active_levels(2);
    for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
        if (!nested() || !tasks() || !copies() || !cancels() || !sections() || !loops())
            return 1;
    return 0;
}
