import CaptureAgent
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@Suite("The guard of input")
struct InputGuardTests {
    private static let items: [HeldInput.Item] = [.button(0x110), .key(0x0100_4E00), .touch(9), .key(0xFFE1)]

    @Test("a message says all that is held")
    func messages() {
        #expect(GuardMessage(bytes: GuardMessage(Self.items).bytes)?.items == Self.items)
        #expect(GuardMessage(bytes: [])?.items == [])
        #expect(GuardMessage(bytes: [1, 0, 0, 1]) == nil)
        #expect(GuardMessage(bytes: [9, 0, 0, 0, 0]) == nil)
        let many = (0..<2_000).map { HeldInput.Item.key(UInt32($0)) }
        #expect(GuardMessage(many).bytes.count <= 8_000)
    }

    /// What a guard did, and when, in monotonic ns.
    private final class Deeds: Sendable {
        let released = Mutex<[(items: [HeldInput.Item], at: UInt64)]>([])
        let ends = Mutex<[UInt64]>([])
    }

    /// Runs the guard's loop in a thread while `body` is the agent, which sends by the descriptor it gets.
    ///
    /// - Parameters:
    ///   - answers: Whether the desktop answers the first attempts; it answers all later ones.
    ///   - endsAgent: Whether the guard ends an agent that hangs.
    private func deeds(
        answers: [Bool] = [],
        endsAgent: Bool = false,
        _ body: (Int32) throws -> Void
    ) throws -> Deeds {
        var ends: [Int32] = [-1, -1]
        let made = socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        try #require(made == 0)
        let other = ends[1]
        let deeds = Deeds()
        let thread = try WorkerThread(name: "guard") {
            GuardLoop(
                descriptor: other,
                release: { items in
                    deeds.released.withLock { list in
                        list.append((items, MonotonicClock.now))
                        return list.count > answers.count || answers[list.count - 1]
                    }
                },
                endAgent: endsAgent ? { deeds.ends.withLock { $0.append(MonotonicClock.now) } } : nil
            ).run()
        }
        defer {
            thread.join()
            close(other)
        }
        defer { close(ends[0]) }
        try body(ends[0])
        return deeds
    }

    private static func send(_ items: [HeldInput.Item], _ descriptor: Int32) {
        let bytes = [0] + GuardMessage(items).bytes
        #expect(Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    @Test("what is held is released when the agent ends")
    func ends() throws {
        let deeds = try deeds(endsAgent: true) { Self.send(Self.items, $0) }
        #expect(deeds.released.withLock { $0.map(\.items) } == [Self.items])
        #expect(deeds.ends.withLock { $0.isEmpty }, "it has ended by itself")
    }

    @Test("a desktop that does not answer is tried again, also after the agent's end")
    func slowDesktop() throws {
        let began = MonotonicClock.now
        let deeds = try deeds(answers: [false, false]) { Self.send(Self.items, $0) }
        #expect(deeds.released.withLock { $0.map(\.items) } == [Self.items, Self.items, Self.items])
        #expect(MonotonicClock.now - began >= 2 * GuardWatch.pause)
    }

    @Test("nothing is released if nothing is held")
    func idle() throws {
        let deeds = try deeds(endsAgent: true) { descriptor in
            Self.send(Self.items, descriptor)
            Self.send([], descriptor)
            usleep(1_200_000)
        }
        #expect(deeds.released.withLock { $0.isEmpty })
        #expect(deeds.ends.withLock { $0.isEmpty })
    }

    @Test("an agent that falls silent is released from once, and again if it comes back")
    func silent() throws {
        var sent: UInt64 = 0
        let deeds = try deeds { descriptor in
            for _ in 0..<10 {
                Self.send(Self.items, descriptor)
                usleep(50_000)
            }
            sent = MonotonicClock.now
            usleep(500_000)
            Self.send([.key(1)], descriptor)
            usleep(500_000)
        }
        let released = deeds.released.withLock { $0 }
        #expect(released.map(\.items) == [Self.items, [.key(1)]])
        let first = try #require(released.first)
        #expect(first.at > sent, "not while it sends")
    }

    @Test("an agent that hangs is ended after a second, once, if the desktop releases the rest only then")
    func hang() throws {
        var sent: UInt64 = 0
        let deeds = try deeds(endsAgent: true) { descriptor in
            sent = MonotonicClock.now
            Self.send(Self.items, descriptor)
            usleep(1_500_000)
        }
        #expect(deeds.released.withLock { $0.map(\.items) } == [Self.items])
        let ends = deeds.ends.withLock { $0 }
        #expect(ends.count == 1)
        #expect(try #require(ends.first) >= sent + GuardWatch.longestHang)
    }

    @Test("the process is told every 50 ms while something is held, and ends with the agent's end")
    func process() async throws {
        let scratch = try Scratch()
        // A guard that counts the packets that it gets.
        let script = """
            #!/usr/bin/python3
            import socket, sys
            s = socket.socket(fileno=0)
            s.setblocking(True)
            with open(sys.argv[0] + ".log", "w") as log:
                while True:
                    packet = s.recv(8192)
                    if not packet: break
                    log.write(packet.hex() + "\\n")
                log.write("end\\n")

            """
        let program = try scratch.program(script, named: "guard")
        let guardian = try InputGuard(executable: program, endsAgent: false)
        guardian.held([.button(0x110)])
        usleep(1_000_000)
        guardian.held([])
        usleep(300_000)
        guardian.held([.touch(1)])
        guardian.close()
        // The process is not waited for, because a desktop may be slow.
        _ = try await eventually("the end of the process") {
            try String(contentsOfFile: program + ".log", encoding: .utf8).hasSuffix("end\n") ? true : nil
        }
        let lines = try String(contentsOfFile: program + ".log", encoding: .utf8).split(separator: "\n")
        let held = lines.count { $0 == "000100000110" }
        // A busy machine sends fewer.
        #expect((3...22).contains(held), "\(lines)")
        #expect(lines.count { $0 == "00" } == 1)
        #expect(lines.suffix(2) == ["000300000001", "end"])
    }

    @Test("a message for which the socket has no room is sent again, also that nothing is held")
    func noRoom() async throws {
        let scratch = try Scratch()
        // A guard that reads nothing until a file exists.
        let script = """
            #!/usr/bin/python3
            import os, socket, sys, time
            s = socket.socket(fileno=0)
            s.setblocking(True)
            while not os.path.exists(sys.argv[0] + ".go"): time.sleep(0.01)
            with open(sys.argv[0] + ".log", "w") as log:
                while True:
                    packet = s.recv(8192)
                    if not packet: break
                    log.write(packet.hex() + "\\n")
                    log.flush()

            """
        let program = try scratch.program(script, named: "guard")
        let guardian = try InputGuard(executable: program, endsAgent: false)
        defer { guardian.close() }
        // More than the socket takes.
        let many = (0..<1_000).map { HeldInput.Item.key($0) }
        for _ in 0..<2_000 { guardian.held(many) }
        guardian.held([])
        usleep(100_000)
        try Data().write(to: URL(fileURLWithPath: program + ".go"))
        _ = try await eventually("that nothing is held", limit: .seconds(10)) {
            let log = try? String(contentsOfFile: program + ".log", encoding: .utf8)
            return log?.hasSuffix("\n00\n") == true ? true : nil
        }
    }

    @Test("a guard that cannot be started is an error that says so")
    func missing() throws {
        #expect(throws: InputFailure.self) { try InputGuard(executable: "/nonexistent", endsAgent: false) }
    }
}

@Suite("What a guard does about its agent")
struct GuardWatchTests {
    private static let items: [HeldInput.Item] = [.button(0x110)]
    private static let start: UInt64 = 5_000_000_000

    @Test("it releases after 200 ms of silence, again until the desktop answers, for 30 s")
    func retries() throws {
        var watch = GuardWatch(endsAgent: false)
        #expect(watch.wake == nil)
        var now = Self.start
        watch.heard(Self.items, now: now)
        #expect(watch.wake == now + GuardWatch.longestSilence)
        #expect(watch.next(now: now) == nil)
        var attempts = 0
        while let wake = watch.wake {
            now = wake
            #expect(watch.next(now: now) == .release(Self.items))
            attempts += 1
            // The desktop takes a second to not answer.
            now += .milliseconds(1_000)
            watch.tried(false, now: now)
        }
        #expect((20...30).contains(attempts))
        #expect(watch.next(now: now) == nil)
        watch.heard(Self.items, now: now)
        #expect(watch.wake != nil, "the agent came back")
        watch.heard([], now: now)
        #expect(watch.wake == nil)
    }

    @Test("an agent that hangs is ended in time even if the desktop does not answer")
    func ends() {
        var watch = GuardWatch(endsAgent: true)
        watch.heard(Self.items, now: Self.start)
        let noticed = Self.start + GuardWatch.longestSilence
        #expect(watch.next(now: noticed) == .release(Self.items))
        watch.tried(false, now: noticed)
        #expect(watch.next(now: noticed + GuardWatch.pause) == .release(Self.items))
        let end = Self.start + GuardWatch.longestHang
        watch.tried(false, now: end)
        #expect(watch.next(now: end) == .endAgent)
        #expect(watch.next(now: end) == nil, "once")
        watch.agentEnded()
        #expect(watch.next(now: end) == .release(Self.items))
        watch.tried(true, now: end)
        #expect(watch.next(now: end) == .finish)
    }

    @Test("an agent is not ended right after the whole machine stood still")
    func standstill() {
        var watch = GuardWatch(endsAgent: true)
        watch.heard(Self.items, now: Self.start)
        let later = Self.start + .milliseconds(60_000)
        #expect(watch.next(now: later) == .release(Self.items))
        watch.tried(true, now: later)
        #expect(watch.next(now: later) == nil)
        watch.heard(Self.items, now: later + .milliseconds(50))
        #expect(watch.next(now: later + .milliseconds(249)) == nil)
    }

    @Test("it finishes at once if the agent ends and holds nothing, or nothing any more")
    func finishes() {
        var watch = GuardWatch(endsAgent: true)
        watch.agentEnded()
        #expect(watch.wake == 0)
        #expect(watch.next(now: Self.start) == .finish)
        watch = GuardWatch(endsAgent: true)
        watch.heard(Self.items, now: Self.start)
        let noticed = Self.start + GuardWatch.longestSilence
        #expect(watch.next(now: noticed) == .release(Self.items))
        watch.tried(true, now: noticed)
        watch.agentEnded()
        #expect(watch.next(now: noticed) == .finish)
    }
}
