import CLinux
import Glibc

/// A thread that runs one closure, and is joined or let go.
package final class WorkerThread: @unchecked Sendable {
    // Unchecked because `handle` is written once, before the object is shared.

    private final class Start {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private var handle = pthread_t()

    /// - Parameter name: Shown by `top -H` and debuggers; at most 15 characters.
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

    /// Throws if the system would refuse another thread: for libraries that cannot do without and do not check.
    package static func requireSupply() throws(ResourceShortage) {
        try WorkerThread(name: "trial") {}.join()
    }

    /// Lets the thread go: nobody joins it.
    package func detach() {
        pthread_detach(handle)
    }

    /// Waits until the closure has returned. Called once, from another thread.
    package func join() {
        pthread_join(handle, nil)
    }
}
