import Foundation
import HeliographAPI
import Logging
import NIOCore
import Relay
import Synchronization
import TestSupport
import Testing

@Suite("The log")
struct LogTests {
    /// What was written.
    private final class Page: Sendable {
        private let text = Mutex("")
        var lines: [Substring] { text.withLock { $0 }.split(separator: "\n") }

        func logger(_ format: LogFormat, _ level: Logger.Level = .info) -> (Logger, LogWriter) {
            let writer = LogWriter(format: format, level: level) { line in self.text.withLock { $0 += line } }
            return (Logger(label: "test") { RelayLogHandler(label: $0, writer: writer) }, writer)
        }
    }

    private static let now = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

    @Test("leaves out repeated lines, and says how many there were")
    func repeated() {
        var lines = RepeatedLines()
        let verdicts = (0..<20).map { lines.take("again", now: Self.now + .milliseconds(Int64($0))) }
        #expect(verdicts == Array(repeating: 0, count: RepeatedLines.limit) + Array(repeating: nil, count: 15))
        #expect(lines.take("another", now: Self.now) == 0)
        #expect(lines.ended(now: Self.now + .seconds(9)).isEmpty)
        #expect(lines.take("again", now: Self.now + RepeatedLines.window) == 15)
        #expect(lines.take("again", now: Self.now + RepeatedLines.window) == 0)
    }

    @Test("says once that a line was left out which does not come again")
    func ended() {
        var lines = RepeatedLines()
        for _ in 0..<8 { _ = lines.take("again", now: Self.now) }
        let ended = lines.ended(now: Self.now + RepeatedLines.window)
        #expect(ended.map(\.line) == ["again"] && ended.map(\.leftOut) == [8 - RepeatedLines.limit])
        #expect(lines.ended(now: Self.now + .hours(1)).isEmpty)
    }

    @Test("lets many different lines through, and does not grow with them")
    func different() {
        var lines = RepeatedLines()
        let verdicts = (0..<4 * RepeatedLines.capacity).map { lines.take("line \($0)", now: Self.now) }
        #expect(verdicts.allSatisfy { $0 == 0 })
        let again = (0..<RepeatedLines.limit).map { _ in lines.take("line 0", now: Self.now) }
        #expect(again.allSatisfy { $0 == 0 }, "it was forgotten")
    }

    @Test("limits lines by their text, metadata and level, from all loggers together")
    func limit() {
        let page = Page()
        let (logger, _) = page.logger(.text)
        for _ in 0..<50 { logger.info("the same") }
        for number in 0..<50 { logger.info("the same", metadata: ["number": "\(number)"]) }
        logger.warning("the same")
        #expect(page.lines.count == RepeatedLines.limit + 51)
    }

    @Test("is a JSON object a line, whatever stands in it")
    func json() throws {
        let page = Page()
        var (logger, _) = page.logger(.json)
        logger[metadataKey: "device"] = "left"
        logger.notice("a \"quoted\"\nline \\ \u{7}", metadata: ["pid": "17"])
        let line = try #require(page.lines.first)
        #expect(page.lines.count == 1)
        let object = try JSONValue(parsing: line.utf8)
        #expect(object["level"] == "notice" && object["logger"] == "test" && object["source"] == "RelayTests")
        #expect(object["message"] == "a \"quoted\"\nline \\ \u{7}")
        #expect(object["metadata"] == ["device": "left", "pid": "17"])
    }

    @Test("is a line of text for people, whatever stands in it")
    func text() throws {
        let page = Page()
        let (logger, _) = page.logger(.text)
        logger.warning("first\nsecond", metadata: ["device": "left"])
        let line = try #require(page.lines.first)
        #expect(page.lines.count == 1)
        #expect(line.hasSuffix(" warning test: device=left [RelayTests] first | second"), "\(line)")
    }

    @Test("as text has one line for each, without control characters, whatever stands in message and metadata")
    func control() throws {
        let page = Page()
        let (logger, _) = page.logger(.text)
        logger.warning("first\r\nsecond\rthird\u{2028}fourth\u{1B}[2J", metadata: ["device": "a\nb\r\nc\u{7}"])
        let line = try #require(page.lines.first)
        #expect(page.lines.count == 1)
        #expect(!line.unicodeScalars.contains { $0.properties.generalCategory == .control || $0 == "\u{2028}" })
        #expect(line.contains("device=a\\nb\\r\\nc\\u{07} "), "\(line)")
        #expect(line.hasSuffix("first | second | third | fourth\\u{1B}[2J"), "\(line)")
    }

    @Test("limits lines of requests that differ in their number alone, and none of the audit")
    func requests() {
        let page = Page()
        let (logger, _) = page.logger(.text)
        for number in 0..<50 { logger.info("the same", metadata: ["hb.request.id": "\(number)"]) }
        #expect(page.lines.count == RepeatedLines.limit)
        for number in 0..<50 { logger.info("audit", metadata: ["hb.request.id": "\(number)"]) }
        #expect(page.lines.count == RepeatedLines.limit + 50)
    }

    @Test("changes its level while it is written, except for loggers with their own level")
    func level() {
        let page = Page()
        let (logger, writer) = page.logger(.text, .warning)
        var quiet = logger
        quiet.logLevel = .critical
        logger.info("left out")
        writer.level = .debug
        logger.debug("written")
        quiet.error("left out, too")
        #expect(page.lines.count == 1)
    }

    @Test("of a relay with --log-format json is JSON from the first line to the last")
    func relay() throws {
        let relay = Process()
        relay.executableURL = Programs.product("heliograph-relay")
        relay.arguments = [
            "--http", "127.0.0.1:0", "--agent-link", "127.0.0.1:0", "--log-format", "json", "--print-ports",
            "--log-level", "debug",
        ]
        let (output, errors) = (Pipe(), Pipe())
        relay.standardOutput = output
        relay.standardError = errors
        try Programs.start(relay)
        defer { if relay.isRunning { kill(relay.processIdentifier, SIGKILL) } }
        let log = Collector(errors.fileHandleForReading)
        #expect(!output.fileHandleForReading.availableData.isEmpty)
        relay.terminate()
        relay.waitUntilExit()
        let lines = String(decoding: log.wait(), as: UTF8.self).split(separator: "\n")
        #expect(!lines.isEmpty)
        for line in lines {
            let object = try? JSONValue(parsing: line.utf8)
            #expect(object?["time"] != nil && object?["level"] != nil && object?["message"] != nil, "\(line)")
        }
    }
}
