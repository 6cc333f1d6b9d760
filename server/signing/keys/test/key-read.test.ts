import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { hashKeyEvent } from '@countersign/protocol/formats/signing/key-event'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { ChainedSigningKey } from '@countersign/protocol/signing/keys'
import type { LoggedKeyEvent } from '@countersign/protocol/signing/transparency'
import { replaceQueries, textOf } from '#testing/interruption.ts'
import { createSigner, newSigningPair, rotationOf } from '#testing/signer.ts'
import { createWorld, type TestWorld } from '#testing/world.ts'

/** The embedded database has one connection, so nothing happens between the reads of a transaction. */
const isShared = process.env['TEST_DATABASE_URL'] !== undefined

let world: TestWorld
/** What happens before the chain of a key is read. */
let interruption: (() => Promise<unknown>) | undefined
before(async () => {
  world = await createWorld({ between: interrupt })
})
after(() => world.close())

const interrupt = replaceQueries((query, args) => {
  const happen = interruption
  if (!happen || !textOf(args[0]).includes('from "transparency_leaf"')) return query(...args)
  interruption = undefined
  return happen().then(() => query(...args))
})

test('KEY-40 a key is read with the chain that it ends, also while it is replaced', async () => {
  const ada = await createSigner(world)
  const rotate = () => ada.rotate(rotationOf(ada.identityId, ada.pair, newSigningPair()))
  if (isShared) interruption = rotate
  const before = (await ada.readKey()).json<ChainedSigningKey>()
  assert.equal(interruption, undefined)
  if (!isShared) await rotate()
  const after = (await ada.readKey()).json<ChainedSigningKey>()

  const url = `/api/transparency/identities/${ada.identityId}`
  const { events } = (await world.api.inject({ url })).json<{ events: LoggedKeyEvent[] }>()
  const leaves = events.map(({ leaf }) => hashKeyEvent(nodeSuite.sha256, leaf))
  assert.deepEqual([before.keyVersion, before.chain.previous], [1, leaves[0]])
  assert.deepEqual([after.keyVersion, after.chain.previous], [2, leaves[1]])
})
