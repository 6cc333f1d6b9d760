/**
 * Writes the typefaces of the pages into `web/components/fonts`: the characters of Western languages, in the weights
 * that the pages use. `node tools/fonts.ts` runs it after an update of a typeface.
 */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import subsetFont, { type SubsetFontOptions } from 'subset-font'

type Typeface = {
  file: string
  source: string
  axes: NonNullable<SubsetFontOptions['variationAxes']>
}

const fonts = '@fontsource-variable'
const typefaces: Typeface[] = [
  {
    file: 'newsreader-display',
    source: `${fonts}/newsreader/files/newsreader-latin-standard-normal.woff2`,
    axes: { wght: 500, opsz: 36 },
  },
  {
    file: 'newsreader-signature',
    source: `${fonts}/newsreader/files/newsreader-latin-standard-italic.woff2`,
    axes: { wght: 400, opsz: 48 },
  },
  {
    file: 'geist',
    source: `${fonts}/geist/files/geist-latin-wght-normal.woff2`,
    axes: { wght: { min: 400, max: 650 } },
  },
  {
    file: 'geist-mono',
    source: `${fonts}/geist-mono/files/geist-mono-latin-wght-normal.woff2`,
    axes: { wght: 400 },
  },
]

const { resolve } = createRequire(import.meta.url)
const target = join(import.meta.dirname, '../web/components/fonts')
mkdirSync(target, { recursive: true })
for (const { file, source, axes } of typefaces) {
  const font = await subsetFont(readFileSync(resolve(source)), characters(), {
    targetFormat: 'woff2',
    variationAxes: axes,
  })
  writeFileSync(join(target, `${file}.woff2`), font)
  process.stdout.write(`${file}: ${font.length} bytes\n`)
}
for (const family of ['newsreader', 'geist', 'geist-mono'])
  copyFileSync(
    join(dirname(resolve(`${fonts}/${family}/package.json`)), 'LICENSE'),
    join(target, `${family}.LICENSE.txt`),
  )

/** Returns Latin-1, the punctuation and the signs that texts of the pages contain. */
function characters(): string {
  const latin = Array.from({ length: 0x100 - 0xa0 }, (_, index) => String.fromCodePoint(0xa0 + index))
  const ascii = Array.from({ length: 0x7f - 0x20 }, (_, index) => String.fromCodePoint(0x20 + index))
  return `${ascii.join('')}${latin.join('')}ŒœŠšŸŽžƒˆ˜–—‘’‚“”„†‡•…‰‹›€™←→↵−≈≠≤≥`
}
