/**
 * `npm run faults`: the service is killed, its database is stopped, frozen and cut off, its disk is filled and fails,
 * and nonsense is sent to every route; nothing may break. First on the embedded database, then on a durable PostgreSQL
 * of its own. `--rounds 20` and `--requests 100000` are the long form; `--seed` replays a run of the nonsense. Further
 * arguments choose files. `--hostile` instead sends the worst requests to every endpoint at its rate limit for five
 * minutes, or `--seconds`, on a machine that does nothing else.
 */
import { spawnSync } from 'node:child_process'
import { basename, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { findTestFiles, runCommand, runTestFiles, withPostgres, type Counts } from './suite.ts'

const { values, positionals } = parseArgs({
  options: {
    rounds: { type: 'string', default: '2' },
    requests: { type: 'string', default: '3000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    hostile: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '300' },
  },
  allowPositionals: true,
})
process.env.FAULT_ROUNDS = values.rounds
process.env.FAULT_REQUESTS = values.requests
process.env.FAULT_SEED = values.seed
process.env.HOSTILE_SECONDS = values.seconds

/** The files of each database that the other has no use for, or would learn nothing from. */
const onlyFor = {
  embedded: ['embedded.test.ts', 'slow-callers.test.ts'],
  postgres: ['postgres.test.ts', 'failing-disk.test.ts', 'keys.test.ts', 'load-peaks.test.ts'],
}
const fileTimeoutSeconds = 3600

/** What a file takes that not every user of every machine has, and a command that fails where it is not had. */
const demands: Record<string, { takes: string; tried: [program: string, ...options: string[]] }> = {
  'full-disk.test.ts': {
    takes: 'leave to mount a small disk, as root has',
    tried: ['unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'],
  },
  'failing-disk.test.ts': {
    takes: 'strace (Debian: apt-get install strace) and leave to trace the processes of another user, as root has',
    tried: ['strace', '--quiet=all', '--trace=fsync', 'test', '-w', '/proc/1/mem'],
  },
}

const isHostile = (file: string) => basename(file) === 'hostile.test.ts'
const files = findTestFiles(['faults'], positionals)
  .filter((file) => isHostile(file) === values.hostile)
  .filter(isPossible)
const runWithout = (names: string[]): Promise<Counts> => {
  const chosen = files.filter((file) => !names.includes(basename(file)))
  return chosen.length === 0
    ? Promise.resolve({ passed: 0, failed: 0 })
    : runTestFiles(chosen, { concurrency: 1, fileTimeoutSeconds })
}

delete process.env.TEST_DATABASE_URL
await runCommand(async () => {
  console.log(`seed ${values.seed}, on the embedded database`)
  const embedded = await runWithout(onlyFor.postgres)
  console.log(`seed ${values.seed}, on PostgreSQL`)
  const postgres = await withPostgres(() => runWithout(onlyFor.embedded), { durable: true })
  return { passed: embedded.passed + postgres.passed, failed: embedded.failed + postgres.failed }
})

/** Whether this machine lets us do what a file does; where not, says which file is left out, and why. */
function isPossible(file: string): boolean {
  const demand = demands[basename(file)]
  if (!demand) return true
  const [program, ...options] = demand.tried
  if (spawnSync(program, options).status === 0) return true
  console.log(`${relative(process.cwd(), file)} is left out: it takes ${demand.takes}`)
  return false
}
