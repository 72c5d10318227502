# A program's --experimental-dump-help as its manual page. $sections is sections.json.

include "roff";

# Paragraphs as they are written; what is indented stays as it stands.
def text:
    . // "" | split("\n\n") | map(
        split("\n") | map(
            if startswith("  ") then "\n.br\n\\&" + (escaped | sub("^\n"; "")) + "\n.br\n" else escaped end
        ) | join("\n") | gsub("\n+"; "\n")
    ) | join("\n.PP\n");

def spelled:
    if .kind == "short" then "\\fB\\-\(.name)\\fR"
    elif .kind == "longWithSingleDash" then "\\fB\\-\(.name | escaped)\\fR"
    else "\\fB\\-\\-\(.name | escaped)\\fR" end;

def value: if .kind == "flag" then "" else " \\fI\(.valueName // "value" | escaped)\\fR" end;

def argument:
    ".TP\n"
    + (if .kind == "positional" then "\\fI\(.valueName | escaped)\\fR" else ([.names[] | spelled] | join(", ")) + value end)
    + "\n" + ((.abstract // "") | gsub("\n"; " ") | escaped)
    + (if .defaultValue then " Default: \(.defaultValue | escaped)." else "" end);

def arguments: [(.arguments // [])[] | select(.shouldDisplay) | argument] | join("\n");

def synopsis:
    [(.arguments // [])[] | select(.shouldDisplay and .kind == "positional")
        | if .isOptional then "[\\fI\(.valueName | escaped)\\fR]" else "\\fI\(.valueName | escaped)\\fR" end]
    | join(" ");

# Those of all commands stand with the program's.
def own: .arguments |= map(select(.valueName != "version" and .valueName != "help"));

def subcommands: [(.subcommands // [])[] | select(.shouldDisplay and .commandName != "help")];

def positionals: [.arguments[] | select(.kind == "positional") | .valueName] | join(" ");

# A command's commands, each with those of its own after it, and their names as they are typed.
def tree($name):
    subcommands[] | "\($name) \(.commandName)" as $full | {name: $full, command: .}, tree($full);

.command
| .commandName as $name
| header($name; 1; $release; $seconds),
  ".SH NAME", "\($name | escaped) \\- \(.abstract | escaped)",
  ".SH SYNOPSIS",
  "\\fB\($name | escaped)\\fR" + (if subcommands == [] then "" else " \\fIcommand\\fR" end) + " [\\fIoptions\\fR] " + synopsis,
  ".SH DESCRIPTION", (.discussion | text),
  ".SH OPTIONS", arguments,
  (if subcommands == [] then empty else
      ".SH COMMANDS",
      (tree($name)
          | .name as $full | .command
          | ".SS \"\($full)" + (if subcommands == [] then " [options] " + positionals else " command" end) + "\"",
            (.abstract | escaped), ".PP", (.discussion | text), (own | arguments))
  end),
  ($sections[0][$name] | sections)
