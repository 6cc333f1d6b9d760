/** Ornaments drawn from the fingerprint of a key: the same key gives the same lines. They prove nothing. */

/** Width and base line of the flourish, in the units of its picture. */
const width = 260
const baseLine = 15

/** Returns the path of a flourish: a stroke with two loops, in a picture of 260 by 24 units. */
export function flourish(fingerprint: string): string {
  const next = numbersOf(fingerprint)
  const wave = () => 4 * (next() - 0.5)
  const loop = (at: number) => {
    const reach = 9 + 8 * next()
    const height = 11 + 6 * next()
    const top = baseLine - height
    return (
      curve(at + reach, baseLine - 1, at + reach + 5, top, at, top) +
      curve(at - reach, top, at - reach, baseLine + 5, at + 6, baseLine)
    )
  }
  const first = 110 + 30 * next()
  const second = first + 18 + 16 * next()
  return (
    `M5 ${round(18 + wave())}` +
    curve(60, 11 + wave(), first - 50, 21 + wave(), first, baseLine) +
    loop(first + 4) +
    loop(second) +
    curve(second + 30, 12 + wave(), width - 40, 19 + wave(), width, 9 + wave())
  )
}

const circles = 4
const pointsOfCircle = 144
const center = 60

/** Returns the closed paths of a rosette in a picture of 120 by 120 units. */
export function petals(fingerprint: string): string[] {
  const next = numbersOf(fingerprint)
  return Array.from({ length: circles }, (_, circle) => {
    const waves = 7 + 2 * Math.floor(4 * next()) + circle
    const middle = 44 - 7 * circle
    const depth = 4 + 5 * next()
    const turn = Math.PI * next()
    const points = Array.from({ length: pointsOfCircle }, (__, point) => {
      const angle = (2 * Math.PI * point) / pointsOfCircle
      const radius = middle + depth * Math.cos(waves * angle + turn) + 2 * Math.cos(2 * waves * angle)
      return `${round(center + radius * Math.cos(angle))} ${round(center + radius * Math.sin(angle))}`
    })
    return `M${points.join('L')}Z`
  })
}

/** Returns a function that gives numbers from 0 to 1, always the same ones for a text. */
function numbersOf(text: string): () => number {
  let state = 2_166_136_261
  for (const character of text) state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 16_777_619)
  return () => {
    state = Math.imul(state ^ (state >>> 15), 2_246_822_519)
    state = Math.imul(state ^ (state >>> 13), 3_266_489_917)
    state ^= state >>> 16
    return (state >>> 0) / 2 ** 32
  }
}

/** A cubic Bézier curve of a path: its two control points and its end. */
function curve(...coordinates: [number, number, number, number, number, number]): string {
  return `C${coordinates.map(round).join(' ')}`
}

function round(value: number): number {
  return Math.round(10 * value) / 10
}
