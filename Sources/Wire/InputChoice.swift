/// The way in which an agent acts on its desktop, in configurations and arguments.
package enum InputChoice: String, Sendable, Codable, CaseIterable {
    /// What the desktop itself offers, if it asks nobody.
    case auto
    /// The desktop's portal, which asks a person at every start of the agent.
    case portal
    /// Virtual devices of the kernel, for every desktop of the machine.
    case uinput
    /// Not at all.
    case off
}
