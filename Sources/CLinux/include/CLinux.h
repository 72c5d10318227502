// Linux system calls that Swift's Glibc module leaves out, because it is built without the GNU extensions.
#ifndef CLINUX_H
#define CLINUX_H

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

/// A non-blocking, close-on-exec eventfd with count 0; -1 and errno on failure. eventfd(2).
int clinux_eventfd(void);

/// ppoll(2) without a signal mask; `timeout` may be NULL.
int clinux_ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout);

/// pthread_setname_np(3); `name` has at most 15 characters.
void clinux_set_thread_name(pthread_t thread, const char *name);

/// A close-on-exec memory file of `size` bytes that can never shrink, so that whoever it is shared with cannot take mapped
/// memory away; -1 and errno on failure. memfd_create(2).
int clinux_memfd(const char *name, int64_t size);

/// A close-on-exec pipe whose reading end, the first, does not block; -1 and errno on failure. pipe2(2).
int clinux_pipe(int ends[2]);

/// Processor time that the calling thread has used, ns. clock_gettime(2), CLOCK_THREAD_CPUTIME_ID.
uint64_t clinux_thread_time(void);

/// A close-on-exec descriptor that is readable when the process has ended; -1 and errno on failure. pidfd_open(2).
int clinux_pidfd(pid_t process);

/// Sends a signal to the process of a pidfd; -1 and errno on failure. pidfd_send_signal(2).
int clinux_signal(int pidfd, int number);

#endif
