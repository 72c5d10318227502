import AsyncHTTPClient
import FoundationEssentials
import HeliographAPI
import Logging
package import NIOCore
import NIOHTTP1
import Synchronization

/// Sends one webhook the events of one device, one at a time.
///
/// It keeps no events: it reads the ring at its own pace, as an HTTP listener does, and reports how many it missed.
package final class WebhookLane: Sendable {
    /// When and how often an undelivered event is sent again.
    package struct Policy: Sendable {
        package var firstPause = TimeAmount.seconds(1)
        package var longestPause = TimeAmount.seconds(60)
        /// Most attempts per event.
        package var attempts = 10

        package init() {}

        /// Returns the pause after an attempt, counted from 1; `nil` if it was the last.
        package func pause(after attempt: Int) -> TimeAmount? {
            guard attempt < attempts else { return nil }
            let doubled = firstPause.nanoseconds.multipliedReportingOverflow(by: 1 << min(attempt - 1, 30))
            return doubled.overflow ? longestPause : min(.nanoseconds(doubled.partialValue), longestPause)
        }
    }

    /// The results of a webhook's events.
    struct Tally: Sendable {
        var taken: UInt64 = 0
        /// Events answered with a status that another attempt would not change.
        var refused: UInt64 = 0
        /// Events that no attempt could deliver.
        var abandoned: UInt64 = 0
        /// Events that the ring had dropped before the lane reached them.
        var missed: UInt64 = 0
        var retries: UInt64 = 0
    }

    /// The result of one attempt.
    private enum Outcome {
        case taken, refused(String), failed(String)
    }

    /// The time limit for an answer.
    private static let answerTime = TimeAmount.seconds(10)
    /// How long the rest of an answer may take before its connection is given up.
    private static let restTime = Duration.seconds(2)
    /// Most bytes of an answer that are read. Reading it lets the connection be reused.
    private static let longestAnswer = 64 << 10

    let webhook: Webhook
    let subject: EventRing.Subject
    private let filter: EventRing.Filter
    private let events: EventHub
    private let policy: Policy
    private let logger: Logger
    private let count: @Sendable ((inout Tally) -> Void) -> Void
    private let listener: EventHub.Listener
    /// The number of the last event that needs no further attempt.
    private let done: Mutex<UInt64>

    /// Creates a lane.
    ///
    /// - Parameter last: The number of the event after which it begins; `nil` to begin with the next one.
    init(
        _ webhook: Webhook,
        _ subject: EventRing.Subject,
        after last: UInt64?,
        of events: EventHub,
        policy: Policy,
        logger: Logger,
        count: @escaping @Sendable ((inout Tally) -> Void) -> Void
    ) {
        self.webhook = webhook
        self.subject = subject
        self.events = events
        self.policy = policy
        self.logger = logger
        self.count = count
        filter = EventRing.Filter(kinds: webhook.kinds, subject: subject)
        let (listener, newest) = events.join()
        self.listener = listener
        done = Mutex(last ?? newest)
    }

    /// Runs until the task is cancelled or the hub is closed.
    func run(_ client: HTTPClient) async {
        await withTaskCancellationHandler {
            while await events.wait(listener, after: last) { await tell(client) }
            // Sends the events that arrived while the hub was closing.
            if !Task.isCancelled { await tell(client) }
        } onCancel: {
            events.leave(listener)
        }
        events.leave(listener)
    }

    /// The number of the last event that needs no further attempt.
    var last: UInt64 { done.withLock { $0 } }

    /// Sends the events that have come.
    private func tell(_ client: HTTPClient) async {
        let number = last
        let found = events.events(after: number, filter)
        if found.missed > 0 {
            count { $0.missed += found.missed }
            await send(EventReport.missed(found.missed).text, id: "\(events.instance)-\(number)-missed", client)
        }
        for event in found.events {
            await send(event.data, id: "\(events.instance)-\(event.number)", client)
            guard !Task.isCancelled else { return }
            done.withLock { $0 = event.number }
        }
        done.withLock { $0 = found.last }
    }

    /// Sends a message until it is delivered, refused or given up.
    private func send(_ body: String, id: String, _ client: HTTPClient) async {
        for attempt in 1...max(policy.attempts, 1) {
            let reason: String
            switch await post(body, id: id, client) {
            case .taken:
                if attempt > 1 { logger.notice("the webhook takes events again") }
                return count { $0.taken += 1 }
            case .refused(let answer):
                logger.warning("the webhook refused event \(id): \(answer)")
                return count { $0.refused += 1 }
            case .failed(let failure): reason = failure
            }
            guard !Task.isCancelled, !events.isClosed, let pause = policy.pause(after: attempt) else {
                logger.warning("the webhook did not accept event \(id), giving up: \(reason)")
                return count { $0.abandoned += 1 }
            }
            if attempt == 1 { logger.warning("the webhook did not accept event \(id), trying again: \(reason)") }
            count { $0.retries += 1 }
            try? await Task.sleep(for: .nanoseconds(pause.nanoseconds))
        }
    }

    private func post(_ body: String, id: String, _ client: HTTPClient) async -> Outcome {
        var request = HTTPClientRequest(url: webhook.url)
        request.method = .POST
        request.headers.add(name: "content-type", value: "application/json")
        let time = Int(Date().timeIntervalSince1970)
        for field in webhook.secret.headers(of: body, id: id, time: time) {
            request.headers.add(name: field.name, value: field.value)
        }
        request.body = .bytes(ByteBuffer(string: body))
        do {
            let response = try await client.execute(request, deadline: .now() + Self.answerTime)
            // The deadline ends with the head. The status counts, even if the rest never comes.
            await withTaskGroup { group in
                group.addTask { _ = try? await response.body.collect(upTo: Self.longestAnswer) }
                group.addTask { try? await Task.sleep(for: Self.restTime) }
                await group.next()
                group.cancelAll()
            }
            let status = response.status.code
            switch status {
            case 200..<300: return .taken
            // Request Timeout, Too Early and Too Many Requests ask for another attempt.
            case 408, 425, 429: return .failed("status \(status)")
            case 300..<500: return .refused("status \(status)")
            default: return .failed("status \(status)")
            }
        } catch {
            return .failed("\(error)")
        }
    }
}
