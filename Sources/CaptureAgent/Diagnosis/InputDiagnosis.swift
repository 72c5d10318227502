package import Program
package import Wire

/// How the agent would act on this desktop. Nobody is asked, and no device is made.
package enum InputDiagnosis {
    private static let check = "input"

    /// What `heliograph doctor` shows.
    package static func finding(_ choice: InputChoice) -> Finding {
        switch choice {
        case .off: Finding(check, .ok, "Acting on the screen is off.")
        case .portal: portal
        case .auto, .uinput: finding(InputBackendChoice(.auto(.monitor, cursor: .embedded), choice).capabilities())
        }
    }

    private static func finding(_ capabilities: InputCapabilities) -> Finding {
        if let problem = capabilities.problem {
            return Finding(
                check,
                .warning,
                problem,
                advice: "Only acting on the screen needs it: docs/guide/input.md, Desktops."
            )
        }
        return Finding(
            check,
            .ok,
            "Acting on the screen works, by \(capabilities.backend): \(summary(of: capabilities))."
        )
    }

    private static var portal: Finding {
        do throws(BusError) {
            let capabilities = PortalInput.capabilities(
                of: try RemoteDesktopPortal.availableDevices(),
                hasScreen: true
            )
            guard capabilities.problem == nil else {
                return Finding(check, .warning, "The desktop's portal offers no devices.", advice: "Use --input auto.")
            }
            return Finding(
                check,
                .warning,
                "Acting on the screen works by the desktop's portal: \(summary(of: capabilities)). It asks a person at "
                    + "every start of the agent.",
                advice: "Answer the desktop's dialog when the broadcast starts. To ask nobody: --input auto."
            )
        } catch {
            return Finding(
                check,
                .warning,
                error == .timeout
                    ? "The desktop's portal did not answer in time." : PortalRefusal(error, timeout: 0).detail,
                advice: "Only acting on the screen needs it: docs/guide/input.md, Desktops."
            )
        }
    }

    /// Returns what a backend can do, for people.
    package static func summary(of capabilities: InputCapabilities) -> String {
        let parts: [(Bool, String, String)] = [
            (capabilities.pointer, "a pointer", "no pointer"),
            (
                capabilities.keyboard,
                capabilities.anyCharacter ? "every character" : "the characters of the keyboard's layout", "no keyboard"
            ),
            (capabilities.touch, "touch", "no touch"),
            (
                capabilities.smoothScroll, "scrolling by less than a notch of the wheel",
                "scrolling by notches of the wheel"
            ),
        ]
        return parts.map { $0.0 ? $0.1 : $0.2 }.joined(separator: ", ")
    }
}
