/**
 * An operator who lies about the members and the trail of organizations, against unmodified pages, SDK and CLI.
 */
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { RequestOf, ResponseOf } from '@countersign/protocol/api'
import type { OrganizationId } from '@countersign/protocol/ids'
import type { Browser } from 'playwright-core'
import { foundRemoteOrganization } from '../../server/testing/remote-organization.ts'
import { foundOrganization } from '../apps/organization-choice.ts'
import { signChange } from '../apps/signed-actions.ts'
import { launchBrowser } from '../fixtures/environment.ts'
import { openScene, type Scene, type Signer } from './scene.ts'

const payload = 'Pay 10 €'

let browser: Browser
let scene: Scene
let ada: Signer
let id: OrganizationId
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

/**
 * An organization that Ada has renamed twice in this browser, which follows its trail. The CLI has verified it, with the
 * signatures in it. Then the operator lies about it.
 */
function onOrganization(lie: (organizationId: OrganizationId, trail: string[]) => Promise<void>): void {
  onScene()
  before(async () => {
    id = (await foundOrganization(ada, scene.operator, 'First')) as OrganizationId
    for (const name of ['Second', 'Third']) {
      await writeName(name)
      await signChange(ada, 'save-organization')
    }
    assert.equal((await scene.run('trust', 'init')).code, 0)
    const { code, stdout, stderr } = await verifyTrail()
    assert.deepEqual([code, JSON.parse(stdout).signed], [0, 2], stderr)
    await lie(id, await saveTrail())
  })
}

async function writeName(name: string): Promise<void> {
  await ada.page.goto(`${scene.operator.businessUrl}/organizations/${id}/settings`)
  await ada.write('name', name)
}

/** Expects the alarm when the owner is about to sign the next change, and that nothing is done. */
async function expectTrailAlarm(code: string): Promise<void> {
  const done: string[] = []
  ada.page.on('request', (request) => {
    if (request.method() === 'POST' && /\/acts\/[^/]+$/.test(new URL(request.url()).pathname)) done.push(request.url())
  })
  await writeName('Fourth')
  await ada.press('save-organization')
  await ada.page.locator(`[data-alarm="${code}"]`).waitFor()
  assert.deepEqual(done, [])
}

/** Saves the trail of the organization, as its owner can. */
async function saveTrail(): Promise<string[]> {
  const { authUrl, businessUrl } = scene.operator
  const url = `${businessUrl}/api/organizations/${id}/trail`
  const answer = await ada.context.request.get(url, { headers: { origin: authUrl } })
  const text = await answer.text()
  assert.ok(answer.ok(), text)
  await writeFile(join(scene.folder, 'trail.jsonl'), text)
  return text.trimEnd().split('\n')
}

/** Verifies the trail by the command, with the log that it has trusted since the service was honest. */
async function verifyTrail() {
  await saveTrail()
  const trusted = ['--trust', 'trust.json', '--issuer', scene.operator.authUrl]
  return scene.run('--json', 'verify-trail', 'trail.jsonl', ...trusted)
}

async function expectInvalidTrail(complaint: RegExp): Promise<void> {
  const { code, stdout, stderr } = await verifyTrail()
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, complaint)
}

describe('the trail of an organization is rewritten', () => {
  onOrganization((organizationId) => scene.operator.lie('trailRewritten', { organizationId }))

  test('LIE-05 the page of an owner who has followed it stops', () => expectTrailAlarm('broken_trail'))

  test('LIE-06 verify-trail fails', () => expectInvalidTrail(/its signer saw another trail/))
})

describe('a signed act is sent again', () => {
  onOrganization(async (organizationId, trail) => {
    const sequence = trail.findIndex((line) => line.includes('"acts":[{')) + 1
    await scene.operator.lie('actRepeated', { organizationId, sequence, name: 'Second' })
  })

  test('LIE-07 the page of an owner who has followed the trail stops', () => expectTrailAlarm('act_out_of_order'))

  test('LIE-08 verify-trail fails', () => expectInvalidTrail(/its act was done before/))
})

describe('an act is dated back', () => {
  onOrganization((organizationId, trail) =>
    scene.operator.lie('actDatedBack', { organizationId, sequence: trail.length }),
  )

  test('LIE-09 the page of an owner who has followed the trail stops', () => expectTrailAlarm('out_of_time'))

  test('LIE-38 verify-trail fails', () => expectInvalidTrail(/it was signed too early or too late/))
})
