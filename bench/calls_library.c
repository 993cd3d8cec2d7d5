/* A library without probes, for bench/calls. It counts its own calls. Compiled twice: as a library, and as an archive
 * whose names begin with another word (-DNAME(what)=...). */
#ifndef NAME
#define NAME(what) library_##what
#endif

static long counts;
static _Thread_local long count;

long NAME(step)(long n)
{
    count++;
    return n + 1;
}

/* The same, which no pattern names. */
long NAME(plain)(long n)
{
    count++;
    return n + 1;
}

void NAME(end)(void)
{
    __atomic_fetch_add(&counts, count, __ATOMIC_RELAXED);
}

long NAME(counted)(void)
{
    return counts;
}
