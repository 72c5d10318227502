import Foundation

/// Charts as SVG, readable on light and on dark pages.
struct Chart {
    /// One colour of bars, or one line.
    struct Series {
        var name: String
        /// One value for each group, or each x, of the chart; `nil` if it is missing.
        var values: [Double?]
        /// The least and the greatest of each value.
        var spread: [(Double, Double)?] = []
    }

    enum Kind {
        case bars, lines
    }

    var title: String
    var unit: String
    var groups: [String]
    var series: [Series]
    var kind = Kind.bars

    private static let (width, height) = (860.0, 340.0)
    private static let (left, right, top, bottom) = (56.0, 12.0, 58.0, 34.0)
    private static let colours = ["#2a78d6", "#e07b39", "#3a9d5d", "#b04fc4", "#c9a227", "#7a7a7a", "#4bb3c3"]

    func svg() -> String {
        let greatest = series.flatMap { $0.values.compactMap { $0 } + $0.spread.compactMap { $0?.1 } }.max() ?? 1
        let step = Self.step(for: greatest), limit = (greatest / step).rounded(.up) * step
        func y(_ value: Double) -> Double {
            Self.height - Self.bottom - value / limit * (Self.height - Self.top - Self.bottom)
        }
        var body = [text(title, 8, 18, "font-weight=\"600\" font-size=\"14\""), text(unit, 8, 50, "opacity=\"0.7\"")]
        var legend = 56.0
        for (index, one) in series.enumerated() {
            body.append(rectangle(legend, 27, 10, 10, Self.colour(index)))
            body.append(text(one.name, legend + 14, 36, ""))
            legend += 26 + 6.6 * Double(one.name.count)
        }
        for tick in stride(from: 0, through: limit + step / 2, by: step) {
            body.append(line(Self.left, y(tick), Self.width - Self.right, y(tick), "#888", "stroke-opacity=\"0.3\""))
            body.append(text(Self.number(tick), Self.left - 6, y(tick) + 4, "text-anchor=\"end\""))
        }
        let span = (Self.width - Self.left - Self.right) / Double(groups.count)
        for (place, group) in groups.enumerated() {
            let middle = Self.left + span * (Double(place) + 0.5)
            body.append(text(group, middle, Self.height - 14, "text-anchor=\"middle\""))
        }
        for (index, one) in series.enumerated() {
            var points: [(Double, Double)] = []
            let bar = span * 0.8 / Double(series.count)
            for (place, value) in one.values.enumerated() {
                guard let value else { continue }
                let begin = Self.left + span * (Double(place) + 0.1) + bar * Double(index)
                let x = kind == .bars ? begin + bar / 2 : Self.left + span * (Double(place) + 0.5)
                if kind == .bars {
                    body.append(rectangle(begin, y(value), bar - 1, y(0) - y(value), Self.colour(index)))
                }
                points.append((x, y(value)))
                if place < one.spread.count, let spread = one.spread[place] {
                    body.append(line(x, y(spread.0), x, y(spread.1), "#555", ""))
                }
            }
            guard kind == .lines else { continue }
            let path = points.map { "\(Self.place($0.0)),\(Self.place($0.1))" }.joined(separator: " ")
            body.append(
                "<polyline points=\"\(path)\" fill=\"none\" stroke=\"\(Self.colour(index))\" stroke-width=\"2\"/>"
            )
            for (x, y) in points {
                body.append(
                    "<circle cx=\"\(Self.place(x))\" cy=\"\(Self.place(y))\" r=\"3\" fill=\"\(Self.colour(index))\"/>"
                )
            }
        }
        return """
            <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" font-family="sans-serif" font-size="11">
            <rect width="100%" height="100%" rx="6" fill="#fbfbfb"/>
            \(body.joined(separator: "\n"))
            </svg>

            """
    }

    /// A round distance between about five ticks.
    private static func step(for greatest: Double) -> Double {
        let raw = max(greatest, 1e-9) / 5, power = pow(10, log10(raw).rounded(.down))
        return power * ([1, 2, 5, 10].first { $0 * power >= raw } ?? 10)
    }

    private static func colour(_ index: Int) -> String { colours[index % colours.count] }

    private static func place(_ value: Double) -> String { String(format: "%.1f", value) }

    private static func number(_ value: Double) -> String { String(format: "%g", (value * 1e6).rounded() / 1e6) }

    private func text(_ text: String, _ x: Double, _ y: Double, _ more: String) -> String {
        "<text x=\"\(Self.place(x))\" y=\"\(Self.place(y))\" fill=\"#222\" \(more)>\(text)</text>"
    }

    private func rectangle(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ colour: String) -> String {
        """
        <rect x="\(Self.place(x))" y="\(Self.place(y))" width="\(Self.place(width))" height="\(Self.place(max(0, height)))" fill="\(colour)"/>
        """
    }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ colour: String, _ more: String)
        -> String
    {
        """
        <line x1="\(Self.place(x1))" y1="\(Self.place(y1))" x2="\(Self.place(x2))" y2="\(Self.place(y2))" stroke="\(colour)" \(more)/>
        """
    }
}
