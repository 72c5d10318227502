# The manual page relay.yaml(5), from the tables of settings in docs/reference/configuration.md. $sections is sections.json.

include "roff";

# A table of the page as arrays of cells, without its head.
def table($name):
    split("<!-- \($name) -->\n")[1] | split("<!-- end of \($name) -->")[0] | split("\n")[2:]
    | map(select(. != "") | ltrimstr("|") | rtrimstr("|") | split("|") | map(gsub("^ +| +$"; "")));

# Inline Markdown: a link is its text, code is bold.
def inline: gsub("\\[(?<text>[^\\]]*)\\]\\([^)]*\\)"; .text) | escaped | gsub("`(?<code>[^`]*)`"; "\\fB\(.code)\\fR");

def labelled($title): if . == "" then empty else "\($title): \(inline)." end;

def setting($flags):
    ".TP\n\\fB\(.[0] | escaped)\\fR\n"
    + ([(.[1] | labelled("Type")), (.[2] | labelled("Default")), (if $flags then .[3] | labelled("Flag") else empty end)] | join(" "))
    + (.[-1] | if . == "" then "" else "\n.br\n\(inline)" end);

. as $page
| header("relay.yaml"; 5; $release; $seconds),
  ".SH NAME", "relay.yaml \\- configuration of heliograph\\-relay",
  ".SH DESCRIPTION",
  "The relay reads this file if \\fB\\-\\-config\\fR or \\fBHELIOGRAPH_RELAY_CONFIG\\fR names it.",
  "A flag counts more than an environment variable, a variable more than the file, and the file more than the default.",
  ".PP",
  "The file is one YAML document in UTF\\-8, at most 1 MiB. An empty one sets nothing.",
  "Values follow YAML 1.2's core schema, with decimal numbers only. Anchors, aliases, tags and duplicate names are errors.",
  ".PP",
  "\\fBheliograph\\-relay \\-\\-config FILE \\-\\-check\\-config\\fR reports every fault with its place.",
  ".SH SETTINGS", ($page | table("settings")[] | setting(true)),
  ".SH DEVICES",
  "\\fBdevices\\fR has a member for each device. These settings are for one device:",
  ($page | table("devices")[] | setting(false)),
  ".SH RELOAD",
  "On SIGHUP the relay reads the file again.",
  ($page | table("reload")[] | ".TP\n\(.[1] | inline)\n\(.[0] | inline)"),
  ($sections[0]["relay.yaml"] | sections)
