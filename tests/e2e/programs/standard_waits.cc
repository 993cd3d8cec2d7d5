// standard_waits WHAT: waits of the C++ library, whose numbers and causes are known. Each begins well before its end.
#include <atomic>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <latch>
#include <mutex>
#include <pthread.h>
#include <shared_mutex>
#include <sys/syscall.h>
#include <thread>
#include <time.h>
#include <unistd.h>

#include "resting.h"

enum { ROUNDS = 3 };

static std::atomic<int> value, turn;
static std::latch gate(1);
static std::timed_mutex timed;
static std::recursive_mutex recursive;
static std::shared_mutex shared;

UNSEEN static void await(int number)
{
    while (turn.load() < number)
        ;
}

static void give_value()
{
    value.fetch_add(1);
    value.notify_one();
}

static void give_often()
{
    for (int i = 0; i < ROUNDS; i++) {
        rest();
        give_value();
    }
}

static void await_value()
{
    static int known;
    value.wait(known++);
}

static void count_down()
{
    gate.count_down();
}

static void count_down_late()
{
    rest();
    count_down();
}

static void await_latch()
{
    gate.wait();
}

static void hold_lock()
{
    turn.fetch_add(1);
    rest();
}

template <class Mutex> static void hold_often(Mutex &mutex)
{
    for (int i = 0; i < ROUNDS; i++) {
        mutex.lock();
        hold_lock();
        mutex.unlock();
        await(2 * i + 2);
    }
}

static void want_timed_mutex()
{
    if (timed.try_lock_for(std::chrono::seconds(100)))
        timed.unlock();
}

static void want_recursive_mutex()
{
    std::lock_guard<std::recursive_mutex> lock(recursive);
}

static void want_shared_mutex()
{
    std::shared_lock<std::shared_mutex> lock(shared);
}

template <class Other> UNSEEN static void run_both(Other other, void (*own)(), int rounds, bool by_turns)
{
    std::thread thread([other] {
        pthread_setname_np(pthread_self(), "other");
        other();
    });
    for (int i = 0; i < rounds; i++) {
        if (by_turns)
            await(2 * i + 1);
        own();
        turn.fetch_add(by_turns);
    }
    thread.join();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "atomic") == 0)
        run_both(give_often, await_value, ROUNDS, false);
    else if (strcmp(what, "latch") == 0)
        run_both(count_down_late, await_latch, 1, false);
    else if (strcmp(what, "timed_mutex") == 0)
        run_both([] { hold_often(timed); }, want_timed_mutex, ROUNDS, true);
    else if (strcmp(what, "recursive_mutex") == 0)
        run_both([] { hold_often(recursive); }, want_recursive_mutex, ROUNDS, true);
    else if (strcmp(what, "shared_mutex") == 0)
        run_both([] { hold_often(shared); }, want_shared_mutex, ROUNDS, true);
    else
        return 1;
    return 0;
}
