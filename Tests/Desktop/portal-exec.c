// Runs a program with a screencast of the desktop's portal, like an application that has requested one:
//
//     portal-exec PROGRAM ARGUMENT…
//
// In an argument, {fd} becomes the descriptor of PipeWire's socket and {node} the stream's node. The process becomes
// PROGRAM. A child holds the portal's session while PROGRAM lives. The portal must not ask anybody.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <systemd/sd-bus.h>

enum { EXIT_USAGE = 64, ANSWER_SECONDS = 15 };

static const char portal[] = "org.freedesktop.portal.Desktop";
static const char path[] = "/org/freedesktop/portal/desktop";
static const char screencast[] = "org.freedesktop.portal.ScreenCast";

static struct {
    sd_bus *bus;
    char *session;
    uint32_t node;
    int is_answered;
} request;

static _Noreturn void fail(const char *what, int error) {
    fprintf(stderr, "portal-exec: %s: %s\n", what, strerror(error < 0 ? -error : error));
    exit(EXIT_FAILURE);
}

static void check(const char *what, int result) {
    if (result < 0) fail(what, result);
}

// MARK: - Answers

static int read_streams(sd_bus_message *message) {
    int result = sd_bus_message_enter_container(message, 'v', "a(ua{sv})");
    if (result >= 0) result = sd_bus_message_enter_container(message, 'a', "(ua{sv})");
    if (result >= 0) result = sd_bus_message_enter_container(message, 'r', "ua{sv}");
    if (result >= 0) result = sd_bus_message_read(message, "u", &request.node);
    return result;
}

static int answered(sd_bus_message *message, void *data, sd_bus_error *error) {
    (void)data, (void)error;
    uint32_t code;
    check("answer", sd_bus_message_read(message, "u", &code));
    if (code != 0) fail("the portal refuses", EACCES);
    request.is_answered = 1;
    check("answer", sd_bus_message_enter_container(message, 'a', "{sv}"));
    while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
        const char *key, *handle;
        check("answer", sd_bus_message_read(message, "s", &key));
        if (strcmp(key, "streams") == 0) {
            check("streams", read_streams(message));
            return 0;
        }
        if (strcmp(key, "session_handle") == 0) {
            check("session", sd_bus_message_read(message, "v", "s", &handle));
            request.session = strdup(handle);
        } else {
            check("answer", sd_bus_message_skip(message, "v"));
        }
        check("answer", sd_bus_message_exit_container(message));
    }
    return 0;
}

static void wait_for_answer(void) {
    while (!request.is_answered) {
        const int handled = sd_bus_process(request.bus, NULL);
        check("bus", handled);
        if (handled == 0 && sd_bus_wait(request.bus, ANSWER_SECONDS * 1000000ull) == 0) fail("no answer", ETIMEDOUT);
    }
    request.is_answered = 0;
}

// MARK: - Session

static sd_bus_message *begin(const char *method) {
    sd_bus_message *message;
    check(method, sd_bus_message_new_method_call(request.bus, &message, portal, path, screencast, method));
    return message;
}

static void call(sd_bus_message *message) {
    sd_bus_error error = SD_BUS_ERROR_NULL;
    const int result = sd_bus_call(request.bus, message, 0, &error, NULL);
    if (result < 0) fail(error.message ? error.message : "call", result);
    sd_bus_message_unref(message);
    wait_for_answer();
}

// Returns the descriptor of PipeWire's socket.
static int open_screencast(void) {
    check("no session bus", sd_bus_open_user(&request.bus));
    check("signals", sd_bus_match_signal(request.bus, NULL, portal, NULL, "org.freedesktop.portal.Request", "Response", answered, NULL));

    sd_bus_message *message = begin("CreateSession");
    check("arguments", sd_bus_message_append(message, "a{sv}", 1, "session_handle_token", "s", "bench"));
    call(message);
    message = begin("SelectSources");
    check("arguments", sd_bus_message_append(message, "oa{sv}", request.session, 1, "types", "u", 1u));
    call(message);
    message = begin("Start");
    check("arguments", sd_bus_message_append(message, "osa{sv}", request.session, "", 0));
    call(message);

    sd_bus_message *reply;
    sd_bus_error error = SD_BUS_ERROR_NULL;
    int socket;
    check("OpenPipeWireRemote", sd_bus_call_method(request.bus, portal, path, screencast, "OpenPipeWireRemote", &error, &reply,
                                                   "oa{sv}", request.session, 0));
    check("OpenPipeWireRemote", sd_bus_message_read(reply, "h", &socket));
    return fcntl(socket, F_DUPFD_CLOEXEC, 3);
}

// MARK: - Between the processes

static void give(int channel, uint32_t node, int socket) {
    struct iovec bytes = {&node, sizeof node};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof socket)] = {0};
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    *header = (struct cmsghdr){.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof socket)};
    memcpy(CMSG_DATA(header), &socket, sizeof socket);
    if (sendmsg(channel, &message, 0) < 0) fail("sendmsg", errno);
}

static int take(int channel, uint32_t *node) {
    struct iovec bytes = {node, sizeof *node};
    int socket;
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof socket)];
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    if (recvmsg(channel, &message, 0) != sizeof *node) exit(EXIT_FAILURE);  // The child has said why.
    memcpy(&socket, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof socket);
    return socket;
}

static _Noreturn void hold(int channel) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int socket = open_screencast();
    give(channel, request.node, socket);
    while (sd_bus_wait(request.bus, UINT64_MAX) >= 0) {
        while (sd_bus_process(request.bus, NULL) > 0) {}
    }
    exit(EXIT_SUCCESS);
}

// The argument with its first NAME replaced by the number.
static char *replaced(char *argument, const char *name, uint32_t number) {
    char *place = strstr(argument, name), *result;
    if (!place) return argument;
    if (asprintf(&result, "%.*s%u%s", (int)(place - argument), argument, number, place + strlen(name)) < 0) fail("memory", ENOMEM);
    return result;
}

int main(int count, char **arguments) {
    if (count < 2) {
        fputs("usage: portal-exec PROGRAM ARGUMENT…\n", stderr);
        return EXIT_USAGE;
    }
    int channel[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, channel) < 0) fail("socketpair", errno);
    const pid_t child = fork();
    if (child < 0) fail("fork", errno);
    if (child == 0) {
        close(channel[0]);
        hold(channel[1]);
    }
    close(channel[1]);
    uint32_t node;
    const int socket = take(channel[0], &node);
    for (int i = 2; i < count; i++) {
        arguments[i] = replaced(replaced(arguments[i], "{fd}", (uint32_t)socket), "{node}", node);
    }
    execvp(arguments[1], arguments + 1);
    fail(arguments[1], errno);
}
