import { councilOf, type SendToBusiness } from './council.ts'
import { ask, createRemoteSigner } from './remote-signer.ts'
import type { Served } from './service.ts'

export type RemoteSigner = Awaited<ReturnType<typeof createRemoteSigner>>

/**
 * Creates an organization at a running service that requires this number of approvals: its owner, and members who sign
 * and approve.
 */
export async function foundRemoteOrganization(
  service: Served,
  { approvalsNeeded, others: count }: { approvalsNeeded: number; others: number },
) {
  const owner = await createRemoteSigner(service)
  const others: RemoteSigner[] = []
  for (let number = 0; number < count; number += 1) others.push(await createRemoteSigner(service))
  const business = { baseUrl: service.businessUrl }
  const { identityId, headers } = owner
  type Made = { organization: { id: string } }
  const made = await ask<Made>(business, '/api/organizations', { headers, json: { name: 'Acme', identityId } })
  const { id } = made.organization
  const path = `/api/organizations/${id}`
  for (const other of others) {
    const json = { handle: other.handle, role: 'signer' }
    const invited = await ask<{ token: string }>(business, `${path}/invitations`, { headers, json })
    const accepted = { headers: other.headers, json: { identityId: other.identityId } }
    await ask(business, `/api/invitations/${invited.token}/accept`, accepted)
  }
  if (approvalsNeeded > 0)
    await councilOf(businessOfService(service), id).decide({ by: owner, others }, 'PATCH', { approvalsNeeded })
  return { id, owner, others }
}

/** Sends requests to the business host of a running service. */
export function businessOfService({ businessUrl }: Pick<Served, 'businessUrl'>): SendToBusiness {
  return async ({ headers }, what, payload) => {
    const [method = '', path = ''] = what.split(' ')
    const response = await fetch(`${businessUrl}/api${path}`, {
      method,
      headers: { ...headers, ...(payload && { 'content-type': 'application/json' }) },
      ...(payload && { body: JSON.stringify(payload) }),
    })
    const text = await response.text()
    return { statusCode: response.status, body: text === '' ? null : JSON.parse(text) }
  }
}
