import HeliographAPI
import NIOCore
package import Wire

extension Problem {
    init(_ fault: ActionFault) { self.init(fault.code, fault.detail, field: fault.field) }

    static func controlled(by controller: InputControl.Caller, device: String) -> Problem {
        controlled(
            "\(controller.who) controls device \(device): wait until it has been idle for \(InputControl.idleTime.seconds) s, or set take to true",
            by: controller
        )
    }

    private static func controlled(_ detail: String, by controller: InputControl.Caller) -> Problem {
        var problem = Problem(.controlled, detail)
        problem.extra = [JSONValue.Member(name: "controller", value: .string("\(controller)"))]
        return problem
    }

    /// Creates the problem of an agent that cannot do what a call wants.
    ///
    /// - Parameter input: What the agent says that it can do; `nil` if it says nothing.
    static func noInput(_ detail: String, _ input: InputCapabilities?) -> Problem {
        var problem = Problem(.noInput, detail)
        let report = input.flatMap { try? JSONValue(encoding: InputDevicesReport($0)) }
        problem.extra = [JSONValue.Member(name: "input", value: report ?? .null)]
        return problem
    }

    /// Creates the problem of an order that an agent has not performed; `nil` if it has.
    ///
    /// - Parameters:
    ///   - input: What the agent says that it can do.
    ///   - limit: How long the order could take.
    init?(_ outcome: InputOrders.Outcome, _ input: InputCapabilities?, device: String, limit: TimeAmount) {
        switch outcome {
        case .done: return nil
        case .lost:
            self.init(.inputFailed, "the agent was lost before it answered; some of the actions may be done")
        case .timeout:
            self.init(
                .inputTimeout,
                "the agent did not answer within \(limit.seconds.rounded(places: 1)) s; some of the actions may be done"
            )
        case .refused(let refusal, let step, let detail):
            self = Self.refused(refusal, after: step, detail, input)
        case .withdrawn(.takenOver(let caller)):
            self = Self.controlled(
                "\(caller.who) has taken device \(device) over; some of the actions may be done",
                by: caller
            )
        case .withdrawn(.feedSwitched):
            self.init(
                .inputFailed,
                "another agent shows the screen since; some of the actions may be done, and everything is released"
            )
        case .withdrawn(.callerGone): self.init(.inputFailed, "the caller is gone")
        }
    }

    /// - Parameter step: How many steps were done before.
    private static func refused(
        _ refusal: InputReport.Refusal,
        after step: Int,
        _ detail: String,
        _ input: InputCapabilities?
    ) -> Problem {
        /// Returns the agent's own reason, or `text` if it gives none.
        func reason(_ text: String) -> String { detail.isEmpty ? text : detail }
        switch refusal {
        case .unknownSession: return noPlace("unknown_session", "the agent does not know the session yet")
        case .noFrame: return noPlace("no_frame", "the screen has sent no picture yet, so places mean nothing")
        case .geometryChanged:
            return Problem(
                .geometryChanged,
                "the picture's size or orientation has changed: take a new snapshot",
                field: "geometry"
            )
        case .outside:
            return Problem(.outOfRange, reason("a place is outside the screen, or on the border around its picture"))
        case .unsupported: return noInput(reason("the desktop cannot do one of the actions"), input)
        case .noBackend: return noInput(reason(input?.problem ?? "the agent cannot act on its desktop"), input)
        case .busy: return Problem(.tooManyOrders, "too many calls wait until the agent performs their actions")
        case .failed:
            let reason = reason("The desktop did not take an event.")
            return Problem(.inputFailed, "\(reason) Steps that were done before: \(step).")
        }
    }

    private static func noPlace(_ cause: String, _ detail: String) -> Problem {
        var problem = Problem.retryable(.noPicture, detail)
        problem.extra = [JSONValue.Member(name: "cause", value: .string(cause))]
        return problem
    }
}

extension InputCapabilities {
    /// Returns why the agent cannot perform steps; `nil` if it may be able to.
    package func objection(to steps: [InputStep]) -> String? {
        let resizes = steps.count { if case .resize = $0 { true } else { false } }
        if resizes > 0, resize != true { return "the desktop has no monitor that takes another size" }
        // A size needs no devices.
        if backend == "none", resizes == 0 || resizes < steps.count {
            return problem ?? "the agent cannot act on its desktop"
        }
        for step in steps {
            switch step {
            case .pointer, .pointerBy, .button, .scroll:
                if !pointer { return "the desktop (\(backend)) takes no pointer" }
            case .key, .text:
                if !keyboard { return "the desktop (\(backend)) takes no keys" }
            case .touch:
                if !touch { return "the desktop (\(backend)) takes no touches: use click and drag instead" }
            case .pause, .releaseAll, .resize: break
            }
        }
        return nil
    }
}
