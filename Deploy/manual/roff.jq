# What all manual pages share: text and sections in man(7)'s macros.

def escaped: gsub("\\\\"; "\\e") | gsub("-"; "\\-") | gsub("(?<start>^|\n)(?<first>[.'])"; "\(.start)\\&\(.first)");

def header($name; $section; $release; $seconds):
    # Names of settings and options are never divided.
    ".TH \"\($name | ascii_upcase)\" \($section) \"\($seconds | tonumber | strftime("%Y-%m-%d"))\" \"Heliograph \($release)\"\n.nh";

def entries($title; $name):
    if . == null then empty else ".SH \($title)", (.[] | ".TP\n\\fB\(.[$name] | tostring | escaped)\\fR\n\(.meaning | escaped)") end;

# EXIT STATUS to SEE ALSO, from a page's part of sections.json.
def sections:
    (.exitStatus | entries("EXIT STATUS"; "status")),
    (.environment | entries("ENVIRONMENT"; "name")),
    (.files | entries("FILES"; "name")),
    ".SH EXAMPLES",
    (.examples[] | ".PP\n\(.text | escaped)\n.PP\n.nf\n.RS\n\(.commands | map(escaped) | join("\n"))\n.RE\n.fi"),
    ".SH SEE ALSO",
    ((.seeAlso + ["/usr/share/doc/heliograph"]) | map(escaped) | join(",\n"));
