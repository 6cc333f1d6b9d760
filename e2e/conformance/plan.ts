import { after, test } from 'node:test'
import { settleReport, type Line, type Outcome } from './report.ts'

/**
 * What a judge may add to a verdict, in the classes of the suite: nothing, for what passed; what a reviewer has to look
 * at; why the module does not apply; or why it fails by a decision of this project.
 */
export type Verdict = void | { review: string } | { skipped: string } | { failsByDecision: string }

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
    return { module: name, clause, outcome: { result: 'not run', notes: [] } }
  })
  after(() => settleReport(plan, lines))
  for (const [index, { name, promise, clause, judge }] of modules.entries())
    test(`${name}: ${promise} (${clause})`, { timeout: moduleMilliseconds }, async () => {
      const warnings: string[] = []
      const note = (outcome: Outcome) => lines.splice(index, 1, { module: name, clause, outcome })
      note({ result: 'FAILED', notes: ['see the output of the run'] })
      const verdict = await judge(ground(), (sentence) => void warnings.push(sentence))
      note(outcomeOf(verdict, warnings))
    })
}

function outcomeOf(verdict: Verdict, warnings: string[]): Outcome {
  if (!verdict) return { result: warnings.length > 0 ? 'WARNING' : 'PASSED', notes: warnings }
  if ('review' in verdict) return { result: 'REVIEW', notes: [verdict.review, ...warnings] }
  if ('skipped' in verdict) return { result: 'SKIPPED', notes: [verdict.skipped, ...warnings] }
  return { result: 'FAILED', notes: [verdict.failsByDecision, ...warnings] }
}
