package import Wire

/// A value for each role that an agent may have.
package struct EachRole<Value> {
    package var primary: Value
    package var standby: Value

    package init(_ value: Value) { (primary, standby) = (value, value) }

    package subscript(role: AgentRole) -> Value {
        get {
            switch role {
            case .primary: primary
            case .standby: standby
            }
        }
        set {
            switch role {
            case .primary: primary = newValue
            case .standby: standby = newValue
            }
        }
    }
}

extension EachRole: Sendable where Value: Sendable {}
