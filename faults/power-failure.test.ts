import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { copyMigrated } from '../server/testing/migrated-database.ts'
import { startService } from '../server/testing/service.ts'
import { openPoweredDisk } from './harness/powered-disk.ts'
import { beginLoad, findLostUpdates } from './load/load.ts'
import { rounds } from './load/throughput.ts'

type Options = { prepare?: (directory: string) => Promise<void>; isSandboxed?: boolean }

/** A service on the embedded database, on a disk whose power can be cut. */
async function startOnPoweredDisk(closing: AsyncDisposableStack, { prepare, isSandboxed = false }: Options = {}) {
  const disk = closing.adopt(openPoweredDisk(), (each) => each.close())
  const dataDirectory = join(disk.directory, 'data')
  await prepare?.(dataDirectory)
  const sandbox = ['--permission', '--allow-net', '--allow-fs-read=*', `--allow-fs-write=${disk.directory}`]
  const started = await startService({
    dataDirectory,
    environment: {
      RATE_LIMITS: 'off',
      ...(isSandboxed && { NODE_OPTIONS: [...sandbox, '--allow-worker', '--allow-child-process'].join(' ') }),
    },
  })
  const service = closing.adopt(started, (each) => each.close())
  return {
    /** Cuts the power under load, starts again, and checks that everything acknowledged is there. */
    async survivePowerFailure(t: TestContext, loadMilliseconds: number): Promise<void> {
      const { customers, stop } = await beginLoad(service, { customers: 6 })
      await wait(loadMilliseconds)
      await service.end('SIGKILL')
      disk.cutPower()
      await stop()
      await service.restart()
      for (const customer of customers)
        assert.deepEqual(await findLostUpdates(customer), [], customer.history.join('\n'))
      const acknowledged = customers.reduce((count, { counts }) => count + counts.ok, 0)
      t.diagnostic(`${acknowledged} operations acknowledged`)
      assert.ok(acknowledged > 0)
    },
  }
}

for (const [where, isSandboxed] of [
  ['', false],
  [' in the sandbox', true],
] as const)
  test(`STO-48 a power failure under load${where} (${rounds} times) loses nothing`, async (t) => {
    await using closing = new AsyncDisposableStack()
    const { survivePowerFailure } = await startOnPoweredDisk(closing, { isSandboxed })
    for (let round = 1; round <= rounds; round += 1) await survivePowerFailure(t, 300 + Math.random() * 1500)
  })

test('STO-48 after a power failure, a directory that was copied and not flushed is complete', async (t) => {
  await using closing = new AsyncDisposableStack()
  const { survivePowerFailure } = await startOnPoweredDisk(closing, { prepare: copyMigrated })
  await survivePowerFailure(t, 300)
})
