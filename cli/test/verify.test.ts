import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { askerOf, createSigner } from '../../server/testing/signer.ts'
import { askBusiness, join as joinOrganization, makeOrganization } from '../../server/testing/organization.ts'
import { createWorld, type World } from '../../server/testing/world.ts'
import { fieldsOf } from '../json.ts'
import { inherited } from '../testing/environment.ts'

const payload = 'Überweise 10 €\r\nan Bob 👩‍🚀'
let folder: string
let jwks: string
let ada: { handle: string; identityId: string }

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'countersign-receipt-'))
  const world = await createWorld()
  const signer = await createSigner(world)
  ada = signer
  const { requestId } = (await askerOf(world, await world.app()).request(signer.identityId, { payload })).json()
  await signer.sign(requestId, signer.pair.sign(payload))
  const [receipt, published] = [
    await world.api.inject({ url: `/api/signing/requests/${requestId}/receipt`, headers: signer.headers }),
    await world.api.inject({ url: '/api/transparency/jwks' }),
  ]
  const [, body = ''] = receipt.body.split('.')
  await writeFile(join(folder, 'receipt.jws'), receipt.body)
  await writeFile(join(folder, 'altered.jws'), receipt.body.replace(body, `${body.slice(0, -8)}AAAAAAAA`))
  await writeFile(join(folder, 'jwks.json'), published.body)
  await writeFile(join(folder, 'others.json'), '{"keys":[]}')
  await writeFile(join(folder, 'text.txt'), payload)
  const kept = { receipt: receipt.body, payload, logKeys: published.json() }
  jwks = published.body
  await writeFile(join(folder, 'kept.json'), JSON.stringify(kept))
  await writeFile(join(folder, 'kept-other.json'), JSON.stringify({ ...kept, payload: 'Überweise 1000 €' }))
  await writeFile(join(folder, 'kept-others.json'), JSON.stringify({ ...kept, logKeys: { keys: [] } }))
  await writeOfOrganization(world)
  await world.close()
})
after(() => rm(folder, { recursive: true }))

/** The receipt of an organization for which one signed and one approved. */
async function writeOfOrganization(world: World): Promise<void> {
  const [owner, bob] = [await createSigner(world, 'olga'), await createSigner(world, 'bob')]
  const { id } = await makeOrganization(world, owner)
  await joinOrganization(world, { id, owner, role: 'signer' }, bob)
  await askBusiness(world, owner, `PATCH /organizations/${id}`, { approvalsNeeded: 1 })
  const { requestId } = (await askerOf(world, await world.app()).requestOf(id, { payload })).json()
  await owner.sign(requestId, owner.pair.sign(payload))
  await bob.approve(requestId, bob.pair.sign(payload))
  const url = `/api/signing/requests/${requestId}/receipt`
  const receipt = (await world.api.inject({ url, headers: bob.headers })).body
  const keys = (await world.api.inject({ url: '/api/transparency/jwks' })).body
  await writeFile(join(folder, 'acme.jws'), receipt)
  await writeFile(join(folder, 'acme.json'), keys)
  await writeFile(join(folder, 'kept-acme.json'), JSON.stringify({ receipt, payload, logKeys: JSON.parse(keys) }))
}

/** Runs `countersign verify` where there is no server. */
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

test('a receipt is verified without a network, and told in words', async () => {
  const { code, stdout, stderr } = await verify('receipt.jws', '--payload', payload, '--jwks', 'jwks.json')
  assert.equal(code, 0, stderr)
  assert.ok(stdout.startsWith(`${ada.handle} (${ada.identityId}) signed this text.\n`), stdout)
  assert.match(stdout, /^ {2}signed {3}2030-01-01T12:00:00\.000Z$/m)
  assert.match(stdout, /^ {2}logged .* leaf 0 of the 1 of localhost:4400\/transparency$/m)
  const fromFile = await verify('receipt.jws', '--payload-file', 'text.txt', '--jwks', 'jwks.json', '--json')
  assert.equal(fieldsOf(JSON.parse(fromFile.stdout))['identityId'], ada.identityId)
})

test('what the SDK has kept is verified as it is, against keys that are named', async () => {
  const { code, stdout, stderr } = await verify('kept.json', '--jwks', 'jwks.json')
  assert.equal(code, 0, stderr)
  assert.ok(stdout.startsWith(`${ada.handle} (${ada.identityId}) signed this text.\n`), stdout)
  assert.equal((await verify('kept-others.json', '--jwks', 'jwks.json')).code, 0)
  assert.equal((await verify('kept-other.json', '--payload', payload, '--jwks', 'jwks.json')).code, 0)
})

for (const [what, file] of [
  ['a person', 'kept.json'],
  ['an organization', 'kept-acme.json'],
] as const)
  test(`CLI-15 keys that come with the receipt of ${what} prove nothing`, async () => {
    const { code, stdout, stderr } = await verify(file)
    assert.deepEqual([code, stdout], [3, ''])
    assert.match(stderr, /verified by keys that came with it; they prove nothing\..*--jwks/)
    const inJson = await verify(file, '--json')
    assert.deepEqual([inJson.code, inJson.stdout], [3, ''])
    assert.equal(fieldsOf(JSON.parse(inJson.stderr))['error'], 'unproved')
  })

test('CLI-15 where keys are given, those in the file do not count beside them', async () => {
  for (const file of ['kept.json', 'kept-acme.json']) {
    const { code, stdout, stderr } = await verify(file, '--jwks', 'others.json')
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, /proves nothing: .* not among the given/)
  }
})

test('CLI-15 where the server answers, its keys count, and those in the file do not', async (t) => {
  const answers: Record<string, string> = { localhost: '{"keys":[]}', '127.0.0.1': jwks }
  const server = createServer(({ headers: { host = '' } }, response) => {
    response.end(answers[host.split(':')[0] ?? ''])
  }).listen(0)
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no port')
  const by = (name: string) => ['--base-url', `http://${name}:${address.port}`]
  const forged = await verify('kept.json', ...by('localhost'))
  assert.deepEqual([forged.code, forged.stdout], [1, ''])
  assert.match(forged.stderr, /proves nothing: .* not among the given/)
  assert.equal((await verify('kept.json', ...by('127.0.0.1'))).code, 0)
  assert.equal((await verify('kept-others.json', ...by('127.0.0.1'))).code, 0)
})

test('the receipt of an organization tells who signed and who approved', async () => {
  const { code, stdout, stderr } = await verify('acme.jws', '--payload', payload, '--jwks', 'acme.json')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^Acme \([0-9a-f-]{36}\) signed this text\.$/m)
  assert.match(stdout, /^ {2}signed {3}2030-01-01T12:00:00\.000Z, with 1 approvals needed$/m)
  assert.match(stdout, /^ {2}signed {3}by olga /m)
  assert.match(stdout, /^ {2}approved by bob /m)
  const other = await verify('acme.jws', '--payload', 'Überweise 10 €', '--jwks', 'acme.json')
  assert.match(other.stderr, /for another text/)
})

for (const [what, words, complaint] of [
  ['another text', ['receipt.jws', '--payload', 'Überweise 10 €', '--jwks', 'jwks.json'], /for another text/],
  ['a receipt that was altered', ['altered.jws', '--payload', payload, '--jwks', 'jwks.json'], /altered since/],
  ['keys of another service', ['receipt.jws', '--payload', payload, '--jwks', 'others.json'], /not among the given/],
  ['a receipt that was kept with another text', ['kept-other.json', '--jwks', 'jwks.json'], /for another text/],
  ['a receipt that was kept with other keys', ['kept-others.json'], /not among the given/],
  ['JSON that is no receipt', ['jwks.json'], /JSON without a receipt: .* receipt and payload/],
  ['what is no receipt', ['text.txt', '--payload', payload, '--jwks', 'jwks.json'], /no receipt/],
  ['a file that is not there', ['none.jws', '--payload', payload, '--jwks', 'jwks.json'], /cannot be read/],
  ['keys that are no JSON', ['receipt.jws', '--payload', payload, '--jwks', 'text.txt'], /no JSON/],
  ['no keys where there is no server', ['receipt.jws', '--payload', payload], /does not answer/],
] as const)
  test(`with ${what} it ends with 1 and says so`, async () => {
    const [receipt, ...rest] = words
    const { code, stdout, stderr } = await verify(receipt, ...rest)
    assert.deepEqual([code, stdout], [1, ''])
    assert.match(stderr, complaint)
  })

test('without the text there is nothing to verify', async () => {
  const { code, stderr } = await verify('receipt.jws', '--jwks', 'jwks.json')
  assert.equal(code, 2)
  assert.match(stderr, /--payload/)
})
