/* crowd THREADS STACK [CALLS]: THREADS threads at once, with stacks of STACK bytes. */
#include "work.h"

static pthread_barrier_t all_here;

static void *member(void *count)
{
    atomic_fetch_add(&counts->worker, 1);
    work((long)count);
    pthread_barrier_wait(&all_here);
    return NULL;
}

int main(int argc, char **argv)
{
    begin();
    long threads = argc > 1 ? atol(argv[1]) : 100, stack = argc > 2 ? atol(argv[2]) : 64 << 10;
    long calls = argc > 3 ? atol(argv[3]) : 10;
    pthread_t *all = calloc((size_t)threads, sizeof *all);
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)stack);
    pthread_barrier_init(&all_here, NULL, (unsigned)threads);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&all[i], &attributes, member, (void *)calls) != 0) {
            printf("only %ld threads\n", i);
            _exit(8);
        }
    for (long i = 0; i < threads; i++)
        pthread_join(all[i], NULL);
    free(all);
    printf("calls step %lu\ncalls work %lu\ncalls member %lu\ncalls main 1\n", counts->step, counts->work,
           counts->worker);
    return 0;
}
