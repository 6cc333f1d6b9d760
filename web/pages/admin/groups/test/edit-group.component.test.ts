import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Group } from '@countersign/protocol/accounts/groups'
import { h } from 'preact'
import { event, type } from '../../../../testing/render.ts'
import type { PageRequest } from '../../../../testing/organization-pages.ts'
import { pageMoment, renderForOperator } from '../../../../testing/operator-pages.ts'

const { EditGroup } = await import('../EditGroup.tsx')

const group: Group = {
  ...{ groupId: 'group-eng', key: 'eng', displayName: 'Engineering', description: null, protected: false },
  ...{ managedBy: null, organizationId: null, memberCount: 0, createdAt: pageMoment, updatedAt: pageMoment },
}

async function openDialog(shown: Group = group) {
  const page = await renderForOperator(
    () => h(EditGroup, { group: shown, onChanged: () => {} }),
    ({ body }: PageRequest) => ({ ...shown, ...(typeof body === 'object' && body) }),
  )
  await page.click('[data-action="ask-edit-group"]')
  const save = () => page.after(() => page.find('dialog form').dispatchEvent(event('submit')))
  return { ...page, save, changes: () => page.requests.map(({ body }) => body) }
}

test('only the fields of a group that the operator has changed are sent', async () => {
  const { after, save, changes, find } = await openDialog()
  await after(() => type(find('input[name="description"]'), 'Builds it'))
  await save()
  assert.deepEqual(changes(), [{ description: 'Builds it' }])
})

test('the protection of a group that others manage is sent only if it changes', async () => {
  const managed = await openDialog({ ...group, managedBy: 'scim:1' })
  await managed.save()
  assert.deepEqual(managed.changes(), [])
  await managed.click('input[name="protected"]')
  await managed.save()
  assert.deepEqual(managed.changes(), [{ protected: true }])
})

test('a group that the operator has not changed cannot be saved', async () => {
  const { after, save, changes, find } = await openDialog()
  assert.equal(find('[data-action="save-group"]').getAttribute('aria-disabled'), 'true')
  await after(() => type(find('input[name="name"]'), 'Engineering '))
  await save()
  assert.deepEqual(changes(), [])
})
