import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { ConfirmDialog } from '../session/ConfirmDialog.tsx'
import { useBusinessMessages } from '../words.ts'

type Props = { claim: OrganizationDomain; onAgreed: () => Promise<void>; onClose: () => void }

/** Asks for confirmation, and says what ends with the domain. */
export function RemoveDomain({ claim: { domain, status }, onAgreed, onClose }: Props) {
  const { domains: words } = useBusinessMessages()
  return (
    <ConfirmDialog
      title={words.removeTitle(domain)}
      agree={{ name: 'remove-domain', label: words.removeNow, do: onAgreed }}
      onClose={onClose}
    >
      {status === 'pending' ? words.removePending : words.removeWhat}
    </ConfirmDialog>
  )
}
