/// Lets a limited number of callers through at once, first come, first served.
actor Turnstile {
    private var free: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) {
        free = places
    }

    nonisolated func through<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        await enter()
        let outcome: Result<Value, any Error>
        do {
            outcome = .success(try await body())
        } catch {
            outcome = .failure(error)
        }
        await leave()
        return try outcome.get()
    }

    private func enter() async {
        guard free == 0 else {
            free -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    private func leave() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        free += 1
    }
}
