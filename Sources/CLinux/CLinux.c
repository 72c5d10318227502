#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int clinux_eventfd(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int clinux_ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout) {
    return ppoll(descriptors, count, timeout, NULL);
}

void clinux_set_thread_name(pthread_t thread, const char *name) {
    pthread_setname_np(thread, name);
}

int clinux_memfd(const char *name, int64_t size) {
    int descriptor = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (descriptor < 0) return -1;
    if (ftruncate(descriptor, size) == 0 && fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK) == 0) return descriptor;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

int clinux_pipe(int ends[2]) {
    if (pipe2(ends, O_CLOEXEC) != 0) return -1;
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) return 0;
    int reason = errno;
    close(ends[0]);
    close(ends[1]);
    errno = reason;
    return -1;
}

int clinux_pidfd(pid_t process) {
    return (int)syscall(SYS_pidfd_open, process, 0);
}

int clinux_signal(int pidfd, int number) {
    return (int)syscall(SYS_pidfd_send_signal, pidfd, number, NULL, 0);
}

uint64_t clinux_thread_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}
