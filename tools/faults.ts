/**
 * `npm run faults`: kills the service, stops, freezes and disconnects its database, replaces the primary of a cluster,
 * fills its disk, makes it fail and cuts its power, and sends invalid requests to every route. Nothing may break. It
 * runs on a durable PostgreSQL of its own first, then on the embedded database. `--rounds 20` and `--requests 100000`
 * give the long form; `--seed` replays a run of the invalid requests. Further arguments select files.
 *
 * Two long tests run alone, on a machine without other load: `--hostile` sends the costliest requests to every endpoint
 * at its rate limit for five minutes, and `--soak` half of the peak load with faults for thirty. `--seconds` replaces
 * these times.
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
    soak: { type: 'boolean', default: false },
    seconds: { type: 'string' },
  },
  allowPositionals: true,
})
process.env.FAULT_ROUNDS = values.rounds
process.env.FAULT_REQUESTS = values.requests
process.env.FAULT_SEED = values.seed
if (values.seconds !== undefined) process.env.HOSTILE_SECONDS = process.env.SOAK_SECONDS = values.seconds

/** Files that need one of the databases, or would find nothing new on the other. */
const onlyFor = {
  embedded: ['embedded.test.ts', 'power-failure.test.ts', 'slow-callers.test.ts', 'stalls.test.ts'],
  postgres: [
    'postgres.test.ts',
    'connections.test.ts',
    'failing-disk.test.ts',
    'failover.test.ts',
    'keys.test.ts',
    'load-peaks.test.ts',
    'soak.test.ts',
  ],
}
/** They mostly wait for time limits, and start first: CI runs its checks in the time that faults leave. */
const waiting = ['failover.test.ts', 'postgres.test.ts']
/** A file that hangs must not take the time of those after it. The long forms take up to two hours. */
const fileTimeoutSeconds = Number(values.rounds) === 1 ? 600 : 7200

/** Requirements of a file that not every machine meets, and a command that fails where one is not met. */
const demands: Record<string, { takes: string; tried: [program: string, ...options: string[]] }> = {
  'full-disk.test.ts': {
    takes: 'permission to mount a small disk, as root has',
    tried: ['unshare', '--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'],
  },
  'power-failure.test.ts': {
    takes: 'mkfs.ext4 (Debian: apt-get install e2fsprogs) and permission to mount a file, as root has',
    tried: [
      'unshare',
      '--mount',
      'sh',
      '-c',
      'file=$(mktemp); trap "rm $file" EXIT; truncate -s 8M $file && mkfs.ext4 -q $file && mount -o loop $file /mnt',
    ],
  },
  'failover.test.ts': {
    takes: 'Patroni, etcd and HAProxy (Debian: apt-get install patroni etcd-server haproxy)',
    tried: [
      'sh',
      '-c',
      'PATH=$PATH:/usr/sbin; patroni --version && patronictl version && etcd --version && haproxy -v',
    ],
  },
  'failing-disk.test.ts': {
    takes: 'strace (Debian: apt-get install strace) and permission to trace processes of other users, as root has',
    tried: ['strace', '--quiet=all', '--trace=fsync', 'test', '-w', '/proc/1/mem'],
  },
}

const alone: Record<string, boolean> = { 'hostile.test.ts': values.hostile, 'soak.test.ts': values.soak }
const isLongRun = Object.values(alone).includes(true)
const files = findTestFiles(['faults'], positionals)
  .filter((file) => alone[basename(file)] ?? !isLongRun)
  .filter(isPossible)
const runWithout = (names: string[]): Promise<Counts> => {
  const chosen = files.filter((file) => !names.includes(basename(file)))
  return chosen.length === 0
    ? Promise.resolve({ passed: 0, failed: 0 })
    : runTestFiles(chosen, {
        concurrency: 1,
        longest: (file) => waiting.includes(basename(file)),
        fileTimeoutSeconds,
      })
}

delete process.env.TEST_DATABASE_URL
await runCommand(async () => {
  console.log(`seed ${values.seed}, on PostgreSQL`)
  const postgres = await withPostgres(() => runWithout(onlyFor.embedded), { durable: true })
  console.log(`seed ${values.seed}, on the embedded database`)
  const embedded = await runWithout(onlyFor.postgres)
  return { passed: embedded.passed + postgres.passed, failed: embedded.failed + postgres.failed }
})

/** Checks if this machine meets the requirements of a file. If not, prints which file is omitted, and why. */
function isPossible(file: string): boolean {
  const demand = demands[basename(file)]
  if (!demand) return true
  const [program, ...options] = demand.tried
  if (spawnSync(program, options).status === 0) return true
  console.log(`${relative(process.cwd(), file)} is omitted: it needs ${demand.takes}`)
  return false
}
