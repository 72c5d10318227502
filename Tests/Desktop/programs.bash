# shellcheck shell=bash
# The compiled tools, and the copies of programs that the desktop's user can run.

# tool NAME: prints the path of an up-to-date build.
tool() {
    local own=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/heliograph shared cache
    shared=$repository/.build-desktop
    for cache in "$shared" "$own"; do
        is_fresh "$cache/$1" "$1" && break
        mkdir -p "$cache" 2>/dev/null && [[ -w $cache ]] && {
            compile "$1" "$cache"
            break
        }
    done
    [[ -x $cache/$1 ]] || fail "cannot write to $shared or $own"
    echo "$cache/$1"
}

is_fresh() {
    local built=$1 source
    [[ -x $built ]] || return 1
    for source in "$tools_source/$2.c" "$tools_source"/*.h "$(pattern_headers)"/*.h "$tools_source/programs.bash"; do
        [[ $source -nt $built ]] && return 1
    done
    return 0
}

pattern_headers() { echo "$repository/Sources/CCounterPattern/include"; }

# compile NAME CACHE: beside the result first, so that no one ever runs half a file.
compile() {
    local work arguments flags
    work=$(mktemp -d "$2/$1.XXXXXX")
    arguments=(-std=c11 -O2 -Wall -Wextra -Werror "-I$(pattern_headers)" "-I$work" -o "$work/$1" "$tools_source/$1.c")
    case $1 in
    counter-client | input-log-wayland)
        local protocol
        protocol=$(pkg-config --variable=pkgdatadir wayland-protocols)/stable/xdg-shell/xdg-shell.xml
        wayland-scanner client-header "$protocol" "$work/xdg-shell-client-protocol.h"
        wayland-scanner private-code "$protocol" "$work/xdg-shell-protocol.c"
        arguments+=("$work/xdg-shell-protocol.c" -lwayland-client)
        [[ $1 != input-log-wayland ]] || arguments+=(-lxkbcommon)
        ;;
    input-log-x11)
        read -ra flags < <(pkg-config --cflags --libs xcb xcb-xkb xkbcommon xkbcommon-x11)
        arguments+=("${flags[@]}")
        ;;
    counter-watch-x11)
        read -ra flags < <(pkg-config --cflags --libs xcb)
        arguments+=("${flags[@]}")
        ;;
    counter-x11)
        read -ra flags < <(pkg-config --cflags --libs xcb xcb-shm)
        arguments+=("${flags[@]}")
        ;;
    beep | counter-node | drift-driver)
        read -ra flags < <(pkg-config --cflags --libs libpipewire-0.3)
        arguments+=("${flags[@]}" -lm)
        ;;
    opus-capture)
        read -ra flags < <(pkg-config --cflags --libs libpipewire-0.3)
        arguments+=("${flags[@]}" -lopus)
        ;;
    opus-loop) arguments+=(-lopus -lm) ;;
    pointer-wlroots) arguments+=(-lwayland-client) ;;
    counter-watch-wayland)
        arguments+=("-I$repository/Sources/CWayland/include" "$repository/Sources/CWayland/CWayland.c" -lwayland-client)
        ;;
    pointer-mutter | portal-exec)
        read -ra flags < <(pkg-config --cflags --libs libsystemd)
        arguments+=("${flags[@]}")
        ;;
    xdpw-shm-preload | wall-clock-preload | allocation-preload) arguments+=(-shared -fPIC -ldl) ;;
    esac
    if ! "$(c_compiler)" "${arguments[@]}" >&2; then
        rm -rf "$work"
        fail "$1 does not compile; Scripts/packages desktop installs what it needs"
    fi
    mv -f "$work/$1" "$2/$1"
    rm -rf "$work"
}

c_compiler() {
    local compiler
    for compiler in ${CC:-} cc gcc clang; do
        if command -v "$compiler"; then return; fi
    done
    fail "no C compiler; Scripts/packages desktop installs one"
}

# stage PROGRAM…: copies programs, and those of their libraries that a Swift toolchain or build
# brings, to DIR/bin. The desktop's user may be unable to enter the folders they come from.
stage() {
    local program path library
    mkdir -p "$directory/bin"
    for program in "$@"; do
        path=$(type -P -- "$program") || fail "no such program: $program"
        stage_file "$path"
        while read -r library; do
            stage_file "$library"
        done < <(ldd "$path" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// && $3 !~ /^\/(usr|lib|lib64)\// { print $3 }')
    done
}

# Modification time and size tell whether a copy is up to date. The copy is renamed into place
# because a program may be running from the old one.
stage_file() {
    local copy=$directory/bin/${1##*/}
    [[ $1 -ef $copy ]] && return
    [[ -e $copy && $(stat -Lc '%s %.Y' "$1") == "$(stat -c '%s %.Y' "$copy")" ]] && return
    cp -L --preserve=timestamps --reflink=auto -- "$1" "$copy.$$"
    chmod 755 "$copy.$$"
    mv -f "$copy.$$" "$copy"
}
