# shellcheck shell=bash
# The mouse pointer. A headless desktop has one only while a program offers it.

# move_pointer X Y
move_pointer() {
    [[ $compositor != none ]] || fail "the desktop in $directory has no screen"
    is_running pointer || start_pointer
    local size
    size=$([[ $compositor == sway ]] && output_size || echo "$(<"$run/screen")")
    echo "$1 $2 ${size%x*} ${size#*x}" >"$run/pointer"
}

start_pointer() {
    local path
    path=$(tool "$(pointer_tool)")
    stage "$path"
    rm -f "$run/pointer"
    in_desktop mkfifo -m 600 "$run/pointer"
    launch pointer
    await pointer
}

pointer_tool() {
    case $compositor in
    sway) echo pointer-wlroots ;;
    mutter) echo pointer-mutter ;;
    esac
}

# The tool holds both ends of its input, which therefore never ends.
pointer_command() {
    # shellcheck disable=SC2016  # It is the inner shell that expands them.
    command=(bash -c 'exec "$1" <>"$2"' pointer "$directory/bin/$(pointer_tool)" "$run/pointer")
}
