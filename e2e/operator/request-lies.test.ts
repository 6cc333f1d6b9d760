/**
 * An operator who lies about signing requests and their approvals, and about the members of organizations, against
 * unmodified pages, SDK and command line.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { RequestOf, ResponseOf } from '@countersign/protocol/api'
import type { Browser } from 'playwright-core'
import type { SigningRequest } from '../../sdk/src/server/server.ts'
import { foundRemoteOrganization } from '../../server/testing/remote-organization.ts'
import { en as words } from '../../web/locales/en/messages.ts'
import { foundOrganization } from '../apps/organization-choice.ts'
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

describe('a member is invented', () => {
  onScene()

  test('LIE-36 the page gives the key of an organization to no member whom it has not shown', async () => {
    const { authUrl, businessUrl } = scene.operator
    const send = async <Sent>(person: Signer, method: 'GET' | 'POST' | 'PATCH', url: string, data?: object) => {
      const answer = await person.context.request.fetch(url, {
        method,
        headers: { origin: authUrl },
        ...(data && { data }),
      })
      assert.ok(answer.ok(), await answer.text())
      return (await answer.json()) as Sent
    }
    const bob = await scene.enroll('bob', 'Bob Babbage')
    const recipients: string[] = []
    ada.page.on('request', (request) => {
      if (!request.url().includes('/wraps') || request.method() !== 'PUT') return
      const sent: RequestOf<'PUT /api/organizations/:organizationId/keys/:keyId/wraps'>['body'] = request.postDataJSON()
      recipients.push(...sent.wraps.map(({ memberId }) => memberId))
    })
    /** Shares the key of a new organization with its other member; returns their id. */
    const share = async (name: string) => {
      await ada.page.goto(`${authUrl}/account`)
      const id = await foundOrganization(ada, scene.operator, name)
      const place = `${businessUrl}/api/organizations/${id}`
      await send(ada, 'PATCH', place, { encryptionMode: 'e2ee' })
      const { token } = await send<{ token: string }>(ada, 'POST', `${place}/invitations`, {
        handle: 'bob',
        role: 'member',
      })
      await send(bob, 'POST', `${businessUrl}/api/invitations/${token}/accept`, { identityId: bob.identityId })
      await ada.page.goto(
        `${authUrl}/organization-keys?${new URLSearchParams({ organization: id, identity: ada.identityId })}`,
      )
      await ada.page.getByRole('heading', { name: 'Bob Babbage' }).waitFor()
      await ada.press('unlock')
      await ada.page.waitForURL(/\/account/)
      const { members } = await send<ResponseOf<'GET /api/organizations/:organizationId/members'>>(
        ada,
        'GET',
        `${place}/members`,
      )
      return members.find(({ handle }) => handle === 'bob')?.memberId
    }
    const honest = await share('Honest')
    await scene.operator.lie('memberAdded', {})
    const deceived = await share('Deceived')
    assert.deepEqual(recipients, [honest, deceived])
    await bob.leave()
  })

  test('LIE-37 an app refuses the approval of a member whose key has no history', async () => {
    const { id, owner, others } = await foundRemoteOrganization(scene.operator, { approvalsNeeded: 1, others: 1 })
    const open = async () => {
      const request = await scene.app.createOrganizationRequest({ organizationId: id, payload })
      await owner.sign(request.requestId, payload, 'sign')
      return request
    }
    const honest = await open()
    await others[0]?.approve(honest.requestId, payload)
    assert.equal((await scene.app.waitForOrganizationSignature(honest)).status, 'signed')

    const request = await open()
    await scene.operator.lie('memberInvented', { requestId: request.requestId, payload })
    await assert.rejects(scene.app.waitForOrganizationSignature(request), { code: 'key_not_proved' })
  })
})
