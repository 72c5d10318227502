// Stops one thread of a process while it runs code of a library. The process's other threads go on. From outside, this
// looks like an encoder that hangs.
//
//     thread-stop PID THREAD LIBRARY
//
// PID      of the process
// THREAD   the thread's name, as in /proc/PID/task/*/comm
// LIBRARY  part of the library's file name, such as libx264: there the thread holds no lock that others wait for
//
// Waits until there is such a thread, and prints "stopped" once it stands still. Lets the thread go on when standard
// input closes or a signal ends this program. Ends with the thread. Needs the right to trace the process (ptrace(2)).

#define _GNU_SOURCE
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { EXIT_USAGE = 64, ATTEMPTS = 100000, THREAD_WAIT_MS = 30000 };

static _Noreturn void fail(const char *what) {
    fprintf(stderr, "thread-stop: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static void pause_for(long microseconds) {
    struct timespec time = {.tv_nsec = microseconds * 1000};
    nanosleep(&time, NULL);
}

// The thread of that name; 0: there is none.
static pid_t find_thread(const char *process, const char *name) {
    char path[512], line[64];
    snprintf(path, sizeof path, "/proc/%s/task", process);
    DIR *threads = opendir(path);
    if (!threads) fail(path);
    pid_t found = 0;
    for (struct dirent *entry; !found && (entry = readdir(threads));) {
        snprintf(path, sizeof path, "/proc/%s/task/%s/comm", process, entry->d_name);
        FILE *file = fopen(path, "r");
        if (!file) continue;
        if (fgets(line, sizeof line, file)) {
            line[strcspn(line, "\n")] = 0;
            if (strcmp(line, name) == 0) found = (pid_t)atoi(entry->d_name);
        }
        fclose(file);
    }
    closedir(threads);
    return found;
}

// Whether the code at an address is that library's.
static bool is_in_library(const char *process, const char *library, uint64_t address) {
    char line[1024];
    snprintf(line, sizeof line, "/proc/%s/maps", process);
    FILE *file = fopen(line, "r");
    if (!file) return false;
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        unsigned long begin, end;
        char permissions[8];
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, permissions) != 3) continue;
        const char *name = strrchr(line, '/');
        found = begin <= address && address < end && permissions[2] == 'x' && name && strstr(name, library);
    }
    fclose(file);
    return found;
}

static uint64_t instruction(pid_t thread) {
    struct user_regs_struct registers;
    struct iovec part = {.iov_base = &registers, .iov_len = sizeof registers};
    if (ptrace(PTRACE_GETREGSET, thread, (void *)NT_PRSTATUS, &part) != 0) fail("the thread's registers");
#if defined(__x86_64__)
    return registers.rip;
#else
    return registers.pc;
#endif
}

// Waits for the thread's next stop. Ends the program with the thread.
static int await_stop(pid_t thread) {
    int status;
    if (waitpid(thread, &status, __WALL) != thread) fail("the thread");
    if (!WIFSTOPPED(status)) exit(EXIT_SUCCESS);
    return status;
}

// Stops the thread where it runs the library's code.
static void stop_within(pid_t thread, const char *process, const char *library) {
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        if (ptrace(PTRACE_INTERRUPT, thread, NULL, NULL) != 0) fail("the thread does not stop");
        int status = await_stop(thread);
        // A signal of the process's own stops it too, and is handed on.
        while (status >> 16 != PTRACE_EVENT_STOP) {
            ptrace(PTRACE_CONT, thread, NULL, (void *)(intptr_t)WSTOPSIG(status));
            status = await_stop(thread);
        }
        if (is_in_library(process, library, instruction(thread))) return;
        ptrace(PTRACE_CONT, thread, NULL, NULL);
        // Not in step with the pictures.
        pause_for(100 + attempt % 37 * 10);
    }
    errno = ETIMEDOUT;
    fail("the thread is never in that library");
}

int main(int count, char **arguments) {
    if (count != 4) {
        fprintf(stderr, "thread-stop PID THREAD LIBRARY\n");
        return EXIT_USAGE;
    }
    const char *process = arguments[1], *library = arguments[3];
    sigset_t signals;
    sigemptyset(&signals);
    for (const int *signal = (int[]){SIGCHLD, SIGTERM, SIGINT, SIGHUP, 0}; *signal; signal++) sigaddset(&signals, *signal);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    struct pollfd events[] = {
        {.fd = signalfd(-1, &signals, SFD_CLOEXEC), .events = POLLIN},
        {.fd = STDIN_FILENO, .events = POLLIN},
    };

    pid_t thread = 0;
    for (int waited = 0; !(thread = find_thread(process, arguments[2])); waited++) {
        errno = ESRCH;
        if (waited >= THREAD_WAIT_MS) fail(arguments[2]);
        if (poll(events, 2, 1) > 0) return EXIT_SUCCESS;
    }
    if (ptrace(PTRACE_SEIZE, thread, NULL, NULL) != 0) fail("the thread cannot be traced");
    stop_within(thread, process, library);
    puts("stopped");
    fflush(stdout);

    while (poll(events, 2, -1) >= 0 || errno == EINTR) {
        struct signalfd_siginfo signal = {0};
        bool has_signal = events[0].revents && read(events[0].fd, &signal, sizeof signal) == sizeof signal;
        if (events[1].revents || (has_signal && signal.ssi_signo != SIGCHLD)) {
            ptrace(PTRACE_DETACH, thread, NULL, NULL);
            return EXIT_SUCCESS;
        }
        // A thread that has ended stays until its tracer has taken note, and its process with it.
        int status;
        if (waitpid(thread, &status, __WALL | WNOHANG) == thread && !WIFSTOPPED(status)) return EXIT_SUCCESS;
    }
    fail("poll");
}
