// Counts the allocations of a process by thread. A library to preload.
//
// With ALLOCATION_COUNTS in the environment, a folder, FOLDER/PID is a file with one record for each thread that a
// process may have. Later threads share the last record. A record has:
//
// - the thread's id, u64
// - its calls of malloc, calloc, realloc, aligned_alloc, posix_memalign and memalign, u64
// - the bytes that they asked for, u64
// - its calls of free, u64
// - its name, 32 bytes
//
// The file is shared memory, so reading it disturbs nothing. The C library's own calls of its allocator do not count.

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 128 };

struct record {
    _Atomic uint64_t thread, calls, bytes, frees;
    char name[32];
};

// The C library's own, which it exports for this purpose.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static struct record *records;
static atomic_int used;
static _Thread_local struct record *own __attribute__((tls_model("initial-exec")));

__attribute__((constructor)) static void open_counts(void) {
    const char *folder = getenv("ALLOCATION_COUNTS");
    char name[4096];
    if (!folder || snprintf(name, sizeof name, "%s/%d", folder, (int)getpid()) >= (int)sizeof name) return;
    const int file = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return;
    if (ftruncate(file, sizeof(struct record) * THREADS) == 0) {
        void *memory = mmap(NULL, sizeof(struct record) * THREADS, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (memory != MAP_FAILED) records = memory;
    }
    close(file);
}

static struct record *take_record(void) {
    const int index = atomic_fetch_add(&used, 1);
    struct record *record = &records[index < THREADS ? index : THREADS - 1];
    record->thread = (uint64_t)syscall(SYS_gettid);
    return own = record;
}

static void count(size_t bytes) {
    if (!records) return;
    struct record *record = own ? own : take_record();
    // A thread is named after it has begun.
    if ((record->calls & 63) < 2) prctl(PR_GET_NAME, record->name);
    record->calls++;
    record->bytes += bytes;
}

void *malloc(size_t size) {
    count(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count(size);
    return __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    count(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **memory, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || alignment & (alignment - 1) || alignment == 0) return EINVAL;
    void *result = memalign(alignment, size);
    if (!result) return ENOMEM;
    *memory = result;
    return 0;
}

void free(void *memory) {
    if (records && memory) (own ? own : take_record())->frees++;
    __libc_free(memory);
}
