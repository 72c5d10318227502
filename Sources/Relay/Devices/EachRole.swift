package import Wire

/// A value for each role that an agent may have.
package struct EachRole<Value> {
    package var broadcast: Value
    package var standby: Value

    package init(_ value: Value) { (broadcast, standby) = (value, value) }

    package subscript(role: AgentRole) -> Value {
        get {
            switch role {
            case .broadcast: broadcast
            case .standby: standby
            }
        }
        set {
            switch role {
            case .broadcast: broadcast = newValue
            case .standby: standby = newValue
            }
        }
    }
}

extension EachRole: Sendable where Value: Sendable {}
