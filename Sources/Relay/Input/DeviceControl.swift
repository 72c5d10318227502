import HeliographAPI
import NIOCore
import Wire

/// Which caller controls a device: keeps to ``InputControl``, has everything released when control changes, and tells
/// the change.
@MediaLoop
final class DeviceControl {
    private let device: String
    private let orders: InputOrders
    private let events: EventHub
    private var control = InputControl()
    /// The viewer that controls the device by hand, if one does.
    private weak var viewer: ViewerControl?

    init(of device: String, orders: InputOrders, events: EventHub) {
        (self.device, self.orders, self.events) = (device, orders, events)
    }

    /// The caller that controls the device; `nil` for none.
    var holder: InputControl.Caller? { control.holder }

    /// Begins a call that acts on the device. Each one that is granted needs an ``end(of:)``.
    ///
    /// If another caller takes over, the orders of the former one end, and what they hold is released.
    ///
    /// - Parameter viewer: The viewer that acts by hand. It keeps control until another caller wants it, and its claim
    ///   needs no end; `nil` for a call.
    func claim(
        by caller: InputControl.Caller,
        of viewer: ViewerControl? = nil,
        takes: Bool
    ) -> InputControl.Claim {
        let holder = control.holder
        let claim = control.claim(by: caller, takes: takes, now: .now())
        if case .granted(let former) = claim {
            if former != nil || viewer != nil && viewer !== self.viewer {
                self.viewer?.lose()
                self.viewer = nil
            }
            if former != nil {
                for role in AgentRole.allCases { orders.withdraw(from: role, because: .takenOver(by: caller)) }
            }
            if let viewer {
                self.viewer = viewer
                control.stay(caller)
                control.end(of: caller, now: .now())
            }
        }
        publishChange(from: holder)
        return claim
    }

    /// Ends a call. Its caller keeps control for a while.
    func end(of caller: InputControl.Caller) { control.end(of: caller, now: .now()) }

    /// Ends a caller's control, unless a call of it is under way.
    func leave(_ caller: InputControl.Caller) {
        let holder = control.holder
        control.leave(caller)
        publishChange(from: holder)
    }

    /// Ends the control of an idle caller. Called periodically.
    func tick() {
        let holder = control.holder
        _ = control.lapse(now: .now())
        publishChange(from: holder)
    }

    private func publishChange(from former: InputControl.Caller?) {
        guard control.holder != former else { return }
        events.publish(.controllerChanged, device: device, state: control.holder?.description)
    }
}
