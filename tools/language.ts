/**
 * Checks the words of the project (CONTRIBUTING.md): identifiers, comments and documents use the standard terms of the
 * field. `npm run check` runs it. `language.known.txt` holds how often each banned word still occurs: more is an error,
 * and so is a number that is out of date. `node tools/language.ts --write` lowers the numbers.
 */
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSources, type Source } from './sources.ts'

const inIdentifiers =
  'told tell wanted asked asker sought errand steward lineage holdings desk bell lend whoever sweep heed mend'.split(
    ' ',
  )

/** Phrases that a native technical writer would not use. `nobody` and its like stand for the actor of a sentence. */
const inProse = [
  ...['whoever', 'whom', 'somebody', 'anybody', 'nobody', 'told', 'mend', 'anew', 'likewise', 'lineage', 'sweep'],
  ...['all the same', 'goes? on', '(?<!there )is no(?! longer)', 'does not do', 'spent', 'heeds?'],
]

export type Counts = Map<string, number>

/** Counts each banned word in the sources and documents. */
export function countBanned(sources: Pick<Source, 'text' | 'code'>[], documents: string[]): Counts {
  const counts: Counts = new Map()
  const add = (key: string, count: number) => counts.set(key, (counts.get(key) ?? 0) + count)
  for (const { text, code } of sources) {
    const parts = [...withoutTexts(code).matchAll(/[A-Za-z_$][\w$]*/g)].flatMap(([identifier]) => partsOf(identifier))
    for (const word of parts.filter((part) => inIdentifiers.includes(part))) add(`identifier ${word}`, 1)
    for (const [phrase, count] of phrasesIn(commentsOf(text))) add(`comment ${phrase}`, count)
  }
  for (const document of documents)
    for (const [phrase, count] of phrasesIn(withoutCode(document))) add(`document ${phrase}`, count)
  return counts
}

const partsOf = (identifier: string) => identifier.split(/_|(?<=[a-z\d])(?=[A-Z])/).map((part) => part.toLowerCase())

const withoutTexts = (code: string) => code.replaceAll(/'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"/g, "''")

const commentsOf = (text: string) => [...text.matchAll(/^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm)].join('\n')

/** A document without its code, links and quotations. */
const withoutCode = (document: string) => document.replaceAll(/```[\s\S]*?```|`[^`\n]*`|\]\([^)]*\)|“[^”]*”/g, '')

function phrasesIn(text: string): [string, number][] {
  return inProse.map((phrase) => {
    const pattern = new RegExp(String.raw`\b${phrase.replaceAll(' ', String.raw`[\s*/]+`)}\b`, 'gi')
    return [phrase, text.match(pattern)?.length ?? 0]
  })
}

const line = ([key, count]: [string, number]) => `${key}: ${count}`

/** Returns the differences from the known numbers. */
export function compare(counts: Counts, known: string[]): string[] {
  const now = [...counts].filter(([, count]) => count > 0).map(line)
  return [
    ...now.filter((each) => !known.includes(each)).map((each) => `${each} differs from the known number`),
    ...known.filter((each) => !now.includes(each)).map((each) => `${each} is out of date`),
  ]
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const sources = readSources(root, [
    '{server,protocol,keys,saml,sdk,cli,web,e2e,faults,bench,generators,tools}/**/*.{ts,tsx}',
  ])
  const paths = globSync(['*.md', '{docs,keys,saml,sdk,examples}/**/*.md'], {
    cwd: root,
    exclude: ['**/{node_modules,dist}/**', 'docs/security/{cases.md,reviews/**}', 'CHANGELOG.md'],
  })
  const documents = paths.map((path) => readFileSync(join(root, path), 'utf8'))
  const counts = countBanned(
    sources.filter(({ path }) => path !== 'tools/language.ts' && path !== 'tools/test/language.test.ts'),
    documents,
  )
  const file = join(import.meta.dirname, 'language.known.txt')
  if (process.argv.includes('--write')) {
    const lines = [...counts].filter(([, count]) => count > 0).map(line)
    writeFileSync(file, `${lines.toSorted().join('\n')}\n`)
  }
  const differences = compare(counts, readFileSync(file, 'utf8').split('\n').filter(Boolean))
  for (const difference of differences) console.error(`language.known.txt: ${difference}`)
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0)
  console.log(`${total} banned words are left`)
  if (differences.length > 0) process.exitCode = 1
}
