# docs/reference/command-line.md, from --experimental-dump-help of the programs. $sections is sections.json.

def escaped: gsub("\\|"; "\\|");

# Lines of at most 120 columns.
def wrapped:
    reduce (split(" ")[] | select(. != "")) as $word ([];
        if length > 0 and (.[-1] | length) + 1 + ($word | length) <= 120 then .[-1] += " " + $word else . + [$word] end)
    | join("\n");

# A discussion: lines that are indented are code.
def text:
    . // "" | split("\n") | reduce .[] as $line ([];
        if $line == "" then . + [{kind: "", lines: []}]
        else (if $line | startswith("  ") then "code" else "prose" end) as $kind
            | if length > 0 and .[-1].kind == $kind then .[-1].lines += [$line] else . + [{kind: $kind, lines: [$line]}] end
        end)
    | map(if .kind == "prose" then .lines | join(" ") | wrapped
          elif .kind == "code" then .lines | map("  " + .) | join("\n")
          else empty end)
    | .[] | ., "";

def spelled: if .kind == "long" then "--\(.name)" else "-\(.name)" end;

def placeholder: if .kind == "flag" then "" else " <\(.valueName // "value")>" end;

def name:
    if .kind == "positional" then "<\(.valueName)>"
    else ([.names[] | spelled] | sort_by(-length) | join(", ")) + placeholder end;

def meaning:
    [
        (.abstract // "" | gsub("\n"; " ")),
        (if .allValues and .kind != "flag" then "Values: " + (.allValues | join(", ")) + "." else empty end),
        (if .defaultValue then "Default: " + .defaultValue + "." else empty end)
    ] | map(select(. != "")) | join(" ");

# The options of all commands that call a relay.
def shared: ["relay", "fingerprint", "key-file"];
def longName: [(.names // [])[] | select(.kind == "long") | .name][0] // "";

def shown: [(.arguments // [])[] | select(.shouldDisplay) | select(longName | IN("help", "version") | not)];

# The shared options of a command with these arguments. One that has not all of them has options of its own.
def relayOptions: if shared - map(longName) == [] then map(select(longName | IN(shared[]))) else [] end;

def rows: "| argument | meaning |", "|---|---|", (.[] | "| `\(name | escaped)` | \(meaning | escaped) |"), "";

def subcommands: [(.subcommands // [])[] | select(.shouldDisplay and .commandName != "help")];

def tree($name): subcommands[] | "\($name) \(.commandName)" as $full | {name: $full, command: .}, tree($full);

def synopsis($name):
    "    " + ([$name,
        (if any(.[]; .kind != "positional" and .isOptional) then "[<options>]" else empty end),
        (.[] | select(.kind == "positional") | if .isOptional then "[<\(.valueName)>]" else "<\(.valueName)>" end),
        (.[] | select(.kind != "positional" and (.isOptional | not)) | "--\(longName)\(placeholder)")] | join(" "));

def command:
    .name as $name | .command as $command | ($command | shown) as $all
    | ($all | relayOptions) as $relay
    | ($all - $relay) as $own
    | "### \($name)", "", ($command.abstract | wrapped), "",
      (if ($command | subcommands) == [] then ($all | synopsis($name)), "" else empty end),
      ($command.discussion | text),
      (if ($command | subcommands) != [] then empty else
          (if $own == [] then empty else $own | rows end),
          (if $relay == [] then empty else "And [the options of a relay](#options-of-a-relay).", "" end)
      end);

def table($title; $key; $column):
    "## \($title)", "", "| program | \($column) | meaning |", "|---|---|---|",
    ($sections[0] | to_entries[] | .key as $program | .value[$key] // [] | .[]
        | "| \($program) | `\(.[$column])` | \(.meaning | escaped) |"), "";

map(.command) as $programs
| ([$programs[0] | tree("heliograph") | .command | shown | relayOptions[]] | unique_by(longName)
    | sort_by(longName as $name | shared | index($name))) as $relay
| "# Command line", "",
  "`Scripts/command-reference` writes this page from the programs' own help; a test compares them. `man heliograph`,",
  "`man heliograph-relay`, `man capture-agent` and `man relay.yaml` have the same facts. Every program and command has",
  "`--help`, and every program `--version`.", "",
  "## Exit status", "", "| program | status | meaning |", "|---|---|---|",
  ($sections[0] | to_entries[] | .key as $program | .value.exitStatus // [] | .[] | "| \($program) | \(.status) | \(.meaning | escaped) |"), "",
  table("Environment"; "environment"; "name"),
  table("Files"; "files"; "name"),
  "`$XDG_STATE_HOME` is `~/.local/state` unless the environment sets it.", "",
  ($programs[0]
      | "## heliograph", "", (.abstract | wrapped), "", (.discussion | text),
        "### Options of a relay", "", "Every command that calls a relay has these.", "", ($relay | rows),
        (tree("heliograph") | command)),
  ($programs[1:][]
      | .commandName as $name | shown as $all
      | "## \($name)", "", (.abstract | wrapped), "", ($all | synopsis($name)), "", (.discussion | text), ($all | rows))
