import CaptureAgent
import Foundation
import Glibc
import Program
import TestSupport
import Testing
import Wire

@Suite("Launched applications")
struct LaunchesTests {
    private static func id() -> String { "test-\(UUID().uuidString)" }

    private static func shell(_ script: String) -> [String] { ["/bin/sh", "-c", script] }

    @Test("a process is known by its start, whatever its name is")
    func status() throws {
        func stat(_ name: String, _ state: String = "S") -> [UInt8] {
            let fields = [state, "1", "2", "77"] + (7...21).map(String.init) + ["4711", "23"]
            return Array("42 (\(name)) \(fields.joined(separator: " "))\n".utf8)
        }
        for name in ["sh", "a b", "a) S 9 9 9", "(", ")", ""] {
            let status = try #require(ProcessStatus(stat(name)), "\(name)")
            #expect(status.session == 77 && status.started == 4711 && !status.hasEnded, "\(name)")
        }
        #expect(ProcessStatus(stat("sh", "Z"))?.hasEnded == true)
        for text in ["", "42 (sh", "42 (sh) S 1", "42 (sh) S 1 2 x" + String(repeating: " 1", count: 20)] {
            #expect(ProcessStatus(Array(text.utf8)) == nil, "\(text)")
        }
    }

    @Test("the mark is a whole line of the environment")
    func mark() {
        let environment = Array("A=1\0HELIOGRAPH_APPLICATION=ab\0B=HELIOGRAPH_APPLICATION=cd\0".utf8)
        #expect(ProcessTable.lines(environment, containAnyOf: ["x", "HELIOGRAPH_APPLICATION=ab"]))
        for other in ["a", "abc", "cd", ""] {
            #expect(!ProcessTable.lines(environment, containAnyOf: ["HELIOGRAPH_APPLICATION=\(other)"]), "\(other)")
        }
    }

    @Test("have a session of their own, the mark, no descriptors and no secrets")
    func surroundings() async throws {
        let (launches, scratch, id) = (Launches(), try Scratch(), Self.id())
        let output = scratch.file("output")
        // A descriptor that is not closed on exec, as a careless library leaves it. No shell has one of its number.
        let zero = open("/dev/zero", O_RDONLY)
        let leak = fcntl(zero, F_DUPFD, 300)
        close(zero)
        try #require(leak >= 300)
        defer { close(leak) }
        let script = """
            { readlink /proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2; ls /proc/$$/fd; echo "$A"; pwd
              env | grep -c -e HELIOGRAPH_LINK_TOKEN; cut -d ' ' -f 6 /proc/$$/stat; echo $$; } >'\(output.path).part'
            mv '\(output.path).part' '\(output.path)'
            """
        _ = try launches.start(id, Self.shell(script), in: "/", with: ["A": "x", "HELIOGRAPH_LINK_TOKEN2": "y"])
        let lines = try await eventually("the output") {
            try? String(contentsOf: output, encoding: .utf8).split(separator: "\n").map(String.init)
        }
        // Descriptor 1 is the shell's own redirection.
        #expect(lines.first == "/dev/null" && lines.dropFirst(2).first == "/dev/null", "\(lines)")
        let rest = lines.dropFirst(3)
        let descriptors = rest.prefix { Int($0) != nil }
        #expect(Set(descriptors).isSubset(of: ["0", "1", "2", "3", "10", "11", "255"]), "\(lines)")
        let last = Array(rest.dropFirst(descriptors.count))
        try #require(last.count == 5, "\(lines)")
        #expect(last[0] == "x" && last[1] == "/" && last[3] == last[4], "\(lines)")
        let ended = try await eventually("the end") {
            let state = launches.state(of: LaunchedProcess(id: id))
            return state.isRunning ? nil : state
        }
        #expect(ended.status == 0 && ended.signal == nil)
    }

    @Test("report how they ended, to the agent that launched them")
    func endings() async throws {
        let launches = Launches()
        for (script, status, signal) in [("exit 7", 7, nil), ("kill -USR1 $$", nil, Int(SIGUSR1))]
            as [(String, Int?, Int?)]
        {
            let id = Self.id()
            let process = try launches.start(id, Self.shell(script), in: nil, with: [:])
            let launched = LaunchedProcess(id: id, process: process)
            let state = try await eventually("the end of \(script)") {
                let state = launches.state(of: launched)
                return state.isRunning ? nil : state
            }
            #expect(state.status == status && state.signal == signal, "\(state)")
            let other = Launches().state(of: launched)
            #expect(!other.isRunning && other.status == nil && other.signal == nil, "\(other)")
        }
    }

    @Test("that cannot be started are errors with the reason")
    func failures() {
        let launches = Launches()
        for (command, directory, reason) in [
            (["/nonexistent/program"], nil, "No such file"), (["/etc/passwd"], nil, "Permission denied"),
            (["/bin/true"], "/nonexistent", "No such file"),
        ] as [([String], String?, String)] {
            do {
                _ = try launches.start(Self.id(), command, in: directory, with: [:])
                Issue.record("\(command) was started")
            } catch {
                #expect(error.reason.contains(reason), "\(error.reason)")
            }
        }
    }

    @Test("end with all their processes, also those that left their group and those that ignore SIGTERM")
    func ends() async throws {
        let (launches, id) = (Launches(), Self.id())
        let script = """
            setsid sh -c 'sleep 600' &
            (env --unset=HELIOGRAPH_APPLICATION sleep 601) &
            sh -c 'trap "" TERM; sleep 602 & wait; sleep 603' &
            sleep 604
            """
        let process = try #require(try launches.start(id, Self.shell(script), in: nil, with: [:]))
        let processes = ApplicationProcesses(id: id, first: process)
        let marked = ApplicationProcesses(id: id, first: nil)
        // Another agent knows them by the mark alone, except the one that has removed it.
        let found = try await eventually("all processes") {
            let found = processes.all
            return found.count >= 6 && marked.all.count == found.count - 1 ? found : nil
        }
        #expect(found.allSatisfy { processes.contains($0) } && !processes.contains(getpid()))
        #expect(ApplicationProcesses(id: "\(id)x", first: nil).all.isEmpty)
        // A process without the mark is not one of them, whatever an agent says.
        let other = ApplicationProcesses(id: id, first: ProcessIdentity(pid: getpid()))
        #expect(!other.contains(getpid()) && !other.all.contains(getpid()))
        // Another process with this number is not the first one.
        let reused = ApplicationProcesses(id: "\(id)x", first: ProcessIdentity(pid: process.pid, started: 1))
        #expect(!reused.areRunning)
        #expect(ApplicationProcesses.end([reused]) && processes.areRunning)
        let start = MonotonicClock.now
        #expect(ApplicationProcesses.end([processes]))
        let seconds = Double(MonotonicClock.now - start) / 1e9
        #expect(seconds >= 4.9 && seconds < 9, "one of them ignores SIGTERM: \(seconds) s")
        #expect(processes.all.isEmpty)
        for pid in found { #expect(kill(pid, 0) != 0 || ProcessIdentity(pid: pid) == nil || !processes.contains(pid)) }
        #expect(launches.state(of: LaunchedProcess(id: id)).signal == Int(SIGTERM))
    }

    @Test("end at once if there is no time")
    func urgent() async throws {
        let (launches, id) = (Launches(), Self.id())
        let process = try launches.start(id, Self.shell("trap '' TERM; while :; do sleep 1; done"), in: nil, with: [:])
        let processes = ApplicationProcesses(id: id, first: process)
        usleep(200_000)
        let start = MonotonicClock.now
        #expect(ApplicationProcesses.end([processes]) { true })
        #expect(MonotonicClock.now - start < .milliseconds(2_000))
        #expect(launches.state(of: LaunchedProcess(id: id, process: process)).signal == Int(SIGKILL))
    }

    @Test("run although their environment does not show the mark, to the agent that launched them")
    func unmarked() async throws {
        let (launches, id) = (Launches(), Self.id())
        let process = try launches.start(id, ["/usr/bin/env", "-i", "/bin/sleep", "600"], in: nil, with: [:])
        let launched = LaunchedProcess(id: id, process: process)
        _ = try await eventually("the removed mark") {
            ApplicationProcesses(id: id, first: process).areRunning ? nil : true
        }
        let state = launches.state(of: launched)
        #expect(state.isRunning && state.process == process && state.user == geteuid(), "\(state)")
        let other = Launches().state(of: launched)
        #expect(!other.isRunning && other.user == nil, "another agent cannot trust the identity: \(other)")
        launches.end([LaunchedProcess(id: id)])
        #expect(launches.state(of: launched).signal == Int(SIGTERM))
    }

    @Test("are ended by an agent whose relay stays away")
    func away() async throws {
        let (launches, ids) = (Launches(), [Self.id(), Self.id()])
        for id in ids {
            _ = try launches.start(id, Self.shell("trap '' TERM; while :; do sleep 1; done"), in: nil, with: [:])
        }
        usleep(200_000)
        let start = MonotonicClock.now
        launches.endAll()
        let seconds = Double(MonotonicClock.now - start) / 1e9
        #expect(seconds >= 4.9 && seconds < 9, "all at the same time: \(seconds) s")
        for id in ids { #expect(!launches.state(of: LaunchedProcess(id: id)).isRunning) }
    }

    @Test("a desk answers each order once, and without a desktop says so before it launches")
    func desk() async throws {
        let answers = Answers()
        let launches = Launches()
        let windows = WindowsChoice(.mutter(.monitor(nil), cursor: .embedded))
        let desk = ApplicationDesk(launches, windows: windows) { answers.add($0) }
        defer { desk.close() }
        func answer(_ order: ApplicationOrder) async throws -> ApplicationAnswer {
            desk.take(order)
            return try await eventually("answer \(order.order)") { answers.answer(to: order.order) }
        }
        let (id, other) = (Self.id(), Self.id())
        let launched = LaunchedProcess(id: id)
        let sleep = ApplicationLaunch(command: ["/bin/sleep", "600"])
        let done = try await answer(ApplicationOrder(order: 1, kind: .launch, applications: [launched], launch: sleep))
        #expect(done.refusal == nil && done.applications.first?.isRunning == true, "\(done)")
        var waiting = sleep
        waiting.windowTime = 100
        let refused = try await answer(
            ApplicationOrder(order: 2, kind: .launch, applications: [LaunchedProcess(id: other)], launch: waiting)
        )
        #expect(refused.refusal == .noWindowControl, "\(refused)")
        #expect(!ApplicationProcesses(id: other, first: nil).areRunning)
        let focus = try await answer(ApplicationOrder(order: 3, kind: .focus, applications: [launched]))
        #expect(focus.refusal == .noWindowControl, "\(focus)")
        let look = try await answer(ApplicationOrder(order: 4, kind: .look, applications: [launched]))
        #expect(look.applications == done.applications, "\(look)")
        let unknown = try await answer(
            ApplicationOrder(
                order: 5,
                kind: .launch,
                applications: [LaunchedProcess(id: other)],
                launch: ApplicationLaunch(desktopFile: "no.such.file")
            )
        )
        #expect(unknown.refusal == .unknownFile, "\(unknown)")
        for kind in [ApplicationOrder.Kind.launch, .focus] {
            let empty = try await answer(
                ApplicationOrder(order: 6 + UInt32(kind == .focus ? 1 : 0), kind: kind, applications: [])
            )
            #expect(empty.refusal == .failed, "\(empty)")
        }
        let ended = try await answer(
            ApplicationOrder(
                order: 8,
                kind: .terminate,
                applications: done.applications.map {
                    LaunchedProcess(id: $0.id, process: $0.process)
                }
            )
        )
        #expect(ended.refusal == nil && ended.applications.first?.isRunning == false, "\(ended)")
        let late = try await answer(ApplicationOrder(order: 9, kind: .launch, applications: [launched], launch: sleep))
        #expect(late.refusal == .failed, "it was terminated before: \(late)")
        #expect(!ApplicationProcesses(id: id, first: nil).areRunning)
    }

    private final class Answers: @unchecked Sendable {
        // Unchecked because `all` is touched only under `lock`.
        private let lock = NSLock()
        private var all: [ApplicationAnswer] = []

        func add(_ answer: ApplicationAnswer) { lock.withLock { all.append(answer) } }

        func answer(to order: UInt32) -> ApplicationAnswer? { lock.withLock { all.first { $0.order == order } } }
    }
}
