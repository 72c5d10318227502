import HeliographAPI
import Hummingbird
import Logging
import NIOCore

/// Answers every error as a problem.
struct ProblemMiddleware<Context: RequestContext>: RouterMiddleware {
    func handle(
        _ request: Request,
        context: Context,
        next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        let response = try await answer(request, context: context, next: next)
        // RFC 9110 section 9.3.2: bytes behind the head would be taken for the next answer.
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
                Problem(.unknownRoute, "there is no \(request.uri.path) here; the routes are in docs/api.md")
            )
        } catch let error as any HTTPResponseError {
            var problem = Problem(.httpError, "\(error)")
            problem.status = error.status.code
            return Answer.problem(problem)
        } catch  where Self.isAbort(error) {
            // The client has gone, or the relay is going: nobody reads an answer.
            context.logger.debug("\(request.method) \(request.uri.path) was given up: \(error)")
            throw error
        } catch {
            context.logger.error("\(request.method) \(request.uri.path) failed: \(error)")
            return Answer.problem(Problem(.internalError, "an error of the relay's own; its log says more"))
        }
    }

    private static func isAbort(_ error: any Error) -> Bool {
        error is CancellationError || error is ChannelError || error is IOError || error is NIOAsyncWriterError
    }
}
