/* A library without probes, for bench/calls. It counts its own calls. */
static long counts;
static _Thread_local long count;

long library_step(long n)
{
    count++;
    return n + 1;
}

void library_end(void)
{
    __atomic_fetch_add(&counts, count, __ATOMIC_RELAXED);
}

long library_counted(void)
{
    return counts;
}
