import type { Given } from '@countersign/protocol/api'
import type { OrganizationDomain } from '@countersign/protocol/organization-domains'
import { Refused } from '../call.ts'
import { Actions } from '../ui/Actions.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { useWords } from '../ui/Root.tsx'
import { callBusiness } from './session.ts'
import { useBusinessWords } from './words.ts'

const removal = 'DELETE /api/organizations/:organizationId/domains/:domainId'

type Props = {
  claim: OrganizationDomain
  given: Omit<Given<typeof removal>, 'body'>
  onRemoved: () => void
  onClose: () => void
}

/** Says what ends with a domain, and removes it. */
export function RemoveDomain({ claim: { domain, status }, given, onRemoved, onClose }: Props) {
  const { domains: words } = useBusinessWords()
  const { frame } = useWords()
  const doing = useDoing()
  const remove: Action = {
    name: 'remove-domain',
    label: words.removeNow,
    do: async () => {
      await callBusiness(removal, { ...given, body: null }).catch(acceptGone)
      onRemoved()
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.removeTitle(domain)} onClose={onClose}>
      <p>{status === 'pending' ? words.removePending : words.removeWhat}</p>
      <Actions of={[remove, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Removed already, from another tab: what the person wants is so. */
function acceptGone(error: unknown): void {
  if (!(error instanceof Refused && error.code === 'domain_not_found')) throw error
}
