/**
 * `node bench/scale.ts`: lets every table grow to several sizes (`--sizes 10000,100000,1000000`), and counts the blocks
 * that each request reads there, with statistics from before the growth, and at the largest size also with present
 * ones. It prints the requests that read more than 1.3 times as much as at the first size. A million rows in every
 * table take some 40 GB.
 */
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { openMeasuredRequests, type MeasuredRequest } from '../server/testing/measured-requests.ts'
import { type PlanMode, planModes } from '../server/testing/statement-blocks.ts'

const { values } = parseArgs({ options: { sizes: { type: 'string', default: '10000,100000,1000000' } } })
const sizes = values.sizes.split(',').map(Number)
const growthMax = 1.3

/** Blocks by the name of each request. */
type Blocks = Map<string, number>
const columns: { title: string; byMode: Map<PlanMode, Blocks> }[] = []

const measured = await openMeasuredRequests(true)
await measured.withCrowd(async (crowd, db) => {
  let rows = 0
  for (const size of sizes) {
    await crowd.add(size - rows)
    rows = size
    await sql`vacuum`.execute(db)
    await measure(`${size}`)
  }
  await sql`analyze`.execute(db)
  await measure(`${rows}, present statistics`)
})
print()
await measured.close()

async function measure(title: string): Promise<void> {
  // A connection reads the catalog for each table at its first use.
  await measured.measure('force_custom_plan')
  const byMode = new Map<PlanMode, Blocks>()
  for (const mode of planModes) byMode.set(mode, sumOf(await measured.measure(mode)))
  columns.push({ title, byMode })
  process.stderr.write(`${title}: measured\n`)
}

/** Returns the blocks of an average request of each name. */
function sumOf(requests: MeasuredRequest[]): Blocks {
  const named = Map.groupBy(requests, ({ name }) => name)
  return new Map(
    [...named].map(([name, each]) => {
      const blocks = each.flatMap(({ ran }) => ran).reduce((sum, statement) => sum + statement.blocks, 0)
      return [name, blocks / each.length]
    }),
  )
}

function print(): void {
  const [first] = columns
  for (const mode of planModes) {
    const base = first?.byMode.get(mode) ?? new Map<string, number>()
    process.stdout.write(`\n${mode}\n`)
    for (const { title, byMode } of columns)
      process.stdout.write(`  ${title}: ${describe(byMode.get(mode) ?? new Map(), base)}\n`)
  }
}

/** Describes how much more requests read than at the first size, and names those that read too much. */
function describe(blocks: Blocks, base: Blocks): string {
  const ratios = [...base].map(([name, before]) => ({ name, before, now: blocks.get(name) ?? 0 }))
  const sum = (of: 'before' | 'now') => ratios.reduce((total, each) => total + each[of], 0)
  // Some requests read no block.
  const ordered = ratios.map(({ before, now }) => (now === before ? 1 : now / before)).toSorted((a, b) => a - b)
  const median = ordered[Math.floor(ordered.length / 2)] ?? 0
  const beyond = ratios.filter(({ before, now }) => now > before * growthMax)
  const lines = beyond.map(
    ({ name, before, now }) => `    ${name}: ${before.toFixed(0)} → ${now.toFixed(0)} (${(now / before).toFixed(2)})`,
  )
  const total = `${sum('now').toFixed(0)} blocks, ratio ${(sum('now') / sum('before')).toFixed(2)}`
  return [`${total}, median ${median.toFixed(2)}, ${beyond.length} of ${ratios.length} beyond`, ...lines].join('\n')
}
