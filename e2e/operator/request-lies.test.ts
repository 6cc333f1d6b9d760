/**
 * An operator who lies about signing requests and their approvals, against unmodified pages, SDK and command line.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import type { SigningRequest } from '../../sdk/src/server/server.ts'
import { words } from '../pages/words.ts'
import { launchBrowser } from '../fixtures/environment.ts'
import { openScene, pressSign, sign, signaturesOf, type Scene, type Signer } from './scene.ts'

const payload = 'Pay 10 €'
const more = 'Pay 9999 €'

let browser: Browser
let scene: Scene
let ada: Signer
before(async () => {
  browser = await launchBrowser()
})
after(() => browser.close())

function onScene(): void {
  before(async () => {
    scene = await openScene(browser)
    ada = await scene.enroll('ada')
  })
  after(async () => {
    await ada.leave()
    await scene.close()
  })
}

const ask = () => scene.app.createSigningRequest({ identityId: ada.identityId, payload, expiresInSeconds: 3600 })

/** Saves the receipt of a signed request and verifies it by the command, as that of the text that the app has sent. */
async function verify({ requestId }: SigningRequest) {
  const { clientId, clientSecret, authUrl } = scene.settings
  const authorization = `Basic ${btoa(`${clientId}:${clientSecret}`)}`
  const url = `${scene.operator.baseUrl}/api/signing/request/${requestId}/receipt?clientId=${clientId}`
  const answer = await fetch(url, { headers: { authorization } })
  assert.ok(answer.ok, await answer.clone().text())
  await writeFile(join(scene.folder, 'receipt.jws'), await answer.text())
  const required = ['--payload', payload, '--require', 'approval', '--issuer', authUrl]
  return scene.run('verify', 'receipt.jws', ...required)
}

describe('the row of a request is changed', () => {
  onScene()

  test('LIE-30 the page signs no other text than the one that it shows', async () => {
    await sign(ada, scene, await scene.request(ada.identityId))
    const requestId = await scene.request(ada.identityId)
    const before = await signaturesOf(ada)
    await ada.page.goto(`${scene.operator.authUrl}/sign?requestId=${requestId}`)
    const button = ada.page.locator('[data-action="sign"][aria-disabled="false"]')
    await button.waitFor()
    await scene.operator.lie('requestRowChanged', { requestId, payload: more })
    await button.click()
    await ada.page.getByText(words.sign.stoppedWhy.statement).waitFor()
    assert.equal(await signaturesOf(ada), before)
  })

  test('LIE-31 LIE-32 an app and the command accept no approval of another text', async () => {
    const honest = await ask()
    await sign(ada, scene, honest.requestId)
    assert.equal((await scene.app.waitForSignature(honest)).status, 'signed')
    const verified = await verify(honest)
    assert.equal(verified.code, 0, verified.stderr)

    const request = await ask()
    await scene.operator.lie('requestRowChanged', { requestId: request.requestId, payload: more })
    await ada.page.goto(`${scene.operator.authUrl}/sign?requestId=${request.requestId}`)
    await ada.page.getByText(more).waitFor()
    await sign(ada, scene, request.requestId)
    await assert.rejects(scene.app.waitForSignature(request), { code: 'invalid_signature' })
    const { code, stderr } = await verify(request)
    assert.equal(code, 1)
    assert.match(stderr, /for another payload/)
  })
})

describe('an approval gets another date', () => {
  let request: SigningRequest
  onScene()
  before(async () => {
    request = await ask()
    await sign(ada, scene, request.requestId)
    assert.equal((await scene.app.waitForSignature(request)).status, 'signed')
    const verified = await verify(request)
    assert.equal(verified.code, 0, verified.stderr)
    await scene.operator.lie('approvalMisdated', { requestId: request.requestId })
  })

  test('LIE-33 the page confirms no time that is not its own', async () => {
    const before = await signaturesOf(ada)
    await pressSign(ada, scene, await scene.request(ada.identityId))
    await ada.page.getByText(words.sign.stoppedWhy.clock).waitFor()
    assert.equal(await signaturesOf(ada), before)
  })

  test('LIE-34 an app refuses the approval', () =>
    assert.rejects(scene.app.waitForSignature(request), { code: 'invalid_approval', description: /out_of_time/ }))

  test('LIE-35 the command refuses the receipt', async () => {
    const { code, stderr } = await verify(request)
    assert.equal(code, 1)
    assert.match(stderr, /its approval is not for this/)
  })
})
