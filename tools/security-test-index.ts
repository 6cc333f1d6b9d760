/**
 * Writes the last column of `docs/security/cases.md`, which lists attacks and failures and the tests that cover them.
 * The name of a test begins with the ids of its cases. `--check` fails if the column is out of date. A test of an
 * unknown case, and a case with neither a test nor a reason, are errors. A case that does not apply has a test too, of
 * the condition under which it does not.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readSources } from './sources.ts'

type Test = { path: string; text: string }

const untested = 'Not tested yet.'

const caseId = '[A-Z][A-Z\\d][A-Z]-\\d{2}'
/** Returns the ids at the start of a text in a test file: a name, or a part of one. */
const named = new RegExp(`['"\`]((?:${caseId}\\b[,:]? ?)+)`, 'g')
const row = new RegExp(`^\\| (${caseId}) \\| (.+) \\| (.*) \\|$`)

/** Returns the document as it must be for these tests, and the errors of both. */
export function updateSecurityTestIndex(document: string, tests: Test[]): { document: string; wrong: string[] } {
  const places = placesOf(tests)
  const known = new Set<string>()
  const wrong: string[] = []
  const lines = document.split('\n').map((line) => {
    const [, id, sentence, said = ''] = row.exec(line) ?? []
    if (id === undefined) return line
    if (known.has(id)) wrong.push(`${id} is listed twice`)
    known.add(id)
    const tested = [...(places.get(id) ?? [])]
    if (tested.length > 0) return `| ${id} | ${sentence} | ${tested.map(linkTo).join(', ')} |`
    const reason = said.startsWith('[') ? untested : said
    if (!reason.startsWith('Not tested')) wrong.push(`${id} has neither a test nor a reason`)
    return `| ${id} | ${sentence} | ${reason} |`
  })
  for (const [id, [path]] of places) if (!known.has(id)) wrong.push(`${id} of ${path} is not listed`)
  if (known.size === 0) wrong.push('no case is listed')
  return { document: lines.join('\n'), wrong }
}

/** Returns the test files of each case. */
function placesOf(tests: Test[]): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>()
  for (const { path, text } of tests)
    for (const [, ids = ''] of text.matchAll(named))
      for (const [id] of ids.matchAll(new RegExp(caseId, 'g'))) places.set(id, (places.get(id) ?? new Set()).add(path))
  return places
}

function linkTo(path: string): string {
  return `[${path}](../../${path})`
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..')
  const target = join(root, 'docs/security/cases.md')
  const stored = readFileSync(target, 'utf8')
  const files = readSources(root, ['{server,keys,saml,protocol,cli,web,sdk,e2e,faults,generators,tools}/**/*.test.ts'])
  // This file's test covers no case; its cases are invented.
  const tests = files.filter(({ path }) => path !== 'tools/test/security-test-index.test.ts')
  const { document, wrong } = updateSecurityTestIndex(stored, tests)
  for (const sentence of wrong) console.error(`docs/security/cases.md: ${sentence}`)
  if (wrong.length > 0) process.exitCode = 1
  if (!process.argv.includes('--check')) writeFileSync(target, document)
  else if (document !== stored) {
    console.error('docs/security/cases.md is out of date: node tools/security-test-index.ts updates its last column')
    process.exitCode = 1
  }
}
