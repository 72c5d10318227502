#define _GNU_SOURCE
#include "CLinux.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
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

int clinux_launch(char *const arguments[], char *const environment[], const char *directory, pid_t *process) {
    posix_spawn_file_actions_t actions;
    int result = posix_spawn_file_actions_init(&actions);
    if (result != 0) return result;
    posix_spawnattr_t attributes;
    result = posix_spawnattr_init(&attributes);
    if (result != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return result;
    }
    // The program must not inherit blocked or ignored signals.
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (directory) result = posix_spawn_file_actions_addchdir_np(&actions, directory);
    if (result == 0) result = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    if (result == 0) result = posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    if (result == 0) result = posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
    if (result == 0) result = posix_spawn_file_actions_addclosefrom_np(&actions, 3);
    if (result == 0) result = posix_spawnp(process, arguments[0], &actions, &attributes, arguments, environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return result;
}

int clinux_connect_local(const char *path, int milliseconds) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(address.sun_path, path);
    int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return -1;
    struct timeval limit = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
    if (setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0 &&
        connect(descriptor, (struct sockaddr *)&address, sizeof address) == 0)
        return descriptor;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return -1;
}

const int clinux_no_signal = MSG_NOSIGNAL;

pid_t clinux_peer(int socket) {
    struct ucred peer;
    socklen_t length = sizeof peer;
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 ? peer.pid : -1;
}

/// The state of a socket that is open on both sides, TCP_ESTABLISHED in the kernel. Others have no owner any more.
#define ESTABLISHED 1

/// Fills in the connection to look for; 0 unless both addresses are of IPv4 or of IPv6.
static int describe(struct inet_diag_req_v2 *request, const struct sockaddr *source,
                    const struct sockaddr *destination) {
    if (source->sa_family != destination->sa_family) return 0;
    request->sdiag_family = (uint8_t)source->sa_family;
    request->sdiag_protocol = IPPROTO_TCP;
    request->idiag_states = 1u << ESTABLISHED;
    request->id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
    request->id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    if (source->sa_family == AF_INET) {
        struct sockaddr_in from, to;
        memcpy(&from, source, sizeof from);
        memcpy(&to, destination, sizeof to);
        request->id.idiag_sport = from.sin_port;
        request->id.idiag_dport = to.sin_port;
        memcpy(request->id.idiag_src, &from.sin_addr, sizeof from.sin_addr);
        memcpy(request->id.idiag_dst, &to.sin_addr, sizeof to.sin_addr);
        return 1;
    }
    if (source->sa_family != AF_INET6) return 0;
    struct sockaddr_in6 from, to;
    memcpy(&from, source, sizeof from);
    memcpy(&to, destination, sizeof to);
    request->id.idiag_sport = from.sin6_port;
    request->id.idiag_dport = to.sin6_port;
    memcpy(request->id.idiag_src, &from.sin6_addr, sizeof from.sin6_addr);
    memcpy(request->id.idiag_dst, &to.sin6_addr, sizeof to.sin6_addr);
    return 1;
}

int clinux_tcp_socket(const struct sockaddr *source, const struct sockaddr *destination, uint32_t *user,
                      uint32_t *inode) {
    struct {
        struct nlmsghdr header;
        struct inet_diag_req_v2 request;
    } question = {.header = {.nlmsg_len = sizeof question, .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                             .nlmsg_flags = NLM_F_REQUEST}};
    if (!describe(&question.request, source, destination)) return -1;
    int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (netlink < 0) return CLINUX_CANNOT_ASK;
    // The kernel answers at once; a limit all the same.
    struct timeval limit = {.tv_sec = 1};
    union {
        struct nlmsghdr header;
        char bytes[4096];
    } answer;
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    ssize_t length = -1;
    if (setsockopt(netlink, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0
        && sendto(netlink, &question, sizeof question, 0, (struct sockaddr *)&kernel, sizeof kernel) >= 0)
        length = recv(netlink, &answer, sizeof answer, 0);
    close(netlink);
    if (length < (ssize_t)sizeof answer.header || !NLMSG_OK(&answer.header, (size_t)length)) return CLINUX_CANNOT_ASK;
    if (answer.header.nlmsg_type == NLMSG_ERROR) {
        struct nlmsgerr error;
        if (answer.header.nlmsg_len < NLMSG_LENGTH(sizeof error)) return CLINUX_CANNOT_ASK;
        memcpy(&error, NLMSG_DATA(&answer.header), sizeof error);
        // Only this error says that there is no such socket. Others come from kernels without the means to look.
        if (error.error != -ENOENT) return CLINUX_CANNOT_ASK;
        return -1;
    }
    struct inet_diag_msg found;
    if (answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY || answer.header.nlmsg_len < NLMSG_LENGTH(sizeof found))
        return CLINUX_CANNOT_ASK;
    memcpy(&found, NLMSG_DATA(&answer.header), sizeof found);
    // The kernel may find a listener instead, or a socket that its process has closed, which counts as root's.
    if (found.idiag_state != ESTABLISHED || found.id.idiag_dport != question.request.id.idiag_dport
        || found.id.idiag_sport != question.request.id.idiag_sport)
        return -1;
    *user = found.idiag_uid;
    *inode = found.idiag_inode;
    return 0;
}
