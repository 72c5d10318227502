import AsyncHTTPClient
package import NIOCore
import NIOHTTP1

/// The body of a relay's answer, as it comes.
///
///     for try await bytes in body { try file.write(bytes) }
package struct AnswerBody: AsyncSequence, Sendable {
    package typealias Element = ByteBuffer
    package typealias Failure = RelayError

    private let body: HTTPClientResponse.Body
    private let url: String
    private let deed: String

    /// - Parameters:
    ///   - url: The relay's address.
    ///   - deed: What the relay did if the body ends early, as in "broke the stream off".
    init(_ body: HTTPClientResponse.Body, of url: String, _ deed: String) {
        (self.body, self.url, self.deed) = (body, url, deed)
    }

    package func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(body: body.makeAsyncIterator(), url: url, deed: deed)
    }

    package struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var body: HTTPClientResponse.Body.AsyncIterator
        fileprivate let url: String
        fileprivate let deed: String

        package mutating func next(isolation actor: isolated (any Actor)?) async throws(RelayError) -> ByteBuffer? {
            do {
                return try await body.next(isolation: actor)
            } catch is CancellationError {
                throw RelayError(.cancelled, "the call was cancelled")
            } catch let error as HTTPClientError where error == .deadlineExceeded {
                throw .late(url)
            } catch let error as HTTPClientError where error == .cancelled {
                guard Task.isCancelled else { throw RelayError(.closed, "the client was closed") }
                throw RelayError(.cancelled, "the call was cancelled")
            } catch let error as IOError {
                throw RelayError(.brokenOff, "the relay at \(url) \(deed): \(error)")
            } catch {
                throw RelayError(.brokenOff, "the relay at \(url) \(deed)")
            }
        }

        package mutating func next() async throws(RelayError) -> ByteBuffer? {
            try await next(isolation: #isolation)
        }
    }

    /// Returns all of it.
    ///
    /// - Throws: ``RelayError`` if it breaks off, or is longer than `limit` bytes.
    func collect(atMost limit: Int) async throws(RelayError) -> ByteBuffer {
        var all = ByteBuffer()
        for try await bytes in self {
            guard bytes.readableBytes <= limit - all.readableBytes else {
                throw RelayError(
                    .notUnderstood,
                    "the relay at \(url) sends a longer answer than a relay of this release"
                )
            }
            all.writeImmutableBuffer(bytes)
        }
        return all
    }
}
