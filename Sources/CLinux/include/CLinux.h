// Linux system calls that Swift's Glibc module lacks because it is built without the GNU extensions.
#ifndef CLINUX_H
#define CLINUX_H

#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

/// Returns a non-blocking, close-on-exec eventfd with count 0; -1 and errno on failure. eventfd(2).
int clinux_eventfd(void);

/// Calls ppoll(2) without a signal mask; `timeout` may be NULL.
int clinux_ppoll(struct pollfd *descriptors, nfds_t count, const struct timespec *timeout);

/// Calls pthread_setname_np(3); `name` has at most 15 characters.
void clinux_set_thread_name(pthread_t thread, const char *name);

/// Returns a close-on-exec memory file of `size` bytes; -1 and errno on failure. memfd_create(2).
///
/// It can never shrink, so a process that shares it cannot take mapped memory away.
int clinux_memfd(const char *name, int64_t size);

/// Makes a close-on-exec pipe whose reading end, the first, does not block; -1 and errno on failure. pipe2(2).
int clinux_pipe(int ends[2]);

/// Returns the processor time that the calling thread has used, in ns. clock_gettime(2), CLOCK_THREAD_CPUTIME_ID.
uint64_t clinux_thread_time(void);

/// Returns a close-on-exec descriptor that is readable once the process has ended; -1 and errno on failure.
/// pidfd_open(2).
int clinux_pidfd(pid_t process);

/// Sends a signal to the process of a pidfd; -1 and errno on failure. pidfd_send_signal(2).
int clinux_signal(int pidfd, int number);

/// The answer of `clinux_tcp_socket` if the kernel cannot be asked.
#define CLINUX_CANNOT_ASK (-2)

/// Finds the open TCP socket from `source` to `destination`, both of the same family, and its user and inode.
/// sock_diag(7).
///
/// Returns 0, -1 if there is none, or CLINUX_CANNOT_ASK.
int clinux_tcp_socket(const struct sockaddr *source, const struct sockaddr *destination, uint32_t *user,
                      uint32_t *inode);

#endif
