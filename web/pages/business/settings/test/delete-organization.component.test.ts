import assert from 'node:assert/strict'
import { test } from 'node:test'
import { h } from 'preact'
import { event, type } from '../../../../testing/render.ts'
import { pageMember, pageOrganization, Refused, renderForOrganization } from '../../../../testing/organization-pages.ts'

const { DeleteOrganization } = await import('../DeleteOrganization.tsx')

test('the page does not take an organization for deleted that it can no longer use', async () => {
  const organization = pageOrganization(pageMember('ada', 'owner'))
  let deleted = 0
  const onDeleted = () => (deleted += 1)
  const { click, after, find } = await renderForOrganization(
    () => h(DeleteOrganization, { organization, onDeleted }),
    ({ name }) => {
      if (name === 'GET /api/auth/session') return { secondsSinceAuthTime: 5 }
      return new Refused(404, 'organization_not_found')
    },
  )
  await click('[data-action="end-organization"]')
  const name = find('input[name="confirmation"]')
  await after(() => type(name, organization.name))
  await after(() => find('dialog form').dispatchEvent(event('submit')))
  assert.match(find('dialog [role=alert] .problem').textContent, /suspended/)
  assert.equal(deleted, 0)
})
