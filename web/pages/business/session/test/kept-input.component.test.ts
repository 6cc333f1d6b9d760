import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SsoConnection } from '@countersign/protocol/organizations/sso'
import { type ComponentType, h } from 'preact'
import { pageMember, pageOrganization, Refused, renderForOrganization } from '../../../../testing/organization-pages.ts'
import { event, type as typeInto } from '../../../../testing/render.ts'

const { keepInput, takeKeptInput } = await import('../kept-input.ts')
const { connectionRef } = await import('../membership.ts')
const { EditMember } = await import('../../members/ChangeMember.tsx')
const { OrganizationDetails } = await import('../../settings/Description.tsx')
const { EditSsoConnection } = await import('../../sso/ChangeSsoConnection.tsx')

const ada = pageMember('ada', 'owner')
const bob = pageMember('bob', 'admin')
const organization = pageOrganization(ada)
const nothing = () => {}

/** Edits a form, leaves for a signature, declines it, and comes back to the form. It is sent then, and not saved. */
async function reopen(Before: ComponentType, edit: (page: FormPage) => unknown, Present: ComponentType) {
  const refuse = () => new Refused(403, 'insufficient_scope')
  const before = await renderForOrganization(Before, refuse)
  await before.after(() => edit(before))
  keepInput('sign')
  await renderForOrganization(() => h('main', {}), refuse)
  takeKeptInput('declined')
  const page = await renderForOrganization(Present, refuse)
  const send = async () => {
    await page.after(() => page.find('form').dispatchEvent(event('submit')))
    return page.requests.map(({ body }) => body)
  }
  return { ...page, send }
}

type FormPage = { find: (selector: string) => HTMLElement }

const valueOf = (field: HTMLElement) => Reflect.get(field, 'value')

test('the details of an organization that reopen show what a colleague has changed meanwhile', async () => {
  const details = (other: object) => () =>
    h(OrganizationDetails, { organization: { ...organization, ...other }, onChanged: nothing })
  const edit = ({ find }: FormPage) => typeInto(find('input[name="name"]'), 'Engines')
  const { find, send } = await reopen(details({}), edit, details({ name: 'Acme Ltd', slug: 'acme-holding' }))
  assert.equal(valueOf(find('input[name="name"]')), 'Engines')
  assert.equal(valueOf(find('input[name="slug"]')), 'acme-holding')
  assert.deepEqual(await send(), [{ name: 'Engines' }])
})

test('the dialog of a member that reopens undoes no permission that a colleague has changed meanwhile', async () => {
  const dialog = (member: typeof bob) => () =>
    h(EditMember, { organization, member, onChanged: nothing, onClose: nothing })
  const edit = ({ find }: FormPage) => find('input[name="scopes"][value="manage_sso"]').click()
  const scopes = bob.scopes.filter((scope) => scope !== 'manage_keys')
  const { send } = await reopen(dialog(bob), edit, dialog({ ...bob, scopes, signingAuthority: false }))
  assert.deepEqual(await send(), [{ scopes: scopes.filter((scope) => scope !== 'manage_sso') }])
})

test('the dialog of a member that reopens keeps the role that was chosen with all its permissions', async () => {
  const dialog = (member: typeof bob) => () =>
    h(EditMember, { organization, member, onChanged: nothing, onClose: nothing })
  const edit = ({ find }: FormPage) => find('input[name="role"][value="viewer"]').click()
  const { send } = await reopen(dialog(bob), edit, dialog({ ...bob, signingAuthority: false }))
  assert.deepEqual(await send(), [{ role: 'viewer', scopes: ['read'], signingAuthority: false }])
})

test('the dialog of an SSO connection that reopens changes no domain that the user has not changed', async () => {
  const connection: SsoConnection = {
    ...{ connectionId: '01900000-0000-7000-8000-000000000004', name: 'Provider', domains: ['a.example'] },
    ...{ enabled: true, inUse: true, groupRules: [], testedAt: null, confirmedAt: null },
    ...{ createdAt: ada.joinedAt, updatedAt: ada.joinedAt },
  }
  const given = connectionRef(organization, connection)
  const dialog = (of: SsoConnection) => () =>
    h(EditSsoConnection, { of, domains: [], given, onChanged: nothing, onClose: nothing })
  const edit = ({ find }: FormPage) => typeInto(find('input[name="connectionName"]'), 'Directory')
  const { send } = await reopen(dialog(connection), edit, dialog({ ...connection, domains: ['b.example'] }))
  assert.deepEqual(await send(), [{ name: 'Directory' }])
})
