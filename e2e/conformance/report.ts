import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'

/** What became of a module in a run. */
export type Outcome = { result: (typeof results)[number] | 'not run'; notes: string[] }

/** The results of the suite, in the order in which they are counted. */
const results = ['PASSED', 'WARNING', 'REVIEW', 'SKIPPED', 'FAILED'] as const

/** A module, the clause that it judges by, and its outcome. */
export type Line = { module: string; clause: string; outcome: Outcome }

const document = new URL('../../docs/conformance.md', import.meta.url)

/**
 * Holds docs/conformance.md against what a run saw of one plan, and fails where the two differ; with
 * CONFORMANCE=write it is written instead. Everything outside of the plan's section stays as it is.
 */
export function settleReport(plan: string, lines: Line[]): void {
  const text = readFileSync(document, 'utf8')
  const section = new RegExp(`(<!-- ${plan} -->\n).*?(<!-- /${plan} -->)`, 's')
  if (!section.test(text)) throw new Error(`docs/conformance.md has no section for ${plan}`)
  const told = text.replace(section, (_whole, begin: string, end: string) => `${begin}${tableOf(lines)}${end}`)
  if (process.env['CONFORMANCE'] === 'write') return writeFileSync(document, told)
  assert.equal(text, told, 'docs/conformance.md tells of another run: npm run e2e -- --write conformance')
}

function tableOf(lines: Line[]): string {
  const rows = lines.map(({ module, clause, outcome }) => `| ${module} | ${clause} | ${cellOf(outcome)} |\n`)
  return `\n${summaryOf(lines)}\n\n| module | judged by | result |\n| --- | --- | --- |\n${rows.join('')}\n`
}

function summaryOf(lines: Line[]): string {
  const count = (result: Outcome['result']) => lines.filter(({ outcome }) => outcome.result === result).length
  const counted = results.filter((result) => count(result) > 0).map((result) => `${count(result)} ${result}`)
  return `${lines.length} ${lines.length === 1 ? 'module' : 'modules'}: ${counted.join(', ')}.`
}

function cellOf({ result, notes }: Outcome): string {
  return notes.length === 0 ? result : `**${result}**: ${notes.join('; ')}`
}
