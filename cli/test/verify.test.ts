import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { toTrustedLog } from '@countersign/protocol/formats/signing/checkpoint'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import { approverOf } from '../../server/testing/approver.ts'
import { businessOf, councilOf } from '../../server/testing/council.ts'
import { signingRequesterOf, createSigner, newSigningPair } from '../../server/testing/signer.ts'
import { join as joinOrganization, createOrganization } from '../../server/testing/organization.ts'
import { createWorld, type TestWorld } from '../../server/testing/world.ts'
import { fieldsOf } from '../terminal.ts'
import { inherited } from '../testing/environment.ts'

const payload = 'Überweise 10 €\r\nan Bob 👩‍🚀'
const hostileText = 'Pay\xa0\u202E00,1\u202C €\u001B[2J\b \\u202e ❤️‍🔥\uFE0F\n  signed   2031-01-01T12:00:00.000Z\n'
let folder: string
let jwks: string
let ada: { handle: string; identityId: string }

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-receipt-'))
  const world = await createWorld()
  const signer = await createSigner(world)
  ada = signer
  const { requestId } = (
    await signingRequesterOf(world, await world.app()).request(signer.identityId, { payload })
  ).json()
  await signer.sign(requestId, signer.pair.sign(payload))
  const [receipt, published] = [
    await world.api.inject({ url: `/api/signing/requests/${requestId}/receipt`, headers: signer.headers }),
    await world.api.inject({ url: '/api/transparency/jwks' }),
  ]
  const [, body = ''] = receipt.body.split('.')
  await writeFile(join(folder, 'receipt.jws'), receipt.body)
  const second = (await signingRequesterOf(world, await world.app()).request(signer.identityId, { payload })).json()
  await approverOf(world, signer).give(second.requestId, { text: payload })
  const url = `/api/signing/requests/${second.requestId}/receipt`
  await writeFile(join(folder, 'approved.jws'), (await world.api.inject({ url, headers: signer.headers })).body)
  const hostile = (
    await signingRequesterOf(world, await world.app()).request(signer.identityId, { payload: hostileText })
  ).json()
  await signer.sign(hostile.requestId, signer.pair.sign(hostileText))
  const hostileUrl = `/api/signing/requests/${hostile.requestId}/receipt`
  const { body: hostileReceipt } = await world.api.inject({ url: hostileUrl, headers: signer.headers })
  await writeFile(join(folder, 'hostile.json'), JSON.stringify({ receipt: hostileReceipt, payload: hostileText }))
  await writeFile(join(folder, 'altered.jws'), receipt.body.replace(body, `${body.slice(0, -8)}AAAAAAAA`))
  await writeFile(join(folder, 'jwks.json'), published.body)
  await writeFile(join(folder, 'others.json'), '{"keys":[]}')
  await writeFile(join(folder, 'text.txt'), payload)
  const kept = { receipt: receipt.body, payload, logKeys: published.json() }
  jwks = published.body
  await writeFile(join(folder, 'kept.json'), JSON.stringify(kept))
  await writeTrust('trust.json', published.json())
  await writeTrust('trust-renamed.json', { ...published.json(), origin: 'another/log' })
  const other = { x: Buffer.from(newSigningPair().publicKey, 'base64').toString('base64url') }
  await writeTrust('trust-other.json', { ...published.json(), keys: [other] })
  await writeFile(join(folder, 'kept-other.json'), JSON.stringify({ ...kept, payload: 'Überweise 1000 €' }))
  await writeFile(join(folder, 'kept-others.json'), JSON.stringify({ ...kept, logKeys: { keys: [] } }))
  await writeOfOrganization(world)
  await world.close()
})
after(() => rm(folder, { recursive: true }))

/** Writes a trust file with the key and the name of a log. */
async function writeTrust(file: string, { keys, origin: name }: { keys: { x: string }[]; origin: string }) {
  const publicKey = Buffer.from(keys[0]?.x ?? '', 'base64url')
  await writeFile(join(folder, file), JSON.stringify(toTrustedLog(nodeSuite.sha256, { name, publicKey })))
}

/** Creates the receipt of an organization with one signature and one approval. */
async function writeOfOrganization(world: TestWorld): Promise<void> {
  const [owner, bob] = [await createSigner(world, 'olga'), await createSigner(world, 'bob')]
  const { id } = await createOrganization(world, owner)
  await joinOrganization(world, { id, owner, role: 'signer' }, bob)
  const council = councilOf(businessOf(world), id)
  await council.decide({ by: owner, others: [bob] }, 'PATCH', { approvalsNeeded: 1 })
  const { requestId } = (await signingRequesterOf(world, await world.app()).requestOf(id, { payload })).json()
  await owner.sign(requestId, owner.pair.sign(payload))
  await bob.approve(requestId, bob.pair.sign(payload))
  const url = `/api/signing/requests/${requestId}/receipt`
  const receipt = (await world.api.inject({ url, headers: bob.headers })).body
  const keys = (await world.api.inject({ url: '/api/transparency/jwks' })).body
  await writeFile(join(folder, 'acme.jws'), receipt)
  await writeFile(join(folder, 'acme.json'), keys)
  await writeFile(join(folder, 'kept-acme.json'), JSON.stringify({ receipt, payload, logKeys: JSON.parse(keys) }))
}

/** Runs `countersign verify` without a server. */
function verify(receipt: string, ...words: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const program = join(import.meta.dirname, '../main.ts')
  const env = { ...inherited, BASE_URL: 'http://localhost:1' }
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [program, 'verify', receipt, ...words],
      { env, cwd: folder },
      (error, stdout, stderr) => {
        resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
      },
    )
  })
}

test('a receipt is verified without a network, and described in words', async () => {
  const { code, stdout, stderr } = await verify('receipt.jws', '--payload', payload, '--jwks', 'jwks.json')
  assert.equal(code, 0, stderr)
  assert.ok(stdout.startsWith(`${ada.handle} (${ada.identityId}) signed this text:\n`), stdout)
  assert.match(stdout, /^ {2}\| Überweise 10 €\\u000d\n {2}\| an Bob 👩‍🚀\n {2}created/m)
  assert.match(stdout, /^ {2}signed {3}2030-01-01T12:00:00\.000Z$/m)
  assert.match(stdout, /^ {2}logged .* leaf 0 of the 1 of localhost:4400\/transparency$/m)
  const fromFile = await verify('receipt.jws', '--payload-file', 'text.txt', '--jwks', 'jwks.json', '--json')
  const { identityId, payload: text } = fieldsOf(JSON.parse(fromFile.stdout))
  assert.deepEqual([identityId, text], [ada.identityId, payload])
})

test('CLI-28 a signed text cannot look like another text, or like other lines of the output', async () => {
  const { code, stdout, stderr } = await verify('hostile.json', '--jwks', 'jwks.json')
  assert.equal(code, 0, stderr)
  assert.deepEqual(stdout.split('\n').slice(1, 5), [
    '  | Pay\\u00a0\\u202e00,1\\u202c €\\u001b[2J\\u0008 \\\\u202e ❤️‍🔥\\ufe0f',
    '  |   signed   2031-01-01T12:00:00.000Z',
    '  | ',
    '  created  2030-01-01T12:00:00.000Z, by the app ' + stdout.split('by the app ')[1]?.split('\n')[0],
  ])
})

test("the SDK's stored JSON is verified as it is, with given keys", async () => {
  const { code, stdout, stderr } = await verify('kept.json', '--jwks', 'jwks.json')
  assert.equal(code, 0, stderr)
  assert.ok(stdout.startsWith(`${ada.handle} (${ada.identityId}) signed this text:\n`), stdout)
  assert.equal((await verify('kept-others.json', '--jwks', 'jwks.json')).code, 0)
  assert.equal((await verify('kept-other.json', '--payload', payload, '--jwks', 'jwks.json')).code, 0)
})

for (const [what, file] of [
  ['a person', 'kept.json'],
  ['an organization', 'kept-acme.json'],
] as const)
  test(`CLI-15 keys stored with the receipt of ${what} prove nothing`, async () => {
    const { code, stdout, stderr } = await verify(file)
    assert.deepEqual([code, stdout], [3, ''])
    assert.match(stderr, /verified only with the keys in it, which prove nothing\..*--jwks/)
    const inJson = await verify(file, '--json')
    assert.deepEqual([inJson.code, inJson.stdout], [3, ''])
    assert.equal(fieldsOf(JSON.parse(inJson.stderr))['error'], 'unproved')
  })

test('CLI-15 given keys are used, and those in the file are ignored', async () => {
  for (const file of ['kept.json', 'kept-acme.json']) {
    const { code, stdout, stderr } = await verify(file, '--jwks', 'others.json')
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /is not valid: .* unknown log key/)
  }
})

test('TRU-41 with a trust file, a receipt is valid only by the key in it, and no server is asked', async () => {
  for (const receipt of ['kept.json', 'kept-others.json', 'kept-acme.json']) {
    const { code, stderr } = await verify(receipt, '--trust', 'trust.json')
    assert.equal(code, 0, stderr)
  }
  const refused = await verify('kept.json', '--trust', 'trust-other.json')
  assert.deepEqual([refused.code, refused.stdout], [1, ''])
  assert.match(refused.stderr, /is not valid: .* unknown log key/)
  const renamed = await verify('kept.json', '--trust', 'trust-renamed.json')
  assert.match(renamed.stderr, /is not valid: the transparency log does not contain/)
  assert.match((await verify('kept.json', '--trust', 'jwks.json')).stderr, /not a file of `countersign trust init`/)
  assert.match(
    (await verify('kept.json', '--trust', 'trust.json', '--jwks', 'jwks.json')).stderr,
    /cannot be used with/,
  )
})

test('CLI-15 if the server responds, its keys are used, and those in the file are ignored', async (t) => {
  const answers: Record<string, string> = { localhost: '{"keys":[]}', '127.0.0.1': jwks }
  const server = createServer(({ headers: { host = '' } }, response) => {
    response.end(answers[host.split(':')[0] ?? ''])
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const by = (name: string) => ['--base-url', `http://${name}:${address.port}`]
  const forged = await verify('kept.json', ...by('localhost'))
  assert.deepEqual([forged.code, forged.stdout], [1, ''])
  assert.match(forged.stderr, /is not valid: .* unknown log key/)
  assert.equal((await verify('kept.json', ...by('127.0.0.1'))).code, 0)
  assert.equal((await verify('kept-others.json', ...by('127.0.0.1'))).code, 0)
})

test('the receipt of an organization shows the signer and the approvers', async () => {
  const { code, stdout, stderr } = await verify('acme.jws', '--payload', payload, '--jwks', 'acme.json')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^Acme \([0-9a-f-]{36}\) signed this text:$/m)
  assert.match(stdout, /^ {2}signed {3}2030-01-01T12:00:00\.000Z, with 1 approvals needed$/m)
  assert.match(stdout, /^ {2}signed {3}by olga /m)
  assert.match(stdout, /^ {2}approved by bob /m)
  const other = await verify('acme.jws', '--payload', 'Überweise 10 €', '--jwks', 'acme.json')
  assert.match(other.stderr, /for another payload/)
})

test('SGN-32 without an approval that is said, and fails where one is required', async () => {
  const given = ['--payload', payload, '--jwks', 'jwks.json']
  assert.match((await verify('receipt.jws', ...given)).stdout, /^ {2}note {5}the text was signed without an approval/m)
  const required = [...given, '--require', 'approval']
  const refused = await verify('receipt.jws', ...required, '--issuer', 'http://localhost:4401/')
  assert.equal(refused.code, 1)
  assert.match(refused.stderr, /contains no approval/)
  assert.match((await verify('receipt.jws', ...required)).stderr, /--issuer/)
  const verifyApproved = (issuer: string) => verify('approved.jws', ...required, '--issuer', issuer)
  const accepted = await verifyApproved('http://localhost:4401/')
  assert.equal(accepted.code, 0, accepted.stderr)
  assert.doesNotMatch(accepted.stdout, /without an approval/)
  assert.match(accepted.stdout, /^ {2}approved for the app .+, role self, with a passkey, at http:\/\/localhost:4401$/m)
  assert.match((await verifyApproved('localhost:4401')).stderr, /localhost:4401 is not the URL of an issuer/)
  const elsewhere = await verifyApproved('https://id.example')
  assert.match(elsewhere.stderr, /its approval is not for this/)
})

for (const [what, words, complaint] of [
  ['another text', ['receipt.jws', '--payload', 'Überweise 10 €', '--jwks', 'jwks.json'], /for another payload/],
  [
    'a receipt that was altered',
    ['altered.jws', '--payload', payload, '--jwks', 'jwks.json'],
    /signature on the receipt is invalid/,
  ],
  ['keys of another service', ['receipt.jws', '--payload', payload, '--jwks', 'others.json'], /unknown log key/],
  ['a receipt stored with another text', ['kept-other.json', '--jwks', 'jwks.json'], /for another payload/],
  ['a receipt stored with other keys', ['kept-others.json'], /unknown log key/],
  ['JSON without a receipt', ['jwks.json'], /JSON without a receipt: .* receipt and payload/],
  ['a file that is not a receipt', ['text.txt', '--payload', payload, '--jwks', 'jwks.json'], /not a receipt/],
  ['a missing file', ['none.jws', '--payload', payload, '--jwks', 'jwks.json'], /cannot be read/],
  ['keys that are not valid JSON', ['receipt.jws', '--payload', payload, '--jwks', 'text.txt'], /not valid JSON/],
  ['no keys and no server', ['receipt.jws', '--payload', payload], /cannot reach/],
] as const)
  test(`${what}: verification exits with 1 and the reason`, async () => {
    const [receipt, ...rest] = words
    const { code, stdout, stderr } = await verify(receipt, ...rest)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, complaint)
  })

test('verification requires the text', async () => {
  const { code, stderr } = await verify('receipt.jws', '--jwks', 'jwks.json')
  assert.equal(code, 2)
  assert.match(stderr, /--payload/)
})
