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

/// Starts a program in a session of its own, with /dev/null as its standard streams and no other descriptor.
///
/// - `arguments`: the program, a path or a name in this process's PATH, then its arguments, then NULL.
/// - `directory`: its working directory; NULL for this process's.
/// Returns 0 and sets `process`, or returns the error number. posix_spawn(3).
int clinux_launch(char *const arguments[], char *const environment[], const char *directory, pid_t *process);

/// Connects to a Unix domain socket, whose reads and writes then take at most `milliseconds` each. Returns its
/// close-on-exec descriptor; -1 and errno on failure.
int clinux_connect_local(const char *path, int milliseconds);

/// MSG_NOSIGNAL of send(2). Swift does not import it into a module that imports CInput.
extern const int clinux_no_signal;

/// Returns the process that listens at the other end of a Unix domain socket; -1 on failure. SO_PEERCRED of unix(7).
pid_t clinux_peer(int socket);

/// The answer of `clinux_tcp_socket` if the kernel cannot be asked.
#define CLINUX_CANNOT_ASK (-2)

/// Finds the open TCP socket from `source` to `destination`, both of the same family, and its user and inode.
/// sock_diag(7).
///
/// Returns 0, -1 if there is none, or CLINUX_CANNOT_ASK.
int clinux_tcp_socket(const struct sockaddr *source, const struct sockaddr *destination, uint32_t *user,
                      uint32_t *inode);

#endif
