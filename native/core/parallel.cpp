// The threads of the parallel loops.
//
// Threads are started when first wanted and are shared by all calling threads; between loops they
// wait. The calling thread always works too, so a loop ends even if no thread can be started, or
// if all of them are busy with the loops of other callers. A loop inside a loop runs on its thread.
//
// A child process has none of the threads of its parent, and the lock may have been held by one of
// them: after a fork the pool starts again.

#include "core/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <thread>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#endif

namespace thetahat {

namespace {

// A thread looks this often for work, about half a millisecond, before it sleeps: the loops of
// a growing tree follow each other closely, and to wake a thread takes some ten microseconds.
constexpr int looks = 20000;

inline void pause() {
#if defined(__x86_64__) || defined(_M_X64)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// What libraries take for a new thread at the most: some hundred bytes for each of them.
constexpr std::size_t first_memory = 64 * 1024;

// One loop, on the stack of the thread that called it.
struct Loop {
    std::size_t n;
    void (*work)(const void *, std::size_t);
    const void *context;
    std::size_t seats;                  // threads that may still join; guarded by the lock
    std::atomic<std::size_t> inside{0}; // threads that have joined and not left
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure{}; // of the first piece that failed; guarded by the lock
    Loop *after = nullptr;        // the next open loop

    void run(std::mutex &lock) noexcept {
        for (std::size_t piece = next++; piece < n; piece = next++)
            try {
                work(context, piece);
            } catch (...) {
                next = n;
                const std::lock_guard held(lock);
                if (!failure)
                    failure = std::current_exception();
                return;
            }
    }
};

// Where it can be, this lies in the memory that a thread starts with. The memory of an ordinary
// thread local variable of a shared library is taken when a thread first reads it, and where there
// is none, the C library ends the process.
#if defined(__GLIBC__)
[[gnu::tls_model("initial-exec")]]
#endif
thread_local bool in_a_loop = false;

class Pool {
  public:
    void run(Loop &loop) {
        in_a_loop = true;
        {
            std::unique_lock held(lock_);
            start_threads(loop.seats, held);
            loop.seats = std::min(loop.seats, n_threads_);
            loop.after = open_;
            open_ = &loop;
            open_loops_.fetch_add(1, std::memory_order_relaxed);
        }
        if (loop.seats == 1)
            wake_.notify_one();
        else if (loop.seats > 1)
            wake_.notify_all();
        loop.run(lock_);
        std::unique_lock held(lock_);
        close(loop);
        held.unlock();
        for (int look = 0; look < looks && loop.inside; ++look)
            pause();
        held.lock();
        left_.wait(held, [&] { return loop.inside == 0; });
        in_a_loop = false;
    }

  private:
    // As many as can be had; it is no failure to have none. Libraries take memory for a thread when
    // it first enters them, and end the process where there is none: a thread is started only if
    // that memory is there, and takes it before anything else does.
    void start_threads(std::size_t wanted, std::unique_lock<std::mutex> &held) noexcept {
        while (n_threads_ < wanted)
            try {
                std::make_unique<char[]>(first_memory);
                std::thread([this] { serve(); }).detach();
                ++n_threads_;
                ready_.wait(held, [&] { return n_ready_ == n_threads_; });
            } catch (...) {
                return;
            }
    }

    void serve() noexcept {
        [[maybe_unused]] const volatile int enters = std::uncaught_exceptions();
        {
            const std::lock_guard held(lock_);
            ++n_ready_;
            ready_.notify_all();
        }
#if defined(__unix__) || defined(__APPLE__)
        sigset_t all; // signals are for the threads of the interpreter
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, nullptr);
#endif
        in_a_loop = true;
        for (;;) {
            for (int look = 0; look < looks && !open_loops_.load(std::memory_order_relaxed); ++look)
                pause();
            Loop *loop = nullptr;
            {
                std::unique_lock held(lock_);
                wake_.wait(held, [&] { return open_ != nullptr; });
                loop = open_;
                ++loop->inside;
                if (--loop->seats == 0)
                    close(*loop);
            }
            loop->run(lock_);
            // Under the lock, because the loop is gone as soon as its caller sees nobody inside.
            const std::lock_guard held(lock_);
            close(*loop);
            if (--loop->inside == 0)
                left_.notify_all();
        }
    }

    // Let no further thread join.
    void close(Loop &loop) {
        for (Loop **place = &open_; *place; place = &(*place)->after)
            if (*place == &loop) {
                *place = loop.after;
                open_loops_.fetch_sub(1, std::memory_order_relaxed);
                return;
            }
    }

    std::mutex lock_;
    std::condition_variable wake_, left_, ready_;
    Loop *open_ = nullptr; // loops with pieces and seats left
    std::atomic<std::size_t> open_loops_{0};
    std::size_t n_threads_ = 0, n_ready_ = 0;
};

// Never destroyed: its threads wait in it when the process ends.
alignas(Pool) unsigned char storage[sizeof(Pool)];

Pool &pool() {
    static Pool *const only = [] {
        Pool *made = new (storage) Pool;
#if defined(__unix__) || defined(__APPLE__)
        pthread_atfork(nullptr, nullptr, [] {
            new (storage) Pool;
            in_a_loop = false;
        });
#endif
        return made;
    }();
    return *only;
}

} // namespace

void run_pieces(std::size_t n, int threads, void (*work)(const void *, std::size_t),
                const void *context) {
    if (in_a_loop) {
        for (std::size_t piece = 0; piece < n; ++piece)
            work(context, piece);
        return;
    }
    Loop loop{n, work, context, std::min(n, static_cast<std::size_t>(threads)) - 1};
    pool().run(loop);
    if (loop.failure)
        std::rethrow_exception(loop.failure);
}

} // namespace thetahat
