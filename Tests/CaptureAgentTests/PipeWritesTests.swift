import CaptureAgent
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Writes to programs that paste")
struct PipeWritesTests {
    /// Writes until all has ended, and returns how.
    private func run(_ writes: inout PipeWrites, while body: () -> Void = {}) -> [PipeWrites.Ended] {
        var ended: [PipeWrites.Ended] = []
        repeat {
            ended += writes.proceed()
            body()
            usleep(1_000)
        } while writes.deadline != nil
        return ended
    }

    @Test("each program gets all bytes, at its own pace")
    func whole() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0) }
        let pipes = [Pipe(), Pipe()]
        var writes = PipeWrites()
        for (index, pipe) in pipes.enumerated() {
            writes.add(bytes, to: dup(pipe.fileHandleForWriting.fileDescriptor), id: UInt32(index))
            try pipe.fileHandleForWriting.close()
        }
        let small = Pipe()
        writes.add([], to: dup(small.fileHandleForWriting.fileDescriptor), id: 2)
        try small.fileHandleForWriting.close()
        var read = [Data(), Data()]
        let ended = run(&writes) {
            for (index, pipe) in pipes.enumerated() where index == 0 || read[0].count == bytes.count {
                read[index] += (try? pipe.fileHandleForReading.read(upToCount: 50_000)) ?? Data()
            }
        }
        for (index, pipe) in pipes.enumerated() { read[index] += pipe.fileHandleForReading.readDataToEndOfFile() }
        #expect(read.map { Array($0) } == [bytes, bytes])
        #expect(ended.map(\.id) == [2, 0, 1] && ended.allSatisfy(\.isWhole))
        #expect(small.fileHandleForReading.readDataToEndOfFile().isEmpty)
    }

    @Test("a program that does not read is given up after 2 s, and one that closes its pipe at once")
    func givenUp() throws {
        signal(SIGPIPE, SIG_IGN)
        let (silent, closed) = (Pipe(), Pipe())
        var writes = PipeWrites()
        let began = MonotonicClock.now
        for (id, pipe) in [(UInt32(1), silent), (2, closed)] {
            writes.add(Array(repeating: 1, count: 1 << 20), to: dup(pipe.fileHandleForWriting.fileDescriptor), id: id)
        }
        try closed.fileHandleForReading.close()
        let ended = run(&writes)
        #expect(ended.map(\.id) == [2, 1] && !ended.contains { $0.isWhole })
        #expect(MonotonicClock.now - began >= .milliseconds(2_000))
    }

    @Test("the oldest of too many writes ends")
    func many() throws {
        let pipes = (0..<17).map { _ in Pipe() }
        var writes = PipeWrites()
        for (id, pipe) in pipes.enumerated() {
            let descriptor = dup(pipe.fileHandleForWriting.fileDescriptor)
            writes.add(Array(repeating: 1, count: 1 << 20), to: descriptor, id: UInt32(id))
            try pipe.fileHandleForWriting.close()
        }
        // Nothing was written to it, and it is closed.
        #expect(pipes[0].fileHandleForReading.readDataToEndOfFile().isEmpty)
        #expect(writes.deadline == 0)
        // A pipe that is not read any more ends, too.
        let ended = withExtendedLifetime(pipes) { writes.proceed() }
        #expect(ended.map(\.id) == [0] && ended.allSatisfy { !$0.isWhole })
        writes.close()
    }
}
