import HeliographAPI
import Hummingbird
import Logging
import NIOCore

/// Turns every error into a problem.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response = try await answer(request, context: context, next: next)
        // RFC 9110, section 9.3.2: a client would take bytes after the head for the next answer.
        return request.method == .head ? response.createHeadResponse() : response
    }

    private func answer(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        do {
            return try await next(request, context)
        } catch let problem as Problem {
            return Answer.problem(problem)
        } catch let error as HTTPError where error.status == .notFound {
            return Answer.problem(
                Problem(.unknownRoute, "unknown path \(request.uri.path); docs/reference/api.md lists the routes")
            )
        } catch let error as any HTTPResponseError {
            var problem = Problem(.httpError, "\(error)")
            problem.status = error.status.code
            return Answer.problem(problem)
        } catch  where Self.isAbort(error) {
            // The client is gone, or the relay is shutting down: no client reads an answer.
            context.logger.debug("\(request.method) \(request.uri.path) was given up: \(error)")
            throw error
        } catch {
            context.logger.error("\(request.method) \(request.uri.path) failed: \(error)")
            return Answer.problem(Problem(.internalError, "an internal error; see the relay's log"))
        }
    }

    private static func isAbort(_ error: any Error) -> Bool {
        error is CancellationError || error is ChannelError || error is IOError || error is NIOAsyncWriterError
    }
}
