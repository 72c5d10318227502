# shellcheck shell=bash
# A client that logs what pointer, keyboard and touch do to the screen.

input_start() {
    [[ $compositor != none ]] || fail "the desktop in $directory has no screen"
    is_running input && fail "the input client is running already"
    local path
    path=$(tool "$(input_tool)")
    stage "$path"
    rm -f "$run/input.log"
    launch input
    await input
}

input_stop() { end_part input TERM; }

input_tool() { [[ $compositor == xvfb ]] && echo input-log-x11 || echo input-log-wayland; }

input_command() {
    # shellcheck disable=SC2016  # It is the inner shell that expands them.
    command=(bash -c 'exec "$1" >"$2"' input "$directory/bin/$(input_tool)" "$run/input.log")
}
