#define _GNU_SOURCE
#include "CLinux.h"

#include <stddef.h>
#include <sys/eventfd.h>

int clinux_eventfd(void) {
    return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
}

int clinux_ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout) {
    return ppoll(descriptors, count, timeout, NULL);
}

void clinux_set_thread_name(pthread_t thread, const char *name) {
    pthread_setname_np(thread, name);
}
