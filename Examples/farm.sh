#!/usr/bin/env bash
# Takes a picture and a movie of each device of a Heliograph relay, of all devices at once. farm.sh --help
set -euo pipefail

usage() {
    cat <<'EOF'
Usage: farm.sh [OPTION…] [DEVICE…]

Takes a picture and a movie of each device of a Heliograph relay, of all devices at once; of all that the relay has
where none is named.

Nothing stays behind: sessions are stopped at the end and on Ctrl-C, and what this script could not stop because it
was killed ends by itself after --ttl seconds.

  --relay URL      default: HELIOGRAPH_RELAY, else http://127.0.0.1:8420
  --output DIR     where DEVICE.png and DEVICE.mp4 go; default: here
  --seconds N      how long is recorded, s; default: 10
  --until WHAT     what the script waits for on each screen, static or changed; default: static
  --ttl N          s after which what nobody uses any more ends by itself; default: 30

A relay that wants a key gets that of HELIOGRAPH_KEY, else of the file HELIOGRAPH_KEY_FILE. SSL_CERT_FILE names the
certificate of a relay that made its own. Needs curl 7.76 and jq.
EOF
}

fail() {
    echo "farm.sh: $*" >&2
    exit 1
}

# The API key, from the environment or a file: a command line would show it to every user of the machine.
read_key() {
    local file=${HELIOGRAPH_KEY_FILE:-}
    if [[ -n ${HELIOGRAPH_KEY:-} ]]; then
        echo "$HELIOGRAPH_KEY"
    elif [[ -n $file ]]; then
        [[ -r $file ]] || fail "cannot read the key file $file"
        [[ $(stat --dereference --format=%a "$file") == ?00 ]] || fail "the key file $file is open to others: chmod 600 it"
        cat "$file"
    fi
}

# request METHOD PATH [CURL OPTION…]
request() {
    curl --silent --fail-with-body --header @<([[ -z $key ]] || echo "Authorization: Bearer $key") \
        ${SSL_CERT_FILE:+--cacert "$SSL_CERT_FILE"} --max-time 90 --request "$1" "${@:3}" "$relay$2"
}

# complain STATUS ANSWER: says why a request failed, by curl's exit status and the relay's answer.
complain() {
    local reason="no answer from $relay (curl: $1)"
    (($1 != 22)) || reason=$(jq --exit-status --raw-output .detail <<<"$2" 2>/dev/null) || reason="$relay is no relay"
    echo "${device:-farm.sh}: $reason" >&2
}

# call METHOD PATH [BODY]: prints the relay's answer.
call() {
    local answer status=0
    answer=$(request "$1" "$2" ${3:+--data "$3"}) || status=$?
    ((status == 0)) || { complain $status "$answer"; return 1; }
    echo "$answer"
}

# save PATH FILE [CURL OPTION…]: writes a response that is not JSON, until it ends.
save() {
    local status=0
    request GET "$1" --output "$2" "${@:3}" || status=$?
    ((status == 0)) || { complain $status "$(head --bytes=4096 "$2" | tr --delete '\0')"; return 1; }
}

# Everything with one device.
run() {
    local device=$1 body session
    body=$(jq --null-input --arg device "$device" --argjson ttl "$ttl" '{$device, $ttl}')
    # A running broadcast continues. The ttl stops it, not this script: others may use it too.
    call POST /screencapture/broadcast/start "$(jq '.timeout = 60' <<<"$body")" >/dev/null
    session=$(call POST /screencapture/start "$(jq --arg name "$label" '.label = $name' <<<"$body")")
    session=/screencapture/$(jq .id <<<"$session")
    call GET "$session/wait?until=$until&timeout=60" >/dev/null
    save "$session/snapshot.png?fresh=true" "$output/$device.png"
    # The movie ends with its session, and so with its last picture whole.
    save "$session/stream.mp4?join=live" "$output/$device.mp4" --max-time $((seconds + 60)) &
    # As sleep, without a process that would outlive this one.
    read -rt "$seconds" <> <(:) || true
    call POST "$session/stop" >/dev/null
    wait $!
    echo "$device: $device.png, $device.mp4"
}

# Stops what is left of this run. What it misses ends by its ttl.
clean_up() {
    local id
    trap '' INT TERM
    ((${#runs[@]} == 0)) || kill "${!runs[@]}" 2>/dev/null || true
    for id in $(call GET /screencapture 2>/dev/null | jq --arg name "$label" '.sessions[] | select(.label == $name).id'); do
        call POST "/screencapture/$id/stop" &>/dev/null || true
    done
}

relay=${HELIOGRAPH_RELAY:-http://127.0.0.1:8420} output=. seconds=10 until=static ttl=30 devices=()
while (($# > 0)); do
    case $1 in
    --relay | --output | --seconds | --until | --ttl)
        (($# > 1)) || fail "$1 needs a value: see --help"
        declare "${1#--}=$2"
        shift
        ;;
    -h | --help)
        usage
        exit
        ;;
    -*) fail "there is no option $1: see --help" ;;
    *) devices+=("$1") ;;
    esac
    shift
done
[[ $seconds =~ ^[1-9][0-9]*$ && $ttl =~ ^[1-9][0-9]*$ ]] || fail "--seconds and --ttl are whole numbers, 1 at least"
[[ $until == static || $until == changed ]] || fail "--until is static or changed"
type -P curl jq >/dev/null || fail "curl and jq are needed: apt install curl jq"
key=$(read_key)
[[ -z $key || $relay =~ ^(https://|http://(127\.0\.0\.1|localhost|\[::1\])(:|/|$)) ]] ||
    fail "$relay is not encrypted: a key is sent by https:// only"
relay=${relay%/}
mkdir -p "$output"
if ((${#devices[@]} == 0)); then
    answer=$(call GET /screencapture/broadcasts)
    mapfile -t devices < <(jq --raw-output '.broadcasts[].device' <<<"$answer")
fi

# Sessions of this run go by it.
label="farm.sh $HOSTNAME $$"
declare -A runs=()
trap clean_up EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
for device in "${devices[@]}"; do
    run "$device" &
    runs[$!]=$device
done
failures=0
for run in "${!runs[@]}"; do wait "$run" || failures=1; done
runs=()
exit $failures
