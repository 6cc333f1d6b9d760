import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'

/** The result of a module in a run. */
export type Outcome = { result: (typeof results)[number] | 'not run'; notes: string[] }

/** The results of the suite, in the order of the summary. */
const results = ['PASSED', 'WARNING', 'REVIEW', 'SKIPPED', 'FAILED'] as const

/** A module, its clause, and its result. */
export type Line = { module: string; clause: string; outcome: Outcome }

const document = new URL('../../docs/conformance.md', import.meta.url)

/**
 * Compares docs/conformance.md with the results of one plan, and fails if they differ; with CONFORMANCE=write it writes
 * them instead. Everything outside of the plan's section is preserved.
 */
export function checkReport(plan: string, lines: Line[]): void {
  const text = readFileSync(document, 'utf8')
  const section = new RegExp(`(<!-- ${plan} -->\n).*?(<!-- /${plan} -->)`, 's')
  if (!section.test(text)) throw new Error(`docs/conformance.md has no section for ${plan}`)
  const updated = text.replace(section, (_whole, begin: string, end: string) => `${begin}${tableOf(lines)}${end}`)
  if (process.env['CONFORMANCE'] === 'write') return writeFileSync(document, updated)
  assert.equal(text, updated, 'docs/conformance.md is out of date: npm run e2e -- --write conformance')
}

function tableOf(lines: Line[]): string {
  const rows = lines.map(({ module, clause, outcome }) => `| ${module} | ${clause} | ${cellOf(outcome)} |\n`)
  return `\n${summaryOf(lines)}\n\n| module | clause | result |\n| --- | --- | --- |\n${rows.join('')}\n`
}

function summaryOf(lines: Line[]): string {
  const count = (result: Outcome['result']) => lines.filter(({ outcome }) => outcome.result === result).length
  const counted = results.filter((result) => count(result) > 0).map((result) => `${count(result)} ${result}`)
  return `${lines.length} ${lines.length === 1 ? 'module' : 'modules'}: ${counted.join(', ')}.`
}

function cellOf({ result, notes }: Outcome): string {
  return notes.length === 0 ? result : `**${result}**: ${notes.join('; ')}`
}
