import CaptureAgent
import Foundation
import TestSupport
import Testing

@Suite("Desktop files")
struct DesktopFileTests {
    private static let path = "/usr/share/applications/a.desktop"

    private static func file(_ exec: String, _ others: String = "") throws -> DesktopFile {
        try DesktopFile("[Desktop Entry]\nType=Application\nName=An App\n\(others)Exec=\(exec)\n", path: path)
    }

    @Test(
        "their commands are split and unquoted as the specification says, without files and URLs",
        arguments: [
            ("app", ["app"]),
            ("/usr/bin/app --new  %U", ["/usr/bin/app", "--new"]),
            ("app %f --with %F %u", ["app", "--with"]),
            (#"app "two words" --x="a b""#, ["app", "two words", "--x=a b"]),
            (#"app """#, ["app", ""]),
            (#"app "a\\"b\\\\c\\$d\\`e""#, ["app", #"a"b\c$d`e"#]),
            (#"app "a\"b""#, ["app", #"a"b"#]),
            (#"wine C:\\\\windows\\\\start.exe"#, ["wine", #"C:\windows\start.exe"#]),
            ("app 100%% --url=%u", ["app", "100%", "--url="]),
            ("app --name %c --file %k", ["app", "--name", "An App", "--file", path]),
            ("app https://x/?a=b#c;d&e|f", ["app", "https://x/?a=b#c;d&e|f"]),
            ("app $HOME `id` $(id) ~", ["app", "$HOME", "`id`", "$(id)", "~"]),
            ("app %i", ["app"]),
            ("app a%", ["app", "a%"]),
            (#"app a\sb"#, ["app", "a", "b"]),
        ]
    )
    func commands(exec: String, command: [String]) throws {
        #expect(try Self.file(exec).command == command)
    }

    @Test("an icon becomes two arguments, and Path is the working directory")
    func icon() throws {
        let file = try Self.file("app %i -x", "Icon=app-icon\nPath=/srv/app\n")
        #expect(file.command == ["app", "--icon", "app-icon", "-x"])
        #expect(file.directory == "/srv/app")
        #expect(try Self.file("app").directory == nil)
    }

    @Test("only the keys of the first group count, without translations")
    func groups() throws {
        let text = """
            # A comment.
            [Desktop Entry]
            Type = Application
            Exec = first %U
            Exec=second
            Name[de]=x

            [Desktop Action new]
            Exec=third
            [Desktop Entry]
            Terminal=true
            """
        #expect(try DesktopFile(text, path: Self.path).command == ["first"])
    }

    @Test(
        "what launches nothing is refused, with the reason",
        arguments: [
            ("", "application"), ("[Desktop Entry]\nType=Link\nExec=a", "application"),
            ("[Desktop Entry]\nType=Application", "no valid Exec"),
            ("[Desktop Entry]\nType=Application\nExec=", "empty"),
            ("[Desktop Entry]\nType=Application\nExec=%U", "empty"),
            ("[Desktop Entry]\nType=Application\nExec=\"\"", "empty"),
            ("[Desktop Entry]\nType=Application\nExec=a \"b", "quoted"),
            ("[Desktop Entry]\nType=Application\nExec=a b\\", "no valid Exec"),
            ("[Desktop Entry]\nType=Application\nExec=a \\q", "no valid Exec"),
            ("[Desktop Entry]\nType=Application\nExec=sh -c 'a b'", "single quote"),
            ("[Desktop Entry]\nType=Application\nExec=a\nTerminal=true", "terminal"),
            ("[Desktop Entry]\nType=Application\nExec=a\nHidden=true", "hidden"),
            ("[Desktop Action x]\nType=Application\nExec=a", "application"),
        ]
    )
    func refusals(text: String, reason: String) {
        do {
            let file = try DesktopFile(text, path: Self.path)
            Issue.record("\(file)")
        } catch {
            #expect(error.reason.contains(reason), "\(error.reason)")
        }
    }

    @Test("are found by id in the folders' order, also in folders within them, and nowhere else")
    func search() throws {
        let scratch = try Scratch()
        func put(_ name: String, _ exec: String) throws {
            let file = scratch.file(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try "[Desktop Entry]\nType=Application\nExec=\(exec)\n".write(to: file, atomically: true, encoding: .utf8)
        }
        try put("home/editor.desktop", "mine")
        try put("system/editor.desktop", "other")
        try put("system/org.gnome.Calc.desktop", "calc")
        try put("system/kde/sub/tool-x.desktop", "tool")
        try put("outside.desktop", "outside")
        try put("system/large.desktop", String(repeating: "x", count: 300 << 10))
        mkfifo(scratch.file("system/pipe.desktop").path, 0o600)
        let files = DesktopFiles(
            folders: [scratch.file("home").path, "/nonexistent", scratch.file("system").path]
        )
        #expect(try files.file("editor").command == ["mine"])
        #expect(try files.file("editor.desktop").command == ["mine"])
        #expect(try files.file("org.gnome.Calc").command == ["calc"])
        #expect(try files.file("kde-sub-tool-x").command == ["tool"])
        for id in [
            "", ".", "..", "../outside", "..-outside", "kde-..-..-outside", "/etc/passwd", "a b", "nothing", "large",
            "pipe", "kde-sub", String(repeating: "a-", count: 127) + "a", String(repeating: "a", count: 256),
        ] {
            #expect(throws: DesktopFile.Failure.self, "\(id)") { try files.file(id) }
        }
    }
}
