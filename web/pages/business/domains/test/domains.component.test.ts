import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { h } from 'preact'
import {
  pageIdentity,
  pageMember,
  pageOrganization,
  renderForOrganization,
} from '../../../../testing/organization-pages.ts'

const { Domains } = await import('../Domains.tsx')

const organization = pageOrganization(pageMember('ada', 'owner'))
const path = `/api/organizations/${organization.id}/domains`

function domainOf(name: string, verifiedAt: string | null): OrganizationDomain {
  const status = verifiedAt === null ? 'pending' : 'verified'
  const challenge = { name: `_countersign.${name}.example`, value: 'value' }
  return {
    domainId: name,
    domain: `${name}.example`,
    status,
    verifiedAt,
    failingSince: null,
    checkedAt: null,
    challenge,
  }
}

test('a domain that was verified while another one was checked stays verified', async () => {
  const verifiedAt = '2030-01-01T00:00:00.000Z'
  const first = Promise.withResolvers<unknown>()
  const identities = [pageIdentity('ada')]
  const nothing = () => {}
  const events = { goTo: nothing, onChanged: nothing, onMemberChanged: nothing, onLeft: nothing }
  const given = { organization, identities, returned: undefined, ...events }
  const { click, after } = await renderForOrganization(
    () => h(Domains, given),
    ({ name }) => {
      if (name === `GET ${path}`) return { domains: [domainOf('one', null), domainOf('two', null)] }
      return name === `POST ${path}/one/verify` ? first.promise : { domain: domainOf('two', verifiedAt) }
    },
  )
  await click('[data-action="check-one.example"]')
  await click('[data-action="check-two.example"]')
  await after(() => first.resolve({ domain: domainOf('one', verifiedAt) }))
  const verified = [...document.querySelectorAll('li.domain')].filter((each) => each.querySelector('details'))
  assert.equal(verified.length, 2)
})
