import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { hashLeaf } from '@countersign/protocol/formats/signing/merkle-tree'
import type { ChainedSigningKey } from '@countersign/protocol/signing/keys'
import { approverOf } from './approver.ts'
import { requestIdIn, times, type RequestClient } from './request-client.ts'
import { createSigner, keyProofsOf, newSigningPair, rotationOf, signingRequesterOf } from './signer.ts'

export async function sign({ world, send }: RequestClient): Promise<void> {
  const signer = await createSigner(world)
  const { headers, handle, identityId } = signer
  const shop = signingRequesterOf(world, await world.app())
  const [first = '', second = ''] = await times(async () => requestIdIn(await shop.request(identityId)), 3)
  await times(async () => requestIdIn(await signingRequesterOf(world, await world.app()).request(identityId)))
  await signer.listRequests()
  await signer.readPending()
  await signer.readRequest(first)
  await shop.status(first)
  const signature = signer.pair.sign('Pay 10 €')
  const signed = await signer.sign(first, signature)
  if (signed.statusCode !== 200) throw new Error(signed.body)
  const approver = approverOf(world, signer)
  const approved = await approver.give(requestIdIn(await shop.request(identityId)))
  if (approved.statusCode !== 200) throw new Error(approved.body)
  await approver.begin(second)
  await signer.deny(second)
  await shop.status(first)
  await send(headers, `GET /api/signing/requests/${first}/receipt`)
  await send({}, `GET /api/signing/request/${first}/receipt?clientId=${shop.clientId}`)
  await send(headers, 'GET /api/signing/history?limit=5')
  await send(headers, 'GET /api/signing/keys')
  await send(headers, `GET /api/signing/keys/${identityId}`)
  await send({}, `GET /api/signing/public-key/${handle}`)
  await send({}, `GET /api/signing/public-key/${handle}?at=${world.now().toISOString()}`)
  const { publicKey } = signer.pair
  await send({}, 'POST /api/signing/verify', { message: 'Pay 10 €', signature, publicKey })
  await send({}, 'POST /api/signing/demo/request', { identityId, payload: 'Pay 10 €' })
  const next = newSigningPair()
  await signer.rotate(rotationOf(identityId, signer.pair, next))
  await shop.request(identityId)
  await send(headers, `GET /api/signing/keys/${identityId}`)
  const { previous } = (await signer.readKey()).json<ChainedSigningKey>().chain
  const adopted = { event: 'adopted' as const, identityId, keyVersion: 2, previous, to: next }
  await send(headers, `POST /api/signing/keys/${identityId}/adoption`, {
    previous,
    ...keyProofsOf(adopted, { from: signer.pair }),
  })
  // Requests pending for a deleted account stay pending for their app.
  const leaving = await createSigner(world)
  const left = requestIdIn(await shop.request(leaving.identityId))
  await send(leaving.headers, 'DELETE /api/account')
  await shop.status(left)
}

export async function readLog({ world, send }: RequestClient): Promise<void> {
  const { identityId } = await createSigner(world)
  world.pass(120)
  await world.api.inject({ url: '/api/transparency/checkpoint' })
  const { events } = await send({}, `GET /api/transparency/identities/${identityId}`)
  await send({}, 'GET /api/transparency/leaves?start=0&count=2')
  const leafHash = Buffer.from(hashLeaf(nodeSuite.sha256, Buffer.from(events[0].leaf))).toString('base64')
  await send({}, `GET /api/transparency/inclusion?leafHash=${encodeURIComponent(leafHash)}`)
  await send({}, 'GET /api/transparency/consistency?from=1&to=2')
  await send({}, 'GET /api/transparency/jwks')
  await send({}, 'GET /api/transparency/audit')
  await createSigner(world)
}
