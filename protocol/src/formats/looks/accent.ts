/** Colors of the pen on one ground, as `#rrggbb`: text and buttons, their pressed form, and the ground of a chip. */
type PenColors = { pen: string; deep: string; tint: string }

/** Color of the operator as it was set, and what the pages draw with it. */
export type AccentColor = { hex: string; light: PenColors; dark: PenColors }

/** Lightness 0 to 1, chroma, and hue in radians (OKLCH). */
type Lch = { lightness: number; chroma: number; hue: number }
/** Linear light, 0 to 1 within sRGB. */
type Rgb = [red: number, green: number, blue: number]

/** The grounds of `web/components/theme.css` on which the pen writes, and the text on a filled button. */
const grounds = {
  light: { papers: ['#f8f6ef', '#fefdfa', '#f3f1e9'], onPen: '#fdfcf9' },
  dark: { papers: ['#10131a', '#181c23', '#0c0f15'], onPen: '#0d1220' },
}

/** WCAG 2.2, 1.4.3. */
const contrastMin = 4.5

/**
 * Parses the color of the operator. Its hue is kept, and its lightness is changed as far as text in it needs to be
 * readable on every ground, light and dark. Returns undefined for any text but a color.
 */
export function accentOf(text: string): AccentColor | undefined {
  const hex = text.toLowerCase()
  if (!/^#[\da-f]{6}$/.test(hex)) return undefined
  const color = toLch(fromHex(hex))
  return { hex, light: colorsOn('light', color), dark: colorsOn('dark', color) }
}

function colorsOn(ground: keyof typeof grounds, color: Lch): PenColors {
  const { papers, onPen } = grounds[ground]
  const step = ground === 'light' ? -0.005 : 0.005
  const paleness = ground === 'light' ? { lightness: 0.945, chromaMax: 0.022 } : { lightness: 0.292, chromaMax: 0.052 }
  const tint = toHex({ ...color, ...paleness, chroma: Math.min(color.chroma * 0.3, paleness.chromaMax) })
  const begin = ground === 'light' ? Math.min(color.lightness, 0.5) : Math.max(color.lightness, 0.72)
  let pen = { ...color, lightness: begin }
  while (![...papers, tint, onPen].every((other) => contrast(toHex(pen), other) >= contrastMin))
    pen = { ...pen, lightness: pen.lightness + step }
  return { pen: toHex(pen), deep: toHex({ ...pen, lightness: pen.lightness + step * 15 }), tint }
}

/** Returns the contrast of two colors, 1 to 21 (WCAG 2.2, relative luminance). */
export function contrast(one: string, other: string): number {
  const [high = 0, low = 0] = [luminance(one), luminance(other)].toSorted((a, b) => b - a)
  return (high + 0.05) / (low + 0.05)
}

function luminance(hex: string): number {
  const [red, green, blue] = fromHex(hex)
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function fromHex(hex: string): Rgb {
  const channel = (at: number) => {
    const value = Number.parseInt(hex.slice(at, at + 2), 16) / 255
    return value <= 0.040_45 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  }
  return [channel(1), channel(3), channel(5)]
}

/** Converts a color; one outside of sRGB loses chroma until it is inside. */
function toHex(color: Lch): string {
  const lightness = Math.min(1, Math.max(0, color.lightness))
  for (let chroma = color.chroma; chroma > 0.001; chroma -= 0.002) {
    const rgb = toRgb({ ...color, lightness, chroma })
    if (rgb.every((value) => value > -0.0001 && value < 1.0001)) return writeHex(rgb)
  }
  return writeHex(toRgb({ ...color, lightness, chroma: 0 }))
}

function writeHex(rgb: Rgb): string {
  const channel = (linear: number) => {
    const value = Math.min(1, Math.max(0, linear))
    const encoded = value <= 0.003_130_8 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055
    return Math.round(encoded * 255)
      .toString(16)
      .padStart(2, '0')
  }
  return `#${rgb.map(channel).join('')}`
}

/** https://bottosson.github.io/posts/oklab/ */
function toLch([red, green, blue]: Rgb): Lch {
  const l = Math.cbrt(0.412_221_470_8 * red + 0.536_332_536_3 * green + 0.051_445_992_9 * blue)
  const m = Math.cbrt(0.211_903_498_2 * red + 0.680_699_545_1 * green + 0.107_396_956_6 * blue)
  const s = Math.cbrt(0.088_302_461_9 * red + 0.281_718_837_6 * green + 0.629_978_700_5 * blue)
  const a = 1.977_998_495_1 * l - 2.428_592_205 * m + 0.450_593_709_9 * s
  const b = 0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766 * s
  const lightness = 0.210_454_255_3 * l + 0.793_617_785 * m - 0.004_072_046_8 * s
  return { lightness, chroma: Math.hypot(a, b), hue: Math.atan2(b, a) }
}

function toRgb({ lightness, chroma, hue }: Lch): Rgb {
  const [a, b] = [chroma * Math.cos(hue), chroma * Math.sin(hue)]
  const l = (lightness + 0.396_337_777_4 * a + 0.215_803_757_3 * b) ** 3
  const m = (lightness - 0.105_561_345_8 * a - 0.063_854_172_8 * b) ** 3
  const s = (lightness - 0.089_484_177_5 * a - 1.291_485_548 * b) ** 3
  return [
    4.076_741_662_1 * l - 3.307_711_591_3 * m + 0.230_969_929_2 * s,
    -1.268_438_004_6 * l + 2.609_757_401_1 * m - 0.341_319_396_5 * s,
    -0.004_196_086_3 * l - 0.703_418_614_7 * m + 1.707_614_701 * s,
  ]
}
