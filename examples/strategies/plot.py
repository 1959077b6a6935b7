"""Lines over time as an SVG picture, by hand."""

import math
from xml.sax.saxutils import escape

# Colours that people who see fewer of them can tell apart, too (Okabe and Ito), and a grey.
COLOURS = ["#555555", "#0072b2", "#56b4e9", "#d55e00", "#e69f00", "#cc79a7", "#009e73", "#7a5195", "#8c6d31"]
DASHES = ["", "", "", "", "", "", "7 3", "3 3", "9 3 2 3"]
WIDTH, HEIGHT = 860, 480
LEFT, RIGHT, TOP, BOTTOM = 74, 210, 44, 60


def ticks(low, high, about=6):
    """Round numbers from low to high."""
    size = 10 ** math.floor(math.log10((high - low) / about))
    step = next(size * f for f in (1, 2, 5, 10) if (high - low) / (size * f) <= about)
    return [round(step * i, 10) for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def write_svg(path, title, x_label, y_label, lines):
    """`lines` are (name, [(x, y), ...]) with y in percent; x starts at 0."""
    points = [point for _, line in lines for point in line]
    x_high = 1.03 * max(x for x, _ in points)
    y_low, y_high = min(y for _, y in points), max(y for _, y in points)
    margin = max(0.08 * (y_high - y_low), 0.5)
    y_low, y_high = max(0.0, y_low - margin), min(100.0, y_high + margin)

    def across(x):
        return LEFT + (WIDTH - LEFT - RIGHT) * x / x_high

    def down(y):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (y - y_low) / (y_high - y_low)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{LEFT}" y="26" font-size="15" font-weight="bold">{escape(title)}</text>']
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for x in ticks(0, x_high):
        out.append(f'<line x1="{across(x):.1f}" y1="{TOP}" x2="{across(x):.1f}" y2="{bottom}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{across(x):.1f}" y="{bottom + 20}" text-anchor="middle">{x:g}</text>')
    for y in ticks(y_low, y_high):
        out.append(f'<line x1="{LEFT}" y1="{down(y):.1f}" x2="{right}" y2="{down(y):.1f}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{LEFT - 8}" y="{down(y) + 4:.1f}" text-anchor="end">{y:g} %</text>')
    out.append(f'<path d="M{LEFT} {TOP}V{bottom}H{right}" fill="none" stroke="#333333"/>')
    out.append(f'<text x="{(LEFT + right) / 2}" y="{HEIGHT - 16}" text-anchor="middle">{escape(x_label)}</text>')
    out.append(f'<text transform="translate(18 {(TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">'
               f'{escape(y_label)}</text>')
    for number, (name, line) in enumerate(lines):
        colour, dash = COLOURS[number % len(COLOURS)], DASHES[number % len(DASHES)]
        style = f'stroke="{colour}" stroke-width="2" fill="none"' + (f' stroke-dasharray="{dash}"' if dash else "")
        out.append('<polyline points="' + " ".join(f"{across(x):.1f},{down(y):.1f}" for x, y in line) + f'" {style}/>')
        out += [f'<circle cx="{across(x):.1f}" cy="{down(y):.1f}" r="3.5" fill="{colour}"/>' for x, y in line]
        at = TOP + 12 + 22 * number
        out.append(f'<line x1="{right + 16}" y1="{at}" x2="{right + 46}" y2="{at}" {style}/>')
        out.append(f'<circle cx="{right + 31}" cy="{at}" r="3.5" fill="{colour}"/>')
        out.append(f'<text x="{right + 54}" y="{at + 4}">{escape(name)}</text>')
    out.append("</svg>\n")
    with open(path, "w") as file:
        file.write("\n".join(out))
