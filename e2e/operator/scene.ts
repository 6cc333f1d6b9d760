import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ResponseOf } from '@countersign/protocol/api'
import type { Browser } from 'playwright-core'
import { inherited } from '../../cli/testing/environment.ts'
import { createCountersign, createMemoryTrustStore } from '../../sdk/src/server/server.ts'
import { ask, registerRemoteApp } from '../../server/testing/remote-signer.ts'
import { words } from '../pages/words.ts'
import { invite, type Person } from '../fixtures/person.ts'
import { openOperator } from './operator.ts'

export type Scene = Awaited<ReturnType<typeof openScene>>
export type Signer = Awaited<ReturnType<Scene['enroll']>>

const payload = 'Pay 10 €'

/** An operator, and who could notice its lies: users in their browsers, an app with `trust`, the command line. */
export async function openScene(browser: Browser) {
  const operator = await openOperator()
  const folder = await mkdtemp(join(tmpdir(), 'countersign-operator-'))
  const settings = await registerRemoteApp(operator)
  const keys = await ask<ResponseOf<'GET /api/transparency/jwks'>>(operator, '/api/transparency/jwks', {
    method: 'GET',
  })
  const log = { version: 1 as const, origin: keys.origin, verifierKey: keys.verifierKey }
  const app = createCountersign({ ...settings, trust: { log, store: createMemoryTrustStore() } })

  return {
    operator,
    app,
    settings,
    folder,
    /** Creates a user, whose browser then shows their account. */
    async enroll(handle: string, displayName = 'Ada Lovelace') {
      const person = await invite(browser)
      await person.page.goto(`${operator.authUrl}/register`)
      const code = await person.createAccount({ handle, displayName })
      await person.press('confirm-recovery-saved')
      await person.page.waitForURL(/\/account/)
      const { keys: own } = await person.call(operator.baseUrl, 'GET /api/signing/keys')
      const [key] = own
      assert.ok(key)
      return { ...person, code, handle, identityId: key.identityId, publicKey: key.publicKey }
    },
    /** Creates a signing request as an app that verifies nothing; returns its id. */
    async request(identityId: string, text = payload): Promise<string> {
      const { clientId, clientSecret } = settings
      const json = { clientId, clientSecret, identityId, payload: text }
      return (await ask<{ requestId: string }>(operator, '/api/signing/request', { json })).requestId
    },
    /** Runs `countersign` against the service. */
    run(...parameters: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
      const program = join(import.meta.dirname, '../../cli/main.ts')
      const env = { ...inherited, BASE_URL: operator.baseUrl }
      return new Promise((resolve) => {
        execFile(process.execPath, [program, ...parameters], { env, cwd: folder }, (error, stdout, stderr) => {
          resolve({ code: typeof error?.code === 'number' ? error.code : error ? -1 : 0, stdout, stderr })
        })
      })
    },
    async close() {
      await operator.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Opens a request and presses the button that unlocks the keys and signs. */
export async function pressSign({ page }: Person, { operator }: Scene, requestId: string): Promise<void> {
  await page.goto(`${operator.authUrl}/sign?requestId=${requestId}`)
  await page.locator('[data-action="sign"][aria-disabled="false"]').click()
}

/** Signs a request on the page. */
export async function sign(person: Person, scene: Scene, requestId: string): Promise<void> {
  await pressSign(person, scene, requestId)
  await person.page.getByRole('heading', { name: words.sign.ends.signed }).waitFor()
}

/** Does what works while the service is honest: the app asks, the user signs, the app accepts, the log is watched. */
export async function succeed(scene: Scene, person: Signer): Promise<void> {
  const approve = async () => {
    const request = await scene.app.createSigningRequest({ identityId: person.identityId, payload })
    await sign(person, scene, request.requestId)
    assert.equal((await scene.app.waitForSignature(request)).status, 'signed')
  }
  const [watched] = await Promise.all([scene.run('log', 'watch', '--state', 'seen'), approve()])
  assert.equal(watched.code, 0, watched.stderr)
}

/** Expects the alarm when the user signs, and that no signature leaves the browser. */
export async function expectAlarm(person: Signer, scene: Scene, code: string): Promise<void> {
  const requestId = await scene.request(person.identityId)
  const before = await signaturesOf(person)
  await pressSign(person, scene, requestId)
  await person.page.locator(`[data-alarm="${code}"]`).waitFor()
  assert.equal(await signaturesOf(person), before)
}

/** The number of signatures that have left the browser. */
export async function signaturesOf(person: Person): Promise<number> {
  const sent = await person.sent()
  return sent.filter(({ url, body }) => /\/requests\/[^/]+\/(sign|approve)$/.test(url) && body.length > 0).length
}

/** Expects that the app refuses to ask the user, with this code. */
export async function expectRefusal({ app }: Scene, { identityId }: Signer, code: string): Promise<void> {
  await assert.rejects(app.createSigningRequest({ identityId, payload }), { name: 'CountersignError', code })
}

/** Replaces the signing key on the page. */
export async function rotate({ operator }: Scene, { page, press, handle }: Signer): Promise<void> {
  await page.goto(`${operator.authUrl}/account/signing`)
  await press('replace-key')
  await press('unlock')
  await page.getByText(words.signing.inForce(handle)).waitFor()
}
