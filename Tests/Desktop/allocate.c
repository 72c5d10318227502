// Allocates and frees at an even pace, as a check of allocation-preload.c:
//
//     allocate CALLS BYTES SECONDS
//
// Prints "begin", calls malloc CALLS times for BYTES each, spread over SECONDS, and prints "end". Then stays until its
// input ends.

#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int count, char **arguments) {
    if (count != 4) return 64;
    const long calls = atol(arguments[1]), bytes = atol(arguments[2]), seconds = atol(arguments[3]);
    if (write(STDOUT_FILENO, "begin\n", 6) != 6) return 1;
    for (long call = 0; call < calls; call++) {
        // Written to, so that no compiler leaves it out.
        volatile char *memory = malloc((size_t)bytes);
        if (!memory) return 1;
        memory[0] = 1;
        free((void *)memory);
        usleep((useconds_t)(seconds * 1000000 / calls));
    }
    if (write(STDOUT_FILENO, "end\n", 4) != 4) return 1;
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {}
    return 0;
}
