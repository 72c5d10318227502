# shellcheck shell=bash
# Tests/Desktop/desktop start. Three processes, so that every way to end leads to the same orderly end:
#
#     supervisor   the foreground process: waits for a signal, its parent's end, the attendant's end
#       keeper     outlives the supervisor and ends everything else
#       attendant  brings the desktop up and reports parts that end; ended like any part

# MARK: - Supervisor

command_start() {
    local place="" compositor=sway size=1280x720 hertz=60 client="" session_manager=true asks=false remote=false until_stdin_closes=false
    parse_start "$@"
    umask 022
    check_requirements "$compositor"
    locate "$place"
    # The longest name of a socket in the runtime directory; the address of a socket has 107 bytes.
    local longest=$run/pipewire-0-manager
    ((${#longest} <= 107)) || fail "DIR is $((${#longest} - 107)) characters too long for Unix sockets: $directory"
    claim
    start_keeper
    supervise
}

parse_start() {
    while (($# > 0)); do
        case $1 in
        --until-stdin-closes) until_stdin_closes=true ;;
        --no-session-manager) session_manager=false ;;
        --ask) asks=true ;;
        --remote) remote=true ;;
        --compositor | --size | --refresh | --client)
            (($# >= 2)) || usage_error "$1 needs a value"
            case $1 in
            --compositor) [[ $2 =~ ^(sway|mutter|xvfb|none)$ ]] && compositor=$2 || usage_error "there is no compositor '$2'" ;;
            --size) check_size "$2" && size=$2 ;;
            --refresh) [[ $2 =~ ^[1-9][0-9]{0,2}(\.[0-9]+)?$ ]] && hertz=$2 || usage_error "'$2' is not a rate in Hz" ;;
            --client) [[ $2 =~ ^(counter|none)$ ]] && client=$2 || usage_error "there is no client '$2'" ;;
            esac
            shift
            ;;
        -*) usage_error "unknown option '$1'" ;;
        *) [[ -z $place ]] && place=$1 || usage_error "unexpected argument '$1'" ;;
        esac
        shift
    done
    [[ -n $place ]] || usage_error "start needs DIR"
    $session_manager || [[ $compositor != sway ]] || usage_error "sway's portal does not work without a session manager"
    ! $asks || [[ $compositor == sway ]] || usage_error "only sway's portal asks"
    ! $remote || [[ $compositor == sway ]] || usage_error "only sway's portal lets programs act"
    ! $remote || ! $asks || usage_error "--ask and --remote exclude each other"
    ! $remote || /usr/bin/python3 -c 'import dbusmock' 2>/dev/null ||
        fail "missing: dbusmock for python3; Scripts/packages desktop installs it"
    [[ $compositor != none || $client != counter ]] || usage_error "the counter client needs a compositor"
    [[ $compositor != none ]] || client=none
    [[ -n $client ]] || client=counter
}

# Takes the directory for this desktop, or refuses.
claim() {
    local owner
    mkdir -p "$directory"
    [[ -w $directory ]] || fail "$directory is not writable"
    until mkdir -m 700 "$run" 2>/dev/null; do
        if [[ ! -e $run/id ]]; then
            rmdir "$run" 2>/dev/null || fail "$run is in the way: it belongs to no desktop"
            continue
        fi
        read -r owner _ <"$run/id" || true
        ! is_alive "${owner:-none}" || fail "a desktop is up in $directory already, process $owner"
        end_desktop  # Its supervisor and its keeper were both killed.
    done
    id="$$ $directory $EPOCHREALTIME"
    echo "$id" >"$run/id"
}

# The keeper waits for the other end of its pipe to close, which takes no more than the death of
# the supervisor. It is in a process group of its own, out of reach of a signal to the group.
start_keeper() {
    set -m
    coproc KEEPER {
        trap '' INT TERM HUP QUIT PIPE
        read -r || true
        end_desktop
    }
    set +m
    keeper=$KEEPER_PID keeper_input=${KEEPER[1]}
    trap leave EXIT
    trap 'exit 0' INT TERM HUP
}

# Nothing but waiting, since a trap may come at any moment.
supervise() {
    local attendant parent="" stdin="" ended="" status=0
    member setsid "$here/desktop" attend "$directory" "$compositor" "$size" "$hertz" "$client" "$session_manager" "$asks" "$remote" </dev/null &
    attendant=$!
    if ((PPID > 1)); then
        # A poll, since a parent-death signal comes already when the parent's thread ends.
        member tail -s 0.5 "--pid=$PPID" -f /dev/null >/dev/null 2>&1 &
        parent=$!
    fi
    if $until_stdin_closes; then
        exec {input}<&0  # A background command's own input is empty.
        member cat <&"$input" >/dev/null 2>&1 &
        stdin=$!
    fi
    wait -n -p ended || status=$?
    case ${ended:-$keeper} in
    "$attendant" | "$keeper") exit $((status > 0 ? status : 1)) ;;
    "$parent" | "$stdin") exit 0 ;;
    esac
}

member() { exec env "HELIOGRAPH_DESKTOP=$id" "$@"; }

leave() {
    local status=$?
    trap '' INT TERM HUP
    exec {keeper_input}>&-
    wait "$keeper" || true
    [[ ! -e $run/id ]] || end_desktop  # The keeper itself was killed.
    exit "$status"
}

# MARK: - Attendant

command_attend() {
    locate "$1"
    choose "$2"
    asks=$7 remote=$8
    become_desktop_user
    prepare
    configure "$3" "$4" "$6"
    ((${#as_user[@]} == 0)) || chown -R nobody: "$run" "$directory/home"
    "bring_up_$compositor" "$5"
    write_environment
    echo ready
    attend
}

become_desktop_user() { ((EUID == 0)) && become nobody || become "$(id -un)"; }

prepare() {
    mkdir -p "$logs" "$pids" "$directory/home"
    rm -f "$logs"/*.log
    if ((${#as_user[@]} > 0)) && ! "${as_user[@]}" test -x "$directory"; then
        chmod a+x "$directory"  # Such as a root's fresh mktemp -d.
        "${as_user[@]}" test -x "$directory" || fail "the user nobody cannot enter $directory; choose one below /tmp"
    fi
    local tools=() name path
    [[ $compositor == none ]] || tools+=("$(client_program)")
    [[ $compositor != sway ]] || tools+=(xdpw-shm-preload)
    for name in "${tools[@]}"; do
        path=$(tool "$name")
        stage "$path"
    done
}

# As much as possible at once, or the waits add up to most of the time. PipeWire needs the bus, to
# know the portal when it connects and to keep those whom it lets in to the screen they chose.
bring_up_sway() {
    launch bus
    launch sway
    await bus
    launch permission-store
    launch pipewire
    await pipewire
    launch wireplumber
    await sway
    [[ $1 == none ]] || launch client
    launch "$(portal_backend)"
    await "$(portal_backend)" permission-store
    launch portal
    await portal wireplumber
    [[ $1 == none ]] || await client
}

bring_up_mutter() {
    launch bus
    await bus
    launch mutter
    launch pipewire
    await pipewire
    ! has_part wireplumber || launch wireplumber
    await mutter
    [[ $1 == none ]] || launch client
    ! has_part wireplumber || await wireplumber
    [[ $1 == none ]] || await client
}

bring_up_xvfb() {
    launch xvfb
    await xvfb
    choose xvfb  # The display has its number now.
    become_desktop_user
    [[ $1 == none ]] || launch client
    [[ $1 == none ]] || await client
}

bring_up_none() {
    launch bus
    await bus
    launch pipewire
    await pipewire
    has_part wireplumber || return 0
    launch wireplumber
    await wireplumber
}

write_environment() {
    local pair
    for pair in "${environment[@]}"; do
        echo "export ${pair%%=*}='${pair#*=}'"
    done >"$directory/env.new"
    mv "$directory/env.new" "$directory/env"
}

# A part that ends by itself is reported and stays away: tests kill parts.
attend() {
    local ended status
    # Parts are ended by the keeper; staying until they are gone leaves no zombies to a lazy init.
    trap 'trap "" TERM; exec 2>/dev/null; wait; exit 0' TERM
    while true; do
        status=0
        wait -n -p ended 2>/dev/null || status=$?
        if [[ -n ${ended:-} ]]; then report_end "$ended" "$status"; else sleep 1; fi
    done
}

report_end() {
    local file
    [[ -e $directory/env ]] || return 0  # The desktop is being ended.
    for file in "$pids"/*; do
        [[ -e $file && $(<"$file") == "$1" ]] || continue
        echo "desktop: ${file##*/} ended with status $2; see $logs/${file##*/}.log" >&2
        rm -f "$file"
    done
}

# MARK: - The end

# Ends every process of this desktop and removes what it had on disk but logs and staged programs.
end_desktop() {
    local id members=() rounds quiet=0
    id=$(<"$run/id")
    rm -f "$directory/env"
    for ((rounds = 0; rounds < 200 && quiet < 2; rounds++)); do
        mapfile -t members < <(members_of "$id")
        if ((${#members[@]} == 0)); then
            quiet=$((quiet + 1))  # Twice, since a process may be between fork and exec.
        elif ((rounds >= 40)); then
            kill -KILL "${members[@]}" 2>/dev/null || true
        elif ((rounds % 10 == 0)); then  # Again, for one that was too young to heed it.
            kill -TERM "${members[@]}" 2>/dev/null || true
        fi
        ((quiet == 2)) || sleep 0.05
    done
    ((quiet == 2)) || echo "desktop: still running: ${members[*]}" >&2
    rm -rf --one-file-system "$run" "$directory/home" "$directory"/env{,.new}
}

members_of() {
    grep -lsFxz "HELIOGRAPH_DESKTOP=$1" /proc/[0-9]*/environ | grep -o '[0-9]*' || true
}
