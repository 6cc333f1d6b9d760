import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { createTrailVerifier, type TrailRecord } from '@countersign/protocol/signing/acts/trail-verification'
import { nodeSuite } from '@countersign/protocol/signing/receipt-verification'
import type { Browser } from 'playwright-core'
import { startCustomerKms } from '../../../server/testing/customer-kms.ts'
import { serveHere } from '../../../server/testing/service-here.ts'
import { freePorts, type Served } from '../../../server/testing/service.ts'
import { businessMessages as words } from '../../../web/locales/en/pages/business.ts'
import { invitationMessages } from '../../../web/locales/en/pages/organizations/invitation.ts'
import { organizationActivityMessages as activity } from '../../../web/locales/en/pages/organizations/activity.ts'
import { peopleMessages as people } from '../../../web/locales/en/pages/organizations/people.ts'
import { en as english } from '../../../web/locales/en/messages.ts'
import { organizationKeyMessages } from '../../../web/locales/en/pages/organization-keys.ts'
import { openOrganizationKey } from '../../fixtures/key-opening.ts'
import { signChange, signForValues } from '../../apps/signed-actions.ts'
import { invite, type Person } from '../../fixtures/person.ts'
import { spellingsIn } from '../../fixtures/signing-keys.ts'
import { launchBrowser } from '../../fixtures/environment.ts'

/** Each host has its own name, as in production: no cookie reaches another, and passkeys belong to one host. */
let service: Served
let browser: Browser
before(async () => {
  const [api, auth, business] = await freePorts(3)
  const environment = {
    BASE_URL: `http://api.countersign.localhost:${api}`,
    AUTH_URL: `http://auth.countersign.localhost:${auth}`,
    BUSINESS_URL: `http://business.countersign.localhost:${business}`,
    RATE_LIMITS: 'off',
  }
  ;[service, browser] = await Promise.all([serveHere(environment), launchBrowser()])
})
after(async () => {
  await browser.close()
  await service.close()
})

/** A user without an account who follows a link to the business host, and creates one. */
async function arrive(
  at: string,
  requested: Parameters<Person['createAccount']>[0],
): Promise<Person & { code: string }> {
  const person = await invite(browser)
  const { page } = person
  person.offerPasskeys(false)
  await page.goto(`${service.businessUrl}${at}`)
  await page.getByRole('link', { name: 'Create an account' }).click()
  const code = await person.createAccount(requested)
  await person.press('confirm-recovery-saved')
  await page.waitForURL(`${service.businessUrl}/**`)
  return { ...person, code }
}

async function settings({ page, control }: Person) {
  await page.getByRole('link', { name: words.sections.settings }).click()
  await control('save-organization').waitFor()
  assert.ok((await page.title()).startsWith(`${words.sections.settings} · `))
}

/** Opens the members of the organization of the current page. */
async function members({ page, control }: Person) {
  await page.goto(page.url().replace(/[^/]*$/, 'members'))
  await control('member-menu').first().waitFor()
}

/** Chooses an item of the menu of the last member that has it. */
async function choose({ page, control }: Person, action: string) {
  const item = control(action).last()
  const menu = await item.evaluate((element) => element.closest('[popover]')?.id)
  await page.locator(`[popovertarget="${menu}"]`).click()
  await item.click()
}

/** Creates an organization on the current page; returns its URL. */
async function begin(person: Person, name: string): Promise<string> {
  await person.write('name', name)
  await person.press('create-organization')
  await person.control('invite').waitFor()
  return person.page.url()
}

test('an owner creates an organization, renames it, and deletes it', async () => {
  const ada = await arrive('/', { handle: 'ada', displayName: 'Ada Lovelace' })
  const { page } = ada
  await page.getByText(words.none).waitFor()
  await ada.press('new-organization')
  await ada.write('name', 'Analytical Engines')
  await ada.press('create-organization')
  await settings(ada)
  await ada.write('name', 'Engines & Sons')
  await signChange(ada, 'save-organization')
  await page.goto(`${service.businessUrl}/`)
  await ada.control('switch-organization').first().getByText('Engines & Sons').waitFor()
  await page.goto(`${service.businessUrl}/organizations`)
  await page.getByRole('link', { name: 'Engines & Sons' }).click()
  await settings(ada)

  await signChange(ada, 'end-organization')
  await page.getByText(words.none).waitFor()
  await ada.leave()
})

test('a user who re-authenticates on the host of the passkeys returns to the dialog', async () => {
  const grace = await arrive('/organizations/new', { handle: 'grace', displayName: 'Grace Hopper' })
  const { page } = grace
  await begin(grace, 'Compilers')
  await settings(grace)
  const question = `${page.url()}#delete`
  await page.goto(`${service.authUrl}/login?return=${encodeURIComponent(question)}&prove`)
  await grace.press('prove')
  await page.getByRole('dialog').waitFor()
  assert.equal(page.url(), question)
  await grace.leave()
})

test('the form of a new organization is no wider than other forms', async () => {
  const ada = await arrive('/organizations/new', { handle: 'ada-wide', displayName: 'Ada Lovelace' })
  await ada.page.setViewportSize({ width: 1280, height: 800 })
  const box = await ada.page.locator('input[name="name"]').boundingBox()
  assert.ok(box && box.width <= 640, `${box?.width} px`)
  await ada.leave()
})

test('nothing of the session is stored on the business host', async () => {
  const alan = await arrive('/organizations/new', { handle: 'alan', displayName: 'Alan Turing' })
  const { page, context } = alan
  await begin(alan, 'Machines')
  assert.deepEqual(await context.cookies(service.businessUrl), [])
  const kept = await page.evaluate(() => JSON.stringify([localStorage, sessionStorage].map(Object.entries)))
  assert.doesNotMatch(kept, /eyJ|cs_/)
  await page.goto(`${service.authUrl}/account`)
  await alan.press('sign-out')
  await page.waitForURL(`${service.authUrl}/`)
  await page.goto(`${service.businessUrl}/`)
  await alan.control('sign-in').waitFor()
  assert.equal(new URL(page.url()).origin, service.authUrl)
  await alan.leave()
})

test('an owner invites a colleague, who joins, gets another role, and is removed', async () => {
  const mary = await arrive('/organizations/new', { handle: 'mary', displayName: 'Mary Somerville' })
  const place = await begin(mary, 'Orreries')
  await mary.press('invite')
  await mary.write('invitees', '@charles')
  await mary.press('send-invitation')
  await mary.page.getByText(words.refused.identity_not_found).waitFor()
  await mary.press('cancel')

  const charles = await arrive('/', { handle: 'charles', displayName: 'Charles Babbage' })
  await mary.press('invite')
  await mary.write('invitees', '@charles')
  await mary.page.getByRole('radio', { name: words.roles.viewer }).check()
  const [url = ''] = await signForValues(mary, 'send-invitation')

  const jack = await arrive('/', { handle: 'jack', displayName: 'Jack' })
  await jack.page.goto(url)
  await jack.page.getByText(invitationMessages.needsHandle('charles')).waitFor()
  assert.equal(await jack.control('accept-invitation').count(), 0)
  await jack.leave()

  await charles.page.goto(url)
  await charles.page.getByText(invitationMessages.invites('Mary Somerville', words.roles.viewer)).waitFor()
  await charles.press('accept-invitation')
  await charles.page.waitForURL(place)
  await members(charles)
  assert.equal(await charles.control('invite').count(), 0, 'a member with read access can invite no user')

  await members(mary)
  await choose(mary, 'change-of-member')
  await mary.page.getByRole('radio', { name: words.roles.admin }).check()
  await signChange(mary, 'save-member')
  await charles.page.reload()
  await charles.control('invite').waitFor()
  await charles.control('member-menu').first().waitFor()
  assert.equal(await charles.control('change-of-member').count(), 1, 'himself only, and no owner')

  await signChange(mary, 'remove-of-member')
  await mary.control('remove-of-member').waitFor({ state: 'detached' })
  await charles.page.reload()
  await charles.page.getByText(words.unknown).waitFor()
  await charles.leave()
  await mary.press('leave-of-member')
  await mary.page.getByText(english.problem.refused.last_owner).waitFor()

  await mary.page.getByRole('link', { name: words.sections.activity, exact: true }).click()
  const timeline = mary.page.locator('.timeline')
  await timeline.getByText('created the organization').waitFor()
  await timeline.getByText('from Viewer to Admin').waitFor()
  await mary.page.getByRole('combobox', { name: activity.kind }).selectOption('organization.member')
  await timeline.getByText('created the organization').waitFor({ state: 'detached' })
  await timeline.getByText('Charles Babbage (@charles)').first().waitFor()
  await mary.control('proof').first().locator('summary').click()
  await mary.page.getByText(activity.proof.verified, { exact: true }).waitFor()
  const [, ...lines] = (await saveTrail(mary, 'csv')).split('\r\n')
  assert.match(lines.join('\n'), /organization\.member\.removed/)
  assert.doesNotMatch(lines.join('\n'), /organization\.created/)
  const records = (await saveTrail(mary, 'trail')).split('\n').map((line): TrailRecord => JSON.parse(line))
  const verified = await verifyTrail(records, mary)
  assert.deepEqual(
    [verified[0]?.action, verified.at(-1)?.action],
    ['organization.created', 'organization.member.removed'],
  )
  const signed = verified.filter(({ signers }) => signers > 0).map(({ action }) => action)
  assert.deepEqual(signed, [
    ...['organization.invitation.created', 'organization.member.updated', 'organization.member.removed'],
  ])
  await mary.leave()
})

async function saveTrail({ page, press }: Person, format: 'csv' | 'trail'): Promise<string> {
  const saving = page.waitForEvent('download')
  await press(`save-${format}`)
  return (await readFile(await (await saving).path(), 'utf8')).trim()
}

/** Verifies a trail, as anyone with the public key can: the actions, and how many have signed each. */
async function verifyTrail(records: TrailRecord[], { page }: Person) {
  const url = `${service.baseUrl}/api/signing/public-key/mary`
  const { publicKey } = await page.evaluate(async (address) => (await fetch(address)).json(), url)
  const [, organizationId = ''] = /organizations\/([^/]+)/.exec(page.url()) ?? []
  const verifier = createTrailVerifier(nodeSuite, {
    organizationId,
    issuer: service.authUrl,
    publicKeyOf: () => publicKey,
  })
  const verified = records.map((record) => {
    const result = verifier.add(record)
    assert.ok(!('flaw' in result), JSON.stringify(result))
    return { action: result.entry.action, signers: result.acts.length }
  })
  assert.ok(!('flaw' in verifier.finish()))
  return verified
}

test('a user without a signing key acts unsigned, and sees an error where that is not accepted', async () => {
  const kate = await arrive('/', { handle: 'kate', displayName: 'Kate' })
  const { page } = kate
  await page.goto(`${service.authUrl}/account/identities`)
  await kate.press('new-identity')
  await kate.write('handle', 'kate-at-work')
  await kate.write('displayName', 'Kate at work')
  await kate.press('add-identity')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.goto(`${service.businessUrl}/organizations/new`)
  await page.getByRole('radio', { name: 'Kate at work' }).check()
  await begin(kate, 'Keyless & Sons')
  await inviteUntilFailure(kate)
  await settings(kate)
  await kate.write('name', 'Keyless')
  await kate.press('save-organization')
  await page.getByText(words.saved).waitFor()
  await kate.press('require-signed')
  await page.getByText(words.refused.no_signing_key).waitFor()

  await kate.press('end-organization')
  await kate.write('confirmation', 'Key')
  await kate.press('delete-organization')
  await page.getByText(words.deletion.mismatch).waitFor()
  await kate.write('confirmation', 'Keyless')
  await kate.press('delete-organization')
  await page.getByText(words.none).waitFor()
  await kate.leave()
})

/** Invites three users: the second request fails, and the link of the first is shown nevertheless. */
async function inviteUntilFailure({ page, press, write, control }: Person): Promise<void> {
  await page.route('**/invitations?*', (route) =>
    route.request().postData()?.includes('cora@') === true ? route.abort() : route.continue(),
  )
  await press('invite')
  await write('invitees', 'bob@example.com, cora@example.com, dan@example.com')
  await press('send-invitation')
  await page.getByRole('dialog').getByText(people.failed('cora@example.com, dan@example.com', '').trim()).waitFor()
  const text = await page.getByRole('dialog').innerText()
  assert.ok(
    ['cora@', 'dan@'].every((name) => text.includes(name)),
    text,
  )
  assert.equal(await page.locator('output[name="invitationUrl"]').count(), 1)
  await press('invitation-sent')
  await control('send-invitation').waitFor({ state: 'detached' })
}

/** Goes from the keys of an organization to the host of the passkeys, completes the task there, and returns. */
async function withPasskey({ page, press }: Person, action: 'make-key' | 'share-key', seen: string): Promise<void> {
  const place = page.url()
  await press(action)
  await page.waitForURL(`${service.authUrl}/organization-keys?**`)
  await page.getByRole('heading', { name: seen }).waitFor()
  await press('unlock')
  await page.waitForURL(place)
}

test('ORG-12 E2E-01 a key is created in a browser, shared with a new member, and replaced afterwards', async () => {
  const emmy = await arrive('/organizations/new', { handle: 'emmy', displayName: 'Emmy Noether' })
  const { page } = emmy
  const [, organizationId = ''] = /organizations\/([^/]+)/.exec(await begin(emmy, 'Invariants')) ?? []
  await emmy.press('invite')
  const hilbert = await arrive('/', { handle: 'hilbert', displayName: 'David Hilbert' })
  await emmy.write('invitees', '@hilbert')
  const [url = ''] = await signForValues(emmy, 'send-invitation')
  const open = ({ code, ...person }: typeof emmy) => openOrganizationKey(person, code, service, organizationId)

  await page.getByRole('link', { name: words.sections.keys, exact: true }).click()
  await emmy.press('change-keeper')
  await page.getByRole('radio', { name: words.keys.modes.e2ee }).check()
  await signChange(emmy, 'set-keeper')
  await emmy.control('change-keeper').waitFor()
  await withPasskey(emmy, 'make-key', organizationKeyMessages.titles.make('Invariants'))
  await page.getByText(words.keys.kept.identity_grants).waitFor()
  const made = await open(emmy)
  assert.equal(made.version, 1)

  await hilbert.page.goto(url)
  await hilbert.press('accept-invitation')
  await hilbert.page.waitForURL(/\/overview$/)
  await members(hilbert)
  await assert.rejects(open(hilbert), { code: 'decryption_failed' })
  await page.reload()
  await page.getByText(words.keys.without(1)).waitFor()
  await withPasskey(emmy, 'share-key', 'David Hilbert')
  await page.getByText(words.keys.kept.identity_grants).waitFor()
  assert.equal(await page.getByText(words.keys.without(1)).count(), 0)
  assert.deepEqual(await open(hilbert), made)
  const sent = (await emmy.sent()).map(({ url: to, body }) => `${to} ${body.toString('latin1')}`).join('\n')
  assert.ok(sent.includes(made.fingerprint), 'the search finds what was sent')
  assert.deepEqual(spellingsIn(sent, { name: 'the key', bytes: made.bytes }), [])

  await signChange(hilbert, 'leave-of-member')
  await hilbert.page.getByText(words.none).waitFor()
  await page.reload()
  await page.locator('.problem', { hasText: words.keys.due('today') }).waitFor()
  await withPasskey(emmy, 'make-key', organizationKeyMessages.titles.make('Invariants'))
  await page.getByText(words.keys.inForce(2, 'today')).waitFor()
  assert.equal((await open(emmy)).version, 2)
  await signChange(emmy, 'delete-key-1')
  await page.getByText(words.keys.former).waitFor({ state: 'detached' })
  await hilbert.leave()
  await emmy.leave()
})

test('an organization removes its KMS when it stores no key any more', async () => {
  const kms = await startCustomerKms()
  const otto = await arrive('/organizations/new', { handle: 'otto', displayName: 'Otto Wagner' })
  const { page } = otto
  await begin(otto, 'Post Office')
  await page.getByRole('link', { name: words.sections.keys, exact: true }).click()
  const keepBy = async (mode: keyof typeof words.keys.modes, url?: string) => {
    await otto.press('change-keeper')
    await page.getByRole('radio', { name: words.keys.modes[mode] }).check()
    if (url !== undefined) {
      await otto.write('kmsUrl', url)
      await signChange(otto, 'set-keeper')
      assert.equal(await page.locator('input[value="enterprise_managed"]').isChecked(), true)
    }
    await signChange(otto, 'set-keeper')
    await otto.control('change-keeper').waitFor()
  }
  await keepBy('enterprise_managed', kms.url)
  await page.getByText(kms.url, { exact: true }).waitFor()
  await signChange(otto, 'make-key')
  await page.getByText(words.keys.kept.customer_kms).waitFor()
  await keepBy('standard')
  await page.getByText(words.keys.kmsOpens(kms.url)).waitFor()
  assert.equal(await otto.control('remove-kms').count(), 0)

  await signChange(otto, 'make-key')
  await page.getByText(words.keys.kept.svc_standard).waitFor()
  await signChange(otto, 'delete-key-1')
  await page.getByText(words.keys.kmsStays(kms.url)).waitFor()
  await signChange(otto, 'remove-kms')
  await page.getByText(words.keys.kmsStays(kms.url)).waitFor({ state: 'detached' })
  await otto.press('change-keeper')
  await page.getByRole('radio', { name: words.keys.modes.enterprise_managed }).check()
  assert.equal(await page.locator('input[name="kmsUrl"]').inputValue(), '')
  await otto.leave()
  await kms.close()
})
