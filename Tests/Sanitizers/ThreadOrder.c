// Tells the thread sanitizer what Swift's runtime orders. Preloaded by Scripts/verify-sanitizers.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

// The sanitizer's own, in the program that it is part of. Programs without it load this file too.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

// The runtime tells the sanitizer of tasks and continuations by itself, once it knows of it. In a program that the sanitizer is linked into
// it is not told: the program's own, empty function of that name is called in place of this one.
__attribute__((constructor)) static void tell_runtime(void)
{
    void (*tell)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "__tsan_on_initialize");
    if (tell && __tsan_acquire)
        tell();
}

// Mutex: the fast paths of lock and unlock are compiled into whoever uses them, and so instrumented. The slow ones, taken where threads
// contend, are in libswiftSynchronization, which is not: the sanitizer would see no order between the two threads, and take what the
// mutex protects for a data race. These take their place, call them, and say what they order.

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
