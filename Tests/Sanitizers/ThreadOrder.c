// Tells the thread sanitizer about the order that Swift's runtime ensures. Preloaded by Scripts/verify-sanitizers.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// The sanitizer's own, in the program that it is part of. Programs without it load this file too.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

// Swift's runtime reports tasks and continuations to the sanitizer by itself, once it knows of the sanitizer. In a
// program that links the sanitizer, it does not: the program's own, empty function of this name runs instead.
__attribute__((constructor)) static void tell_runtime(void)
{
    void (*tell)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "__tsan_on_initialize");
    if (tell && __tsan_acquire)
        tell();
}

// Mutex: the compiler puts the fast paths of lock and unlock into their callers, and so instruments them. The slow
// paths, for contending threads, are in libswiftSynchronization, which is not instrumented. Without an order between
// the two threads, the sanitizer would report a data race on what the mutex protects. These functions replace the slow
// paths, call them, and report the order.

// _MutexHandle._lockSlow(_: UInt32) and _unlockSlow(), as they are mangled.
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"
#define SELF __attribute__((swift_context))
#define SWIFT __attribute__((swiftcall))

SWIFT void lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK);
SWIFT void unlock_slow(SELF void *mutex) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF void *mutex)
{
    SWIFT void (*next)(uint32_t, SELF void *) = (SWIFT void (*)(uint32_t, SELF void *))dlsym(RTLD_NEXT, LOCK);
    next(thread, mutex);
    if (__tsan_acquire)
        __tsan_acquire(mutex);
}

SWIFT void unlock_slow(SELF void *mutex)
{
    SWIFT void (*next)(SELF void *) = (SWIFT void (*)(SELF void *))dlsym(RTLD_NEXT, UNLOCK);
    if (__tsan_release)
        __tsan_release(mutex);
    next(mutex);
}
