import type { FigureName } from './measurements.ts'
import type { Result } from './report.ts'

const drawn: FigureName[] = ['code grant', 'refresh grant', 'userinfo', 'key set']
const colours = ['#0b6e4f', '#8a8f98', '#c9ccd1', '#a7b0bd']
const bar = { height: 16, gap: 4, left: 120, right: 70, width: 520 }

/**
 * Draws the processor time of a request as bars, each measurement on its own scale, because the ratios matter. The SVG
 * is readable on light and dark backgrounds.
 */
export function chartOf(results: Result[]): string {
  const groupHeight = results.length * (bar.height + bar.gap) + 18
  const height = drawn.length * groupHeight + 40
  const groups = drawn.map((figure, index) => group(results, figure, index * groupHeight + 36))
  return [
    '<svg xmlns="http://www.w3.org/2000/svg" font-family="system-ui, sans-serif" font-size="13" role="img" ' +
      `width="${bar.left + bar.width + bar.right}" height="${height}">`,
    '<title>Processor time of the server per request</title>',
    '<style>text{fill:#1f2328}@media(prefers-color-scheme:dark){text{fill:#e6edf3}}</style>',
    '<text x="0" y="16" font-weight="600">µs of processor time per request; shorter is better</text>',
    ...groups.flat(),
    '</svg>',
    '',
  ].join('\n')
}

function group(results: Result[], figure: FigureName, top: number): string[] {
  const most = Math.max(...results.map(({ medians }) => medians[figure].microseconds))
  return results.flatMap(({ name, medians }, index) => {
    const { microseconds } = medians[figure]
    const y = top + index * (bar.height + bar.gap)
    const width = Math.max(1, (microseconds / most) * bar.width)
    const middle = y + bar.height - 4
    return [
      ...(index === 0 ? [`<text x="0" y="${middle}" font-weight="600">${figure}</text>`] : []),
      `<rect x="${bar.left}" y="${y}" width="${width.toFixed(1)}" height="${bar.height}" fill="${colours[index]}"/>`,
      `<text x="${(bar.left + width + 6).toFixed(1)}" y="${middle}">${microseconds.toFixed(0)} ${name}</text>`,
    ]
  })
}
