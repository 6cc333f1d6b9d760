import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { after, before, test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { sendPart } from '../../e2e/fixtures/guide.ts'
import { createRemoteSigner, registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { serveHere } from '../../server/testing/service-here.ts'
import { freePorts, type Served } from '../../server/testing/service.ts'

const root = join(import.meta.dirname, '../..')
const run = promisify(execFile)

let service: Served
let directory: string
before(async () => {
  await run(process.execPath, [join(root, 'sdk/build.ts')])
  service = await serveHere()
  directory = await mkdtemp(join(tmpdir(), 'countersign-guide-'))
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'))
  const guide = await readFile(join(root, 'docs/guides/request-a-signature.md'), 'utf8')
  for (const [, path = '', code = ''] of guide.matchAll(/^```js (\S+)\n([\s\S]*?)^```$/gm))
    await writeFile(join(directory, path), code)
  const words = ['trust', 'init', '--base-url', service.baseUrl]
  await run(process.execPath, [join(root, 'cli/main.ts'), ...words], { cwd: directory })
})
after(async () => {
  await service.close()
  await rm(directory, { recursive: true })
})

type App = Awaited<ReturnType<typeof registerRemoteApp>>
type Prepare = (app: App) => Promise<Record<string, string>>

/** Runs a program of the guide with its files; returns its output line by line. */
async function ask(identityId: string, program = 'ask.mjs', prepare: Prepare = async () => ({})) {
  const app = await registerRemoteApp(service)
  const { baseUrl, authUrl, clientId, clientSecret } = app
  const environment = { BASE_URL: baseUrl, ISSUER: authUrl, CLIENT_ID: clientId, CLIENT_SECRET: clientSecret }
  const shop = spawn(process.execPath, [program], {
    cwd: directory,
    env: { ...environment, IDENTITY_ID: identityId, ...(await prepare(app)) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const complaint = text(shop.stderr)
  const lines = createInterface(shop.stdout)[Symbol.asyncIterator]()
  const nextLine = async () => String((await lines.next()).value)
  const address = /^Sign here: (\S+)$/.exec(await nextLine())?.[1] ?? ''
  const requestId = new URL(address).searchParams.get('requestId') ?? ''
  return { environment, requestId, nextLine, failed: () => complaint, end: () => shop.kill() }
}

test("the guide's programs request, wait, pay, and store a receipt that can be verified later", async () => {
  const ada = await createRemoteSigner(service)
  const shop = await ask(ada.identityId)
  await ada.sign(shop.requestId, 'Pay €240.00 to Paper Shop\nPayment: 2026-0114')
  assert.equal(await shop.nextLine(), 'Paid.')

  const receipt = await run(process.execPath, ['receipt.mjs'], { cwd: directory, env: shop.environment })
  assert.match(receipt.stdout, new RegExp(`^${ada.handle} signed this at [\\dT:.-]+Z\\.\\n$`))

  const verify = async () => (await run(process.execPath, ['verify.mjs'], { cwd: directory })).stdout
  assert.equal(await verify(), 'The signature is valid.\n')
  const evidence = await readFile(join(directory, 'evidence.json'), 'utf8')
  await writeFile(join(directory, 'evidence.json'), evidence.replace('€240.00', '€940.00'))
  assert.equal(await verify(), 'The signature is not valid.\n')
})

test('TRU-23 it does not pay for a text that was signed without an approval', async () => {
  const ada = await createRemoteSigner(service)
  const shop = await ask(ada.identityId)
  await ada.signAlone(shop.requestId, 'Pay €240.00 to Paper Shop\nPayment: 2026-0114')
  assert.match(await shop.failed(), /CountersignError: no_approval/)
})

test('it does not pay a denied request', async () => {
  const ada = await createRemoteSigner(service)
  const shop = await ask(ada.identityId)
  await ada.deny(shop.requestId)
  assert.equal(await shop.nextLine(), 'Not paid: denied.')
})

/** Starts the program that receives a webhook, until the end of the test. */
async function hear(t: TestContext, identityId: string) {
  const [port = 0] = await freePorts(1)
  const url = `http://localhost:${port}/hook`
  const shop = await ask(identityId, 'hear.mjs', async ({ baseUrl, clientId }) => {
    const set = await fetch(`${baseUrl}/api/admin/apps/${clientId}/webhook`, {
      method: 'PUT',
      headers: { ...service.admin, 'content-type': 'application/json' },
      body: JSON.stringify({ url }),
    })
    return { PORT: String(port), WEBHOOK_SECRET: JSON.parse(await set.text()).secret }
  })
  t.after(shop.end)
  return { ...shop, url }
}

test('it pays when the webhook reports the signature', async (t) => {
  const ada = await createRemoteSigner(service)
  const { url, ...shop } = await hear(t, ada.identityId)
  await sendPart(url)
  const forged = JSON.stringify({ type: 'signing.signed', data: { requestId: shop.requestId } })
  assert.equal((await fetch(url, { method: 'POST', body: forged })).status, 401)
  await ada.sign(shop.requestId, 'Pay €240.00 to Paper Shop\nPayment: 2026-0115')
  assert.equal(await shop.nextLine(), 'Paid.')
})

test('it does not pay when the webhook reports a signature without an approval, and goes on listening', async (t) => {
  const ada = await createRemoteSigner(service)
  const { url, ...shop } = await hear(t, ada.identityId)
  await ada.signAlone(shop.requestId, 'Pay €240.00 to Paper Shop\nPayment: 2026-0115')
  assert.match(await shop.nextLine(), /^Not verified: no_approval/)
  assert.equal((await fetch(url, { method: 'POST' })).status, 401)
})
