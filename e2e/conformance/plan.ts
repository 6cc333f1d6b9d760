import { after, test } from 'node:test'
import { checkReport, type Line, type Outcome } from './report.ts'

/**
 * What a check may add to a result, in the categories of the suite: nothing if it passed; what a reviewer must look at;
 * why the module does not apply; or why it fails by a decision of this project.
 */
export type Verdict = void | { review: string } | { skipped: string } | { failsByDecision: string }

/** A module of the suite: its requirement, the clause, and the check. A failed assertion fails it. */
export type Module<Env> = {
  name: string
  promise: string
  clause: string
  check: (env: Env, warn: (sentence: string) => void) => Promise<Verdict>
}

/** Ends a module that hangs. Some sign in and out several times, which takes a slow machine long. */
const moduleMilliseconds = 180_000

/**
 * Runs the modules of a plan as tests, one after another, and compares docs/conformance.md with the results. A module
 * that fails by a decision of this project is a test that passes while it fails, and a failure in the document.
 */
export function runPlan<Env>(plan: string, modules: Module<Env>[], env: () => Env): void {
  const lines = modules.map(({ name, clause }): Line => {
    return { module: name, clause, outcome: { result: 'not run', notes: [] } }
  })
  after(() => checkReport(plan, lines))
  for (const [index, { name, promise, clause, check }] of modules.entries())
    test(`${name}: ${promise} (${clause})`, { timeout: moduleMilliseconds }, async () => {
      const warnings: string[] = []
      const note = (outcome: Outcome) => lines.splice(index, 1, { module: name, clause, outcome })
      note({ result: 'FAILED', notes: ['see the output of the run'] })
      const verdict = await check(env(), (sentence) => void warnings.push(sentence))
      note(outcomeOf(verdict, warnings))
    })
}

function outcomeOf(verdict: Verdict, warnings: string[]): Outcome {
  if (!verdict) return { result: warnings.length > 0 ? 'WARNING' : 'PASSED', notes: warnings }
  if ('review' in verdict) return { result: 'REVIEW', notes: [verdict.review, ...warnings] }
  if ('skipped' in verdict) return { result: 'SKIPPED', notes: [verdict.skipped, ...warnings] }
  return { result: 'FAILED', notes: [verdict.failsByDecision, ...warnings] }
}
