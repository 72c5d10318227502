import CLinux
import Glibc

/// A thread that runs one closure and is then joined or detached.
package final class WorkerThread: @unchecked Sendable {
    // Unchecked because `handle` is written once, before the object is shared.

    private final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private var handle = pthread_t()

    /// - Parameter name: The name that `top -H` and debuggers show; at most 15 characters.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(ResourceShortage) {
        let start = Unmanaged.passRetained(Start(body))
        let result = pthread_create(
            &handle,
            nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            },
            start.toOpaque()
        )
        guard result == 0 else {
            start.release()
            throw .threads(String(cString: strerror(result)))
        }
        clinux_set_thread_name(handle, String(name.prefix(15)))
    }

    /// Throws if the system would refuse another thread. For libraries that need a thread and do not check for failure.
    package static func requireSupply() throws(ResourceShortage) {
        try WorkerThread(name: "trial") {}.join()
    }

    /// Detaches the thread, so that nobody has to join it.
    package func detach() {
        pthread_detach(handle)
    }

    /// Waits until the closure has returned. Must be called once, from another thread.
    package func join() {
        pthread_join(handle, nil)
    }
}
