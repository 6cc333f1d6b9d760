import assert from 'node:assert/strict'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { createWorld } from '../server/testing/world.ts'
import { SeededRandom } from './harness/chance.ts'
import { seed } from './load/throughput.ts'

/** The number of samples of each kind; the long form has 10,000. */
const samples = 500 * Number(process.env['FAULT_ROUNDS'] ?? 2)
/**
 * Above it, two kinds of responses can be distinguished (Reparaz, Balasch, Verbauwhede: Dude, is my code constant
 * time?).
 */
const tMax = 4.5

test('LKP-03 the response time does not reveal why a user is not found in an app', async (context) => {
  const world = await createWorld()
  try {
    const app = await world.app({ supportsE2ee: true })
    const [unconnected, symmetric, connected] = [await world.person(), await world.person(), await world.person()]
    await app.code(symmetric, { scope: 'openid', encryptedAppKey: 'sealed' })
    const { publicKey } = generateKeyPairSync('x25519')
    const appPublicKey = publicKey.export({ format: 'der', type: 'spki' }).toString('base64')
    await app.code(connected, { scope: 'openid e2ee:asymmetric', appPublicKey, encryptedAppPrivateKey: 'sealed' })

    const origin = await world.api.listen({ host: '127.0.0.1', port: 0 })

    // Handles of one length.
    const kinds = {
      'no user has the handle': `person-${randomBytes(6).toString('hex')}`,
      'its user has not connected the app': unconnected.handle,
      'its user has no public key there': symmetric.handle,
    }
    const timed = await timesOf(`${origin}/api/encryption/app-lookup`, app.clientId, Object.entries(kinds))
    for (const [one, other] of pairsOf([...timed])) {
      const t = welch(cropped(one[1]), cropped(other[1]))
      context.diagnostic(`t = ${t.toFixed(2)}: ${one[0]} / ${other[0]}`)
      assert.ok(Math.abs(t) < tMax, `${one[0]} and ${other[0]} can be distinguished: t = ${t}`)
    }
  } finally {
    await world.close()
  }
})

/** Measures how long each kind takes: all in every round, in any order, so that none has a usual predecessor. */
async function timesOf(url: string, clientId: string, kinds: [kind: string, handle: string][]) {
  const times = new Map<string, number[]>(kinds.map(([kind]) => [kind, []]))
  const chance = new SeededRandom(seed)
  for (let round = -100; round < samples; round += 1)
    for (const [kind, handle] of chance.shuffled(kinds)) {
      const milliseconds = await timeOf(url, { client_id: clientId, handle })
      times.get(kind)?.push(milliseconds)
    }
  return [...times].map(([kind, all]): [string, number[]] => [kind, all.slice(100)])
}

/** Measures how long a lookup without result takes. */
async function timeOf(url: string, query: Record<string, string>): Promise<number> {
  const startedAt = performance.now()
  const answer = await fetch(`${url}?${new URLSearchParams(query)}`)
  await answer.text()
  assert.equal(answer.status, 404)
  return performance.now() - startedAt
}

function pairsOf<Item>(items: Item[]): [Item, Item][] {
  return items.flatMap((one, index) => items.slice(index + 1).map((other): [Item, Item] => [one, other]))
}

/** Removes the slowest tenth: a garbage collection says nothing about the request. */
function cropped(times: number[]): number[] {
  return times.toSorted((one, other) => one - other).slice(0, Math.floor(times.length * 0.9))
}

function welch(one: number[], other: number[]): number {
  const [first, second] = [momentsOf(one), momentsOf(other)]
  return (first.mean - second.mean) / Math.sqrt(first.variance / one.length + second.variance / other.length)
}

function momentsOf(values: number[]): { mean: number; variance: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  return { mean, variance: squares / (values.length - 1) }
}
