import AsyncHTTPClient
package import Logging
import NIOCore
import Synchronization

/// Sends events to webhooks.
///
/// A webhook has a ``WebhookLane`` for each device, and one for the relay's own events. So a device's events arrive in
/// order, and an undelivered one does not delay other devices.
package final class Webhooks: Sendable {
    private struct Running {
        let lanes: [WebhookLane]
        let task: Task<Void, Never>
    }

    /// The time limit for deliveries under way when the relay ends.
    private static let endingTime = Duration.seconds(2)

    private let events: EventHub
    private let devices: [String]
    private let policy: WebhookLane.Policy
    private let logger: Logger
    private let running = Mutex<[String: Running]>([:])
    private let tallies = Mutex<[String: WebhookLane.Tally]>([:])

    /// Creates the sender without webhooks.
    ///
    /// - Parameter devices: The names of the relay's devices.
    package init(events: EventHub, devices: [String], policy: WebhookLane.Policy, logger: Logger) {
        self.events = events
        self.devices = devices
        self.policy = policy
        self.logger = logger
    }

    /// The results of events, by the webhook's name.
    var figures: [(name: String, tally: WebhookLane.Tally)] {
        tallies.withLock { $0.sorted { $0.key < $1.key }.map { (name: $0.key, tally: $0.value) } }
    }

    /// Replaces the webhooks. Unchanged ones continue. A changed one begins with the events that its former settings
    /// did not deliver.
    package func change(to webhooks: [Webhook]) {
        running.withLock { running in
            let former = running
            for (name, webhook) in former where !webhooks.contains(where: { webhook.lanes.first?.webhook == $0 }) {
                webhook.task.cancel()
                running[name] = nil
            }
            for webhook in webhooks where running[webhook.name] == nil {
                tallies.withLock { if $0[webhook.name] == nil { $0[webhook.name] = .init() } }
                // Created before the task runs, so that no event is missed.
                let lanes = lanes(of: webhook, after: former[webhook.name]?.lanes ?? [])
                running[webhook.name] = Running(lanes: lanes, task: Task { await run(lanes) })
            }
        }
    }

    /// Ends all lanes. Events from before the hub was closed are sent once more, within ``endingTime``.
    package func end() async {
        let tasks = running.withLock { running in
            defer { running = [:] }
            return running.values.map(\.task)
        }
        guard !tasks.isEmpty else { return }
        let limit = Task {
            try? await Task.sleep(for: Self.endingTime)
            for task in tasks { task.cancel() }
        }
        for task in tasks { await task.value }
        limit.cancel()
    }

    /// Returns the lanes of a webhook. They continue where its former ones stopped.
    private func lanes(of webhook: Webhook, after former: [WebhookLane]) -> [WebhookLane] {
        let subjects =
            webhook.device.map { [EventRing.Subject.device($0)] } ?? devices.map(EventRing.Subject.device) + [.relay]
        var logger = logger
        logger[metadataKey: "webhook"] = "\(webhook.name)"
        return subjects.map { subject in
            let last = former.first { $0.subject == subject }?.last
            return WebhookLane(webhook, subject, after: last, of: events, policy: policy, logger: logger) {
                [self] change in
                tallies.withLock { change(&$0[webhook.name, default: .init()]) }
            }
        }
    }

    private func run(_ lanes: [WebhookLane]) async {
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.timeout.connect = .seconds(5)
        // The lane retries and counts attempts itself.
        configuration.connectionPool.retryConnectionEstablishment = false
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        await withTaskGroup { group in
            for lane in lanes { group.addTask { await lane.run(client) } }
        }
        try? await client.shutdown()
    }
}
