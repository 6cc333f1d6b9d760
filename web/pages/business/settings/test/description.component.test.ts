import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isObject } from '@countersign/protocol/formats/json'
import { type IdentityId, type OrganizationId, asId } from '@countersign/protocol/ids'
import type { OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { h } from 'preact'
import { useState } from 'preact/hooks'
import { renderForOrganization } from '../../../../testing/organization-pages.ts'
import { event, type as typeInto } from '../../../../testing/render.ts'

const { OrganizationDetails, diffDraft, draftOf, validateDraft } = await import('../Description.tsx')

const organization: OwnOrganization = {
  id: asId<OrganizationId>('01900000-0000-7000-8000-000000000001'),
  name: 'Analytical Engines',
  slug: 'analytical-engines',
  logoUrl: null,
  role: 'owner',
  scopes: [],
  signingAuthority: true,
  ssoRequired: false,
  requireSignedActions: false,
  approvalsNeeded: 0,
  encryptionMode: 'standard',
  keyCustody: 'svc_standard',
  memberId: '01900000-0000-7000-8000-000000000002',
  identityId: asId<IdentityId>('01900000-0000-7000-8000-000000000003'),
  createdAt: '2030-01-01T00:00:00.000Z',
  updatedAt: '2030-01-01T00:00:00.000Z',
}

test('what was left as it was is not sent', () => {
  const draft = draftOf(organization)
  assert.deepEqual(diffDraft(organization, draft), {})
  assert.deepEqual(diffDraft(organization, { ...draft, name: 'Engines' }), { name: 'Engines' })
})

test('what can’t be right is said before it is sent', () => {
  const draft = draftOf(organization)
  assert.deepEqual([...validateDraft(draft)], [])
  assert.deepEqual([...validateDraft({ name: ' ', slug: 'Engines!' })], ['name', 'slug'])
})

test('a change of a colleague is not undone by a later change of something else', async () => {
  let present = { ...organization, name: 'Acme Holding' }
  const { after, find, requests } = await renderForOrganization(
    () => h(Editor, {}),
    ({ body }) => {
      present = { ...present, ...(isObject(body) ? body : {}) }
      return { organization: present }
    },
  )
  for (const slug of ['engines-two', 'engines-three']) {
    await after(() => typeInto(find('input[name="slug"]'), slug))
    await after(() => find('form').dispatchEvent(event('submit')))
  }
  assert.deepEqual(
    requests.map(({ body }) => body),
    [{ slug: 'engines-two' }, { slug: 'engines-three' }],
  )
  assert.equal(Reflect.get(find('input[name="name"]'), 'value'), 'Acme Holding')
})

test('what is typed while the details are saved stays, and is not reported as saved', async () => {
  const saved = Promise.withResolvers<unknown>()
  const { after, find, text } = await renderForOrganization(
    () => h(Editor, {}),
    () => saved.promise,
  )
  await after(() => typeInto(find('input[name="slug"]'), 'engines-two'))
  await after(() => find('form').dispatchEvent(event('submit')))
  await after(() => typeInto(find('input[name="slug"]'), 'engines-three'))
  const colleagues = { ...organization, name: 'Acme Holding', slug: 'engines-two' }
  await after(() => saved.resolve({ organization: colleagues }))
  assert.equal(Reflect.get(find('input[name="slug"]'), 'value'), 'engines-three')
  assert.equal(Reflect.get(find('input[name="name"]'), 'value'), 'Acme Holding')
  assert.doesNotMatch(text(), /Saved/)
  await after(() => typeInto(find('input[name="slug"]'), 'engines-two'))
  await after(() => find('form').dispatchEvent(event('submit')))
  assert.match(text(), /Saved/)
})

/** The form, as the page of an organization shows it: with the organization of the last answer. */
function Editor() {
  const [shown, onChanged] = useState<OwnOrganization>(organization)
  return h(OrganizationDetails, { organization: shown, onChanged })
}
