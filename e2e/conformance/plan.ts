import { after, test } from 'node:test'
import { settleReport, type Line, type Outcome } from './report.ts'

/** What a judge may add to a verdict: nothing, for what passed; or why the module cannot judge, or must fail. */
export type Verdict = void | { notApplicable: string } | { failsByDecision: string }

/** A module of the suite: what it promises, by which clause, and who judges. An assertion that fails fails it. */
export type Module<Ground> = {
  name: string
  promise: string
  clause: string
  judge: (ground: Ground, warn: (sentence: string) => void) => Promise<Verdict>
}

const moduleMilliseconds = 30_000

/**
 * Runs the modules of a plan as tests, one after another, and holds docs/conformance.md against what came of them. What
 * fails by a decision of ours is a test that passes as long as it does, and a failure in the document.
 */
export function runPlan<Ground>(plan: string, modules: Module<Ground>[], ground: () => Ground): void {
  const lines = modules.map(({ name, clause }): Line => {
    return { module: name, clause, outcome: { result: 'not run', warnings: [] } }
  })
  after(() => settleReport(plan, lines))
  for (const [index, { name, promise, clause, judge }] of modules.entries())
    test(`${name}: ${promise} (${clause})`, { timeout: moduleMilliseconds }, async () => {
      const warnings: string[] = []
      const note = (outcome: Outcome) => lines.splice(index, 1, { module: name, clause, outcome })
      note({ result: 'failed', reason: 'see the output of the run', warnings })
      const verdict = await judge(ground(), (sentence) => void warnings.push(sentence))
      note({ ...resultOf(verdict), warnings })
    })
}

function resultOf(verdict: Verdict): Omit<Outcome, 'warnings'> {
  if (!verdict) return { result: 'passed' }
  if ('notApplicable' in verdict) return { result: 'not applicable', reason: verdict.notApplicable }
  return { result: 'failed', reason: verdict.failsByDecision }
}
